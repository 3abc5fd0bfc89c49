"""scikit-learn's own estimator checks, merged into one verdict."""

from __future__ import annotations

import warnings
from typing import Any

from mfbench.base.text import counted
from mfbench.errors import describe_error
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.subjects import Opened

PREFIX = "scikit-learn:"
_METHODS = ("fit", "get_params", "set_params", "__sklearn_tags__")
_SHOWN = 5


@check(
    "scikit-learn",
    group="contract",
    kinds=("selector", "classifier", "regressor"),
    needs=("factory", "fit", "parameters"),
)
def passes_the_estimator_checks(subject: Opened) -> str:
    """An estimator of scikit-learn passes scikit-learn's own `check_estimator`.

    Pipelines, searches and all other tools of scikit-learn rely on it. A single check that the method cannot pass is
    declared by name, as ``{"scikit-learn:check_fit2d_1sample": "a distance needs two rows"}``; a declared check that
    passes is a failure. Does not apply to a selector that is not an estimator of scikit-learn, which mfbench does not
    require.
    """
    estimator = subject.make()
    absent = [name for name in _METHODS if not hasattr(estimator, name)]
    if absent:
        raise NotApplicableError(f"it is not an estimator of scikit-learn: it has no {absent[0]}")
    results = _results(estimator)
    failed = {name: error for name, (status, error) in results.items() if status == "failed"}
    prefixed = [name for name in subject.spec.expected_failures if name.startswith(PREFIX)]
    declared = [name.removeprefix(PREFIX) for name in prefixed]
    unexpected = [name for name in failed if name not in declared]
    mended = [name for name in declared if results.get(name, ("", None))[0] == "passed"]
    if unexpected or mended:
        raise CheckFailedError(
            "scikit-learn's estimator checks pass, but for those that the spec declares",
            _sentence(failed, unexpected, mended),
            _snippet(subject, unexpected, mended),
        )
    return _remark(results, failed)


def _results(estimator: Any) -> dict[str, tuple[str, BaseException | None]]:
    """Return status and exception by check; one that runs with several arguments fails if any of these runs does."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = check_estimator(estimator, on_skip=None, on_fail=None)
    results: dict[str, tuple[str, BaseException | None]] = {}
    for record in records:
        name, status = record["check_name"], record["status"]
        before = results.get(name, ("skipped", None))
        if before[0] == "skipped" or status == "failed":
            results[name] = (status, record["exception"])
    return results


def _sentence(failed: dict[str, BaseException | None], unexpected: list[str], mended: list[str]) -> str:
    parts = []
    for name in unexpected[:_SHOWN]:
        error = failed[name]
        parts.append(f"{PREFIX}{name}: {'' if error is None else ' '.join(describe_error(error, 200).split())}")
    if len(unexpected) > _SHOWN:
        parts.append("also " + ", ".join(f"{PREFIX}{name}" for name in unexpected[_SHOWN:]))
    parts += [f"{PREFIX}{name} passes; remove it from expected_failures" for name in mended]
    return "; ".join(parts)


def _snippet(subject: Opened, unexpected: list[str], mended: list[str]) -> str:
    name = (unexpected or mended)[0]
    statuses = "{record['status'] for record in results if record['check_name'] == " + repr(name) + "}"
    condition = f"'failed' not in {statuses}" if unexpected else f"'passed' not in {statuses}"
    return subject.snippet(
        "from sklearn.utils.estimator_checks import check_estimator",
        "results = check_estimator(method, on_skip=None, on_fail=None)",
        f"assert {condition}",
    )


def _remark(results: dict[str, tuple[str, BaseException | None]], failed: dict[str, BaseException | None]) -> str:
    from sklearn import __version__

    n_passed = sum(status == "passed" for status, _ in results.values())
    remark = f"{counted(n_passed, 'check')} of scikit-learn {__version__}"
    return remark + (f"; as declared, {', '.join(failed)} fail" if failed else "")
