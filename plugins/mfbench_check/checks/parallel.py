"""Determinism whatever the number of processors: jobs of the method and threads of linear algebra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from mfbench.host.factories import parameter_names
from mfbench_check.catalog import check
from mfbench_check.repeating import ESTIMATORS, REPEATABLE, answer, difference, result_code
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError, NotApplicableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_JOBS_TOLERANCE = 1e-9
_THREADS_TOLERANCE = 1e-6
_ROWS = 0.02  # rows at a boundary, whose class rounding may change


@check("n-jobs", group="determinism", kinds=ESTIMATORS, needs=REPEATABLE)
def does_not_depend_on_jobs(subject: Opened) -> None:
    """With `n_jobs=2` the result is that of `n_jobs=1`, up to rounding.

    Where seeds are given to workers instead of tasks, a result depends on the number of processors.
    """
    if "n_jobs" not in parameter_names(subject.registered):
        raise NotApplicableError("it has no parameter n_jobs")
    one, two = answer(subject, n_jobs=1), answer(subject, n_jobs=2)
    if not _agree(subject, one, two, _JOBS_TOLERANCE, rows=0.0):
        lines, code = result_code(subject, "one")
        raise CheckFailedError(
            "the same result with n_jobs=1 and n_jobs=2",
            difference(subject, one, two),
            subject.snippet(
                *lines,
                f"first, second = ({code} for jobs in (1, 2) for one in [method.set_params(n_jobs=jobs)])",
                f"assert np.allclose(first, second, rtol=0, atol={_JOBS_TOLERANCE} * np.abs(first).max())",
            ),
        )


@check("blas-threads", group="determinism", kinds=ESTIMATORS, needs=REPEATABLE)
def does_not_depend_on_threads(subject: Opened) -> None:
    """With two threads of linear algebra the result is that with one, up to rounding.

    Threads add in another order, which changes the last digits. A method that turns them into another result gives
    other numbers on another machine.
    """
    if not threadpool_info():
        raise NotApplicableError("no library with threads that can be set is loaded")
    with threadpool_limits(1):
        one = answer(subject)
    with threadpool_limits(2):
        two = answer(subject)
    if not _agree(subject, one, two, _THREADS_TOLERANCE, rows=_ROWS):
        lines, code = result_code(subject)
        raise CheckFailedError(
            "the same result with one and with two threads of linear algebra, up to rounding",
            difference(subject, one, two),
            subject.snippet(
                "from threadpoolctl import threadpool_limits",
                *lines,
                f"results = [{code} for threads in (1, 2) for limits in [threadpool_limits(threads)]]",
                "bound = 1e-6 * np.abs(results[0]).max()",
                "assert np.allclose(*results, rtol=0, atol=bound), results",
            ),
        )


def _agree(subject: Opened, one: NDArray[Any], two: NDArray[Any], tolerance: float, rows: float) -> bool:
    if one.shape != two.shape:
        return False
    if subject.kind == "classifier":
        return bool((one != two).mean() <= rows)
    return bool(np.allclose(one, two, rtol=0.0, atol=tolerance * float(np.abs(one).max())))
