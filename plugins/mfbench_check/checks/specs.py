"""Contract of a spec: its texts can be used, and its parameters and grid suit the estimator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mfbench.errors import UnknownNameError, describe_error
from mfbench.host.factories import parameter_names
from mfbench.host.spec_checks import shown
from mfbench.suite.complexity import parse_complexity
from mfbench_check.catalog import CHECKS, check
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError, NotApplicableError

ESTIMATORS = ("selector", "classifier")
FITS = 8  # of each parameter of a grid
_SCIKIT_LEARN = re.compile(r"scikit-learn:check_\w+")


@check("spec", group="contract", kinds=("selector", "classifier", "dataset"))
def has_usable_texts(subject: Opened) -> None:
    """The summary is one line, `complexity` is a formula, and `expected_failures` names checks, each with a reason.

    A declared failure whose name is misspelt excuses nothing; one without a reason tells a reader nothing.
    """
    spec = subject.spec
    if not spec.summary.strip() or len(spec.summary.splitlines()) > 1:
        raise CheckFailedError("a summary of one line", f"the summary is {shown(spec.summary)}")
    if getattr(spec, "complexity", ""):
        try:
            parse_complexity(spec.complexity)
        except ValueError as error:
            raise CheckFailedError("a complexity such as 'n**2 * p'", str(error)) from error
    for name, reason in spec.expected_failures.items():
        one = CHECKS.get(name)
        if not _SCIKIT_LEARN.fullmatch(name) and (one is None or subject.kind not in one.kinds):
            checks = sorted(name for name, one in CHECKS.items() if subject.kind in one.kinds)
            unknown = UnknownNameError(f"check of a {subject.kind}", name, checks)
            raise CheckFailedError("names of checks in expected_failures", str(unknown))
        if not reason.strip():
            raise CheckFailedError("a reason for each of expected_failures", f"{name!r} has none")


@check("parameters", group="contract", kinds=ESTIMATORS, needs=("factory",))
def keeps_its_parameters(subject: Opened) -> None:
    """The constructor only stores its parameters: `get_params`, `set_params` and `clone` return what was set.

    A suite sets a parameter and reports it. A constructor that changes a value makes the report wrong.
    """
    _require_stored(subject, {})
    for parameter, value in _points(subject):
        _require_stored(subject, {parameter: value})


def _require_stored(subject: Opened, point: dict[str, Any]) -> None:
    """Raise CheckFailedError unless an estimator with some parameters returns them."""
    from sklearn.base import clone

    try:
        estimator = subject.make(**point)
        before = estimator.get_params(deep=False)
        copied = clone(estimator).get_params(deep=False)
        assigned = estimator.set_params(**before)
    except Exception as error:
        snippet = subject.snippet("from sklearn.base import clone", "clone(method).set_params()", **point)
        raise CheckFailedError("clone, get_params and set_params work", describe_error(error), snippet) from error
    for name, value in subject.settings(**point).items():
        _require_same(subject, point, name, (value, before.get(name)), "get_params() returns {}")
    if assigned is not estimator:
        raise CheckFailedError(
            "set_params returns the estimator itself",
            f"it returned a {type(assigned).__name__}",
            subject.snippet("assert method.set_params(**method.get_params(deep=False)) is method", **point),
        )
    after = estimator.get_params(deep=False)
    for name, value in before.items():
        _require_same(subject, point, name, (value, copied.get(name)), "its clone has {}")
        _require_same(subject, point, name, (value, after.get(name)), "after set_params it is {}")


def _require_same(subject: Opened, point: dict[str, Any], name: str, values: tuple[Any, Any], seen: str) -> None:
    value, other = values
    if value is other or (type(value) is type(other) and repr(value) == repr(other)):
        return
    raise CheckFailedError(
        f"{name} stays {shown(value)}",
        seen.format(shown(other)),
        subject.snippet(
            "from sklearn.base import clone",
            f"value = clone(method).get_params().get({name!r})",
            f"assert repr(value) == {repr(value)!r}, value",
            **point,
        ),
    )


@check("grid", group="contract", kinds=ESTIMATORS, needs=("fit",))
def can_be_tuned(subject: Opened) -> str:
    """Every parameter of the grid exists, and the estimator can be fitted with each of its values.

    Each value is combined with the first values of the other parameters; of a parameter with more than eight values,
    the first four and the last four are fitted. A suite with ``tune = "default"`` tries all combinations.
    """
    grid = subject.spec.grid
    if not grid:
        raise NotApplicableError("its spec has no grid")
    accepted = parameter_names(subject.registered)
    for parameter in grid:
        if parameter not in accepted:
            unknown = UnknownNameError("parameter", parameter, accepted)
            snippet = subject.snippet("method.fit(X, y)", **{parameter: grid[parameter][0]})
            raise CheckFailedError("parameters of the estimator in the grid", str(unknown), snippet)
    X, y = subject.sample()
    n_fits = 0
    firsts = {parameter: values[0] for parameter, values in grid.items()}
    for parameter, value in _points(subject):
        n_fits += 1
        try:
            subject.fit(X, y, **{**firsts, parameter: value})
        except CheckFailedError as error:
            snippet = subject.snippet("method.fit(X, y)", **{**firsts, parameter: value})
            raise CheckFailedError(f"a fit with {parameter}={shown(value)}", error.seen, snippet) from error
    return f"{n_fits} fits"


def _points(subject: Opened) -> Iterator[tuple[str, Any]]:
    """Yield each parameter of the grid that exists, with each of the values that are tried."""
    accepted = parameter_names(subject.registered)
    for parameter, values in subject.spec.grid.items():
        if parameter in accepted:
            for value in _ends(list(values)):
                yield parameter, value


def _ends(values: Sequence[Any]) -> Sequence[Any]:
    half = FITS // 2
    return values if len(values) <= FITS else [*values[:half], *values[-half:]]
