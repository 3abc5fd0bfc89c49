"""Determinism: the same seed and rows give bit-identical results, in this process and in another one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from mfbench.host.factories import parameter_names
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.repeating import (
    ESTIMATORS,
    REPEATABLE,
    RESULTS,
    answer,
    bits,
    boundary_rows,
    difference,
    digest,
    request_of,
    result_code,
    result_of,
)
from mfbench_check.subjects import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SECONDS = 100.0  # seconds for the other process, most of which it needs for imports


@check("same-seed", group="determinism", kinds=ESTIMATORS, needs=(*RESULTS, "global-random-state"))
def repeats_itself(subject: Opened) -> None:
    """Two fits with the same seed in one process give bit-identical results, regardless of the code run in between.

    A result that depends on the time, on object addresses or on a generator that continues from fit to fit cannot be
    reproduced, and a difference between two methods may just be a difference between two fits.
    """
    X, y = subject.sample()
    rows = boundary_rows(X, subject.rng())
    answers, kept = [], []
    for _ in range(2):
        kept.append(subject.make())  # while it is alive, the second cannot have the same address
        answers.append(result_of(subject, kept[-1], X.copy(), y.copy(), rows.copy()))
        _work_in_between(subject)
    if bits(answers[0]) != bits(answers[1]):
        lines, first = result_code(subject)
        other = f"clone(clone(method).fit(*sample('three-classes', seed={subject.seed})))"
        raise CheckFailedError(
            "the same bits from two fits with the same seed, whatever is fitted between them",
            difference(subject, *answers),
            subject.snippet(
                "from sklearn.base import clone",
                *lines,
                f"first = {first}",
                f"second = {result_code(subject, other)[1]}",
                "assert first.tobytes() == second.tobytes(), (first, second)",
            ),
        )


def _work_in_between(subject: Opened) -> None:
    """Do what other code in the process may do: draw from the global generators, and fit the method elsewhere."""
    random.random()
    np.random.normal()  # noqa: NPY002 - the global state is the subject
    subject.fit(*subject.sample("three-classes"))


@check("hash-seed", group="determinism", kinds=ESTIMATORS, needs=REPEATABLE)
def does_not_depend_on_hashes_of_strings(subject: Opened) -> None:
    """A process with another PYTHONHASHSEED gives bit-identical results.

    Python hashes strings differently in each process, so sets of strings have another order: a method that iterates
    over one gives different results in each run.
    """
    if subject.subject.plugin.is_object:
        raise NotApplicableError("its plugin was handed over as an object, which another process cannot load")
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    command = [sys.executable, "-m", "mfbench_check.repeating"]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
    try:
        other = subprocess.run(
            command,
            input=request_of(subject),
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CheckFailedError("a fit in another process", f"it took longer than {_SECONDS:g} s") from None
    lines = other.stdout.splitlines()
    if other.returncode or not lines:
        last = (other.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise CheckFailedError("a fit in another process", f"it failed: {last}")
    if lines[-1] != digest(subject):
        raise CheckFailedError(
            "the same bits in another process, with another PYTHONHASHSEED",
            "they differ; sets of strings are the usual cause, then process ids, times and addresses",
            _hash_snippet(subject),
        )


def _hash_snippet(subject: Opened) -> str:
    head = subject.snippet().splitlines()
    lines, result = result_code(subject)
    code = "; ".join([*head, *lines, f"print({result}.tobytes())"])
    return "\n".join(
        [
            "import os, subprocess, sys",
            f"code = {code!r}",
            "command = [sys.executable, '-c', code]",
            "seeds = [{**os.environ, 'PYTHONHASHSEED': str(seed)} for seed in range(4)]",
            "results = {subprocess.run(command, env=seed, stdout=-1, check=True).stdout for seed in seeds}",
            "assert len(results) == 1, f'{len(results)} results for 4 hash seeds'",
        ]
    )


_JOBS_TOLERANCE = 1e-9
_THREADS_TOLERANCE = 1e-6
_ROWS = 0.02  # rows at a boundary, whose class may change with rounding


@check("n-jobs", group="determinism", kinds=ESTIMATORS, needs=REPEATABLE)
def does_not_depend_on_jobs(subject: Opened) -> None:
    """`n_jobs=2` gives the same result as `n_jobs=1`, up to rounding.

    If seeds are assigned to workers instead of tasks, the result depends on the number of processors.
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
    """Two linear-algebra threads give the same result as one, up to rounding.

    Threads add numbers in another order, which changes the last digits. A method that amplifies this gives different
    results on another machine.
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
