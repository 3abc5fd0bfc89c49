"""A replicate: a fresh process of one side that runs the gate's trials and answers with their costs.

The process runs with its side's interpreter, but with the gate's own mfbench, so that the same code drives both sides:
`BOOTSTRAP` puts it before everything in the side's environment. Requests arrive as lines of JSON on the standard input;
answers are written, also as JSON, to the original standard output. Output of methods is redirected to a log.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import statistics
import sys
import sysconfig
from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from threadpoolctl import threadpool_limits

from mfbench.errors import MfbenchError
from mfbench.host.code_hashes import BY_VERSION, HOST
from mfbench.host.expressions import Registered
from mfbench.host.meaning import reachable
from mfbench.host.registry import Registry, load_registry
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.processes.process import end_with_parent, limit_memory, redirect_to
from mfbench.run.workers.job import Job
from mfbench.run.workers.worker import runner_of
from mfbench.suite.additions import declare_classes
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.resolve import resolve_methods

# Run with ``python -c BOOTSTRAP HARNESS ORDER``: the folder with the gate's mfbench, and the pickled suite and job.
BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from mfbench_gate.gate.replicate import main; sys.exit(main(sys.argv[2]))"
)
# The module in a gate's environment that adds the shared packages; see `mfbench_gate.gate.environments`.
SHARING = "_mfbench_gate"
UNTIMED = "it is tuned per dataset, so no trial fits the method that is tested"
# A trial is repeated until it has taken this long, or this often: the median of many short ones is steadier.
LEAST_SECONDS = 0.05
MOST_ROUNDS = 15


class Replicate:
    """Runs trials with the plugins of this process."""

    def __init__(self, loaded: LoadedSuite, job: Job, registry: Registry) -> None:
        self._methods, self.missing = methods_of(loaded, registry)
        own = _own_packages()
        self.judged = {label: _judged(method, registry, own) for label, method in self._methods.items()}
        self._runner = runner_of(replace(job, methods=self._methods), registry)

    def run(self, trial: Trial, rounds: int) -> dict[str, Any]:
        """Run a trial and return its costs, as plain values."""
        # One warm-up run first, because it loads and compiles code.
        results = []
        for _ in range(1 + rounds):
            last = self._run(trial)
            if last.status is not Status.OK:
                return {"status": str(last.status), "message": f"{last.error_type}: {last.error_message}"}
            results.append(last)
        del results[0]
        if last.candidates:
            return {"status": "untimed", "message": UNTIMED}
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
        # A fold caches the selectors fitted on it, so each run needs a new one.
        fold = self._runner.make_fold(trial)
        gc.collect()
        return self._runner.run(trial, self._methods[trial.method], fold)


def rounds_for(duration: float) -> int:
    """Return how often to repeat a trial of a given duration in seconds."""
    return MOST_ROUNDS if duration <= 0 else int(min(MOST_ROUNDS, max(1, -(-LEAST_SECONDS // duration))))


def main(path: str) -> int:
    """Answer requests until the gate closes the standard input."""
    end_with_parent()
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    if hasattr(os, "register_at_fork"):  # the gate detects the end of this process by the end of its answers
        os.register_at_fork(after_in_child=lambda: os.close(answers.fileno()))
    loaded, job = pickle.loads(Path(path).read_bytes())  # nosec B301  # from the process that started this one
    redirect_to(job.log)
    try:
        replicate = Replicate(loaded, job, load_registry())
    except MfbenchError as error:
        _answer(answers, {"failed": str(error)})
        return 1
    threadpool_limits(1)
    limit_memory(job.memory_limit)
    # Exclude everything loaded so far from the garbage collections before each trial.
    gc.collect()
    gc.freeze()
    _answer(answers, {"missing": replicate.missing, "judged": replicate.judged})
    for line in requests:
        request = json.loads(line)
        is_trial = "trial" in request
        _answer(answers, replicate.run(Trial(**request["trial"]), request["rounds"]) if is_trial else _versions())
    return 0


def _answer(answers: TextIO, content: Mapping[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


def methods_of(loaded: LoadedSuite, registry: Registry) -> tuple[dict[str, ResolvedMethod], dict[str, str]]:
    """Look up each method separately, so that one missing on this side does not affect the others."""
    methods: dict[str, ResolvedMethod] = {}
    missing: dict[str, str] = {}
    for method in loaded.suite.methods:
        alone = replace(loaded, suite=loaded.suite.model_copy(update={"methods": [method]}))
        try:
            if method.label in loaded.added_methods:
                declare_classes(method, loaded.added_methods[method.label], registry)
            resolved, left_out = resolve_methods(alone, registry)
        except MfbenchError as error:
            missing[method.label] = str(error)
        else:
            methods |= resolved
            missing |= left_out
    return methods, missing


def _own_packages() -> set[str] | None:
    """Return the top-level names that the gate installed for this side; None for a user's interpreter."""
    if SHARING not in sys.modules:
        return None
    return {path.name.partition(".")[0] for path in Path(sysconfig.get_path("purelib")).iterdir()}


def _judged(method: ResolvedMethod, registry: Registry, own: Set[str] | None) -> list[str]:
    judged = [step.kind for step in method.steps if _is_own(registry.entry(step.kind, step.expression.name), own)]
    selects, predicts = "selector" in judged, any(kind != "selector" for kind in judged)
    return ["fit", "memory"] * (selects or predicts) + ["predict"] * predicts


def _is_own(registered: Registered, own: Set[str] | None) -> bool:
    """Return whether a step belongs to, or imports, a package that the two sides do not share."""
    if own is None:
        return True
    factory = registered.spec.factory
    module = factory.partition(":")[0] if isinstance(factory, str) else getattr(factory, "__module__", "")
    packages, stack = reachable([module, registered.plugin.module.partition(":")[0]], {HOST, *BY_VERSION})
    return bool(own & {name.partition(".")[0] for name in packages | stack})


def _versions() -> dict[str, str]:
    from importlib import metadata

    versions = {"python": sys.version.split()[0]}
    for distribution in metadata.distributions():
        if distribution.metadata["Name"]:  # of two copies, the first is imported
            versions.setdefault(distribution.metadata["Name"], distribution.version)
    return versions
