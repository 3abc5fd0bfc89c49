"""Contract of a plugin: the host can use everything that it registers."""

from __future__ import annotations

import math
import re
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mfbench.errors import MfbenchError, UnknownNameError, describe_error
from mfbench.host.factories import missing_packages, parameter_names
from mfbench.host.probes import shown
from mfbench.suite.costs import parse_complexity
from mfbench_check.catalog import CHECKS, SPECS, check
from mfbench_check.display import CheckFailedError, NotApplicableError, NotInstalledError
from mfbench_check.subjects import Opened, Table, shifted


@check("registration", group="contract", kinds=("plugin",))
def nothing_is_left_out(subject: Opened) -> str:
    """The plugin can be imported, and the host uses all its hooks and specs.

    The host leaves out anything unusable with a warning, so that one plugin does not prevent others from working: a
    spec with a field of the wrong type, a name registered twice, a function named like a hook but not marked as one, a
    hook that raises.
    """
    registry, plugin = subject.registry, subject.subject.plugin
    tables = [registry.listed(kind) for kind in SPECS]
    n_suites = sum(path.parent.resolve() in _folders(subject) for path in registry.suites().values())
    problems = [problem.sentence for problem in registry.problems.records if problem.plugin == plugin]
    if problems:
        load = f"registry = load_registry(only=[{plugin.name!r}])"
        lines = [
            "from mfbench.host.registry import load_registry",
            load,
            f"[registry.listed(kind) for kind in {tuple(SPECS)}], registry.suites()",
            "assert not registry.failed, registry.failed",
        ]
        raise CheckFailedError("everything that it registers can be used", "; ".join(problems), "\n".join(lines))
    n_specs = sum(one.plugin == plugin for table in tables for one in table.values())
    return f"{n_specs} specs, {n_suites} suites"


def _folders(subject: Opened) -> set[object]:
    plugin = subject.subject.plugin
    return {folder.resolve() for folder, owner in subject.registry.suite_folders if owner == plugin}


ESTIMATORS = ("selector", "classifier", "regressor")
FITS = 8  # values of each parameter in a grid
_SCIKIT_LEARN = re.compile(r"scikit-learn:check_\w+")


