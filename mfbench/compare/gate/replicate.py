"""A replicate: a fresh process of one side, which runs the trials that the gate sends and answers with their costs.

The process runs with the interpreter of its side, but with the gate's own mfbench, so that both sides are driven by the
same code: `BOOTSTRAP` puts it before everything that the side's environment contains. Requests come as lines of JSON on
the standard input; answers go, also as JSON, to what was the standard output. What methods print goes to a log.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from threadpoolctl import threadpool_limits

from mfbench.errors import MfbenchError
from mfbench.host.registry import Registry, load_registry
from mfbench.isolation.process import end_with_parent, limit_memory, redirect_to
from mfbench.run.job import Job
from mfbench.run.worker import RUNNERS
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.resolve import resolve_methods
from mfbench.trials import Status, Trial, TrialResult

# Run with ``python -c BOOTSTRAP HARNESS ORDER``: the folder that holds the gate's mfbench, and a pickled `Order`.
BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from mfbench.compare.gate.replicate import main; sys.exit(main(sys.argv[2]))"
)
# A trial is repeated until it has taken this long, or so many times: the median of many short ones is steadier.
LEAST_SECONDS = 0.05
MOST_ROUNDS = 15


@dataclass(frozen=True)
class Order:
    """What a replicate needs to know before its first trial. The gate pickles it for its own processes.

    Attributes
    ----------
    loaded : LoadedSuite
        Its methods are looked up in the side's environment.
    job : Job
        Without methods.
    log : Path
        File for everything that plugins print.
    """

    loaded: LoadedSuite
    job: Job
    log: Path


class Replicate:
    """Runs trials with the plugins of this process.

    Parameters
    ----------
    order : Order
    registry : Registry

    Attributes
    ----------
    missing : dict of str to str
        Methods that do not exist here, each with a sentence.
    """

    def __init__(self, order: Order, registry: Registry) -> None:
        methods, self.missing = _methods_of(order.loaded, registry)
        self._methods = methods
        job = replace(order.job, methods=methods)
        self._runner = RUNNERS[job.protocol.task](job, registry)

    def run(self, trial: Trial, rounds: int) -> dict[str, Any]:
        """Run a trial and return its costs, as plain values.

        It is run once before, because a first run loads and compiles.

        Parameters
        ----------
        trial : Trial
        rounds : int
            Repetitions whose median counts.

        Returns
        -------
        dict
            Status, message, fit and predict seconds (``cpu`` and ``wall``), peak memory, duration, scores and
            predictions.
        """
        results = [self._run(trial)]
        if results[0].status is Status.OK:
            results = [self._run(trial) for _ in range(rounds)]
        bad = next((result for result in results if result.status is not Status.OK), None)
        if bad is not None:
            return {"status": str(bad.status), "message": f"{bad.error_type}: {bad.error_message}"}
        last = results[-1]
        if last.candidates:
            message = "it is tuned per dataset, so no trial fits the method that is tested"
            return {"status": "untimed", "message": message}
        return {
            "status": str(Status.OK),
            "fit_cpu": statistics.median(r.select_cpu + r.fit_cpu for r in results),
            "fit_wall": statistics.median(r.select_wall + r.fit_wall for r in results),
            "predict_cpu": statistics.median(r.predict_cpu for r in results),
            "predict_wall": statistics.median(r.predict_wall for r in results),
            "memory": statistics.median(r.peak_memory for r in results),
            "duration": last.duration,
            "scores": last.scores,
            "predictions": None if last.predictions is None else last.predictions.tolist(),
        }

    def _run(self, trial: Trial) -> TrialResult:
        # A fold keeps the selectors that were fitted on it, so each run needs a new one.
        fold = self._runner.make_fold(trial)
        gc.collect()
        return self._runner.run(trial, self._methods[trial.method], fold)


def rounds_for(duration: float) -> int:
    """Return how often a trial of a given duration in seconds is repeated.

    Examples
    --------
    >>> rounds_for(2.0), rounds_for(0.02), rounds_for(0.0)
    (1, 3, 15)
    """
    return MOST_ROUNDS if duration <= 0 else int(min(MOST_ROUNDS, max(1, -(-LEAST_SECONDS // duration))))


def main(path: str) -> int:
    """Answer requests until the gate closes the standard input.

    Parameters
    ----------
    path : str
        File with the pickled `Order`.

    Returns
    -------
    int
        Exit code.
    """
    end_with_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    if hasattr(os, "register_at_fork"):  # the gate learns of the end of this process from the end of its answers
        os.register_at_fork(after_in_child=lambda: os.close(answers.fileno()))
    order: Order = pickle.loads(Path(path).read_bytes())  # nosec B301  # from the process that started this one
    redirect_to(order.log)
    try:
        replicate = Replicate(order, load_registry())
    except MfbenchError as error:
        _answer(answers, {"failed": str(error)})
        return 1
    threadpool_limits(1)
    limit_memory(order.job.memory_limit)
    # What is loaded now stays: a collection before each trial need not look at it again.
    gc.collect()
    gc.freeze()
    _answer(answers, {"missing": replicate.missing})
    for line in requests:
        request = json.loads(line)
        is_trial = "trial" in request
        _answer(answers, replicate.run(Trial(**request["trial"]), request["rounds"]) if is_trial else _versions())
    return 0


def _answer(answers: TextIO, content: Mapping[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


def _methods_of(loaded: LoadedSuite, registry: Registry) -> tuple[dict[str, ResolvedMethod], dict[str, str]]:
    """Look up each method by itself: one that this side does not have must not take the others along."""
    methods: dict[str, ResolvedMethod] = {}
    missing: dict[str, str] = {}
    for method in loaded.suite.methods:
        alone = replace(loaded, suite=loaded.suite.model_copy(update={"methods": [method]}))
        try:
            resolved, left_out = resolve_methods(alone, registry)
        except MfbenchError as error:
            missing[method.label] = str(error)
        else:
            methods |= resolved
            missing |= left_out
    return methods, missing


def _versions() -> dict[str, str]:
    from importlib import metadata

    versions = {"python": sys.version.split()[0]}
    for distribution in metadata.distributions():
        if distribution.metadata["Name"]:  # of two copies the first is imported
            versions.setdefault(distribution.metadata["Name"], distribution.version)
    return versions