@check("spec", group="contract", kinds=SPECS)
def has_usable_texts(subject: Opened) -> None:
    """The summary is one line, `complexity` is a formula, and `expected_failures` names checks, each with a reason.

    A declared failure with a misspelt name has no effect; one without a reason does not help readers.
    """
    spec = subject.spec
    if not spec.summary.strip() or len(spec.summary.splitlines()) > 1:
        raise CheckFailedError("a summary of one line", f"the summary is {shown(spec.summary)}")
    if getattr(spec, "complexity", ""):
        try:
            parse_complexity(spec.complexity)
        except ValueError as error:
            raise CheckFailedError("a complexity such as 'n**2 * p'", str(error)) from error
    for name, reason in getattr(spec, "expected_failures", {}).items():
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

    A suite sets a parameter and reports it; a constructor that changes the value makes the report wrong.
    """
    _require_stored(subject, {})
    for parameter, value in _points(subject):
        _require_stored(subject, {parameter: value})


def _require_stored(subject: Opened, point: dict[str, Any]) -> None:
    """Raise CheckFailedError unless an estimator returns the parameters that were set."""
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

    Each value is combined with the first values of the other parameters; for a parameter with more than eight values,
    the first and last four are fitted. A suite with ``tune = "default"`` tries all combinations.
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
    """Yield each existing grid parameter with each of the values to try."""
    accepted = parameter_names(subject.registered)
    for parameter, values in subject.spec.grid.items():
        if parameter in accepted:
            for value in _ends(list(values)):
                yield parameter, value


def _ends(values: Sequence[Any]) -> Sequence[Any]:
    half = FITS // 2
    return values if len(values) <= FITS else [*values[:half], *values[-half:]]


ROWS, FEATURES = 100, 10  # of the smallest table
CLASSES = 2
SECONDS = 1.0  # total seconds of all fits along one axis: a doubling that would probably take longer is skipped
DOUBLINGS = 10
_SHORTEST = 0.005  # shorter fits are dominated by work that does not depend on the size
Size = tuple[int, int]


@check("growth", group="growth", kinds=("selector", "classifier"), needs=("fit", "importances-finite"))
def grows_as_declared(subject: Opened) -> str:
    """Reports how time and memory grow with rows and features; the check never fails.

    The exponent of rows is 2 if twice as many rows take four times as long. It is measured on the last two doublings
    that fit into a second. Small tables flatter a method, since constant overhead takes most of the time; `mfbench
    suite timing` measures large ones.
    """
    parts = [
        _along(subject, "rows", lambda step: (ROWS << step, FEATURES)),
        _along(subject, "features", lambda step: (ROWS, FEATURES << step)),
    ]
    if not any(parts):
        raise NotApplicableError("a fit is too quick, or too slow, to see how it grows")
    formula = subject.spec.complexity
    return "; ".join(part for part in parts if part) + (f"; declared {formula}" if formula else "; none declared")


def _along(subject: Opened, axis: str, size: Callable[[int], Size]) -> str:
    """Return the measurement along one axis; "" if nothing is measurable."""
    seconds, memory = [], []
    deadline = time.perf_counter() + SECONDS
    try:
        subject.fit(*_table(subject, size(0)))  # one-time costs such as compilation are not growth
        for step in range(DOUBLINGS):
            one, peak = _measured(subject, size(step))
            seconds.append(one)
            memory.append(peak)
            if time.perf_counter() + 10 * one > deadline:  # two fits, one traced, each up to four times as long
                break
    except CheckFailedError:  # if the method rejects the table, another check reports it
        pass
    first = next((step for step, one in enumerate(seconds) if one > _SHORTEST), len(seconds))
    if len(seconds) - first < 2:
        return ""
    first = max(first, len(seconds) - 3)
    sizes = [size(step) for step in range(len(seconds))]
    declared = _declared(subject, sizes[first], sizes[-1], len(seconds) - 1 - first)
    against = f" (declared {declared:.1f})" if declared is not None else ""
    of_time, of_memory = exponent(seconds[first:]), exponent(memory[first:])
    return f"time grows as {axis}^{of_time:.1f}{against}, memory as {axis}^{of_memory:.1f}"


def exponent(values: Sequence[float]) -> float:
    """Return the growth exponent of values, each measured at twice the size of the one before.

    Examples
    --------
    >>> exponent([1.0, 4.0, 16.0])
    2.0
    """
    return math.log2(values[-1] / values[0]) / (len(values) - 1)


def _measured(subject: Opened, size: Size) -> tuple[float, float]:
    """Return the seconds of a fit and, from a second fit, the peak of allocated bytes."""
    X, y = _table(subject, size)
    begin = time.perf_counter()
    subject.fit(X, y)
    seconds = time.perf_counter() - begin
    tracemalloc.start()
    try:
        subject.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return seconds, float(max(peak, 1))


def _table(subject: Opened, size: Size) -> Table:
    return shifted(np.random.default_rng(subject.seed), *size, CLASSES)


def _declared(subject: Opened, first: Size, last: Size, doublings: int) -> float | None:
    if not subject.spec.complexity:
        return None
    try:
        formula = parse_complexity(subject.spec.complexity)
        ratio = formula.growth(*last, CLASSES) / formula.growth(*first, CLASSES)
        return math.log2(ratio) / doublings
    except (ValueError, ArithmeticError):  # the check 'spec' reports the formula
        return None


@check("factory", group="contract", kinds=ESTIMATORS)
def can_be_built(subject: Opened) -> None:
    """The factory can be imported and called with the defaults of the spec."""
    if missing := missing_packages(subject.spec):
        raise NotInstalledError(f"it needs what is not installed: {', '.join(missing)}")
    try:
        subject.make()
    except MfbenchError as error:
        raise CheckFailedError("an estimator", str(error)) from error
    except Exception as error:
        raise CheckFailedError("an estimator", f"the factory raised {describe_error(error)}") from error


@check("fit", group="contract", kinds=ESTIMATORS, needs=("factory",))
def can_be_fitted(subject: Opened) -> None:
    """`fit` accepts ordinary data and returns the estimator itself; a selector then has `feature_importances_`."""
    X, y = subject.sample()
    estimator = subject.make()
    try:
        returned = estimator.fit(X, y)
    except Exception as error:
        seen = f"fit raised {type(error).__name__}: {error}"
        raise CheckFailedError("a fit on ordinary data", seen, subject.snippet("method.fit(X, y)")) from error
    if returned is not estimator:
        raise CheckFailedError(
            "fit returns the estimator itself",
            f"it returned a {type(returned).__name__}",
            subject.snippet("assert method.fit(X, y) is method"),
        )
    if subject.kind == "selector" and not hasattr(estimator, "feature_importances_"):
        raise CheckFailedError(
            "the attribute feature_importances_ after fit",
            "there is no such attribute",
            subject.snippet("method.fit(X, y)", "assert hasattr(method, 'feature_importances_')"),
        )
