"""The choice of an executor; on one of a plugin results are the same to the bit, and the machines are recorded."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fake import FakeWorker, StubPool, ThreadEngine

from mfbench import ExecutorSpec, hookimpl
from mfbench.api import Run
from mfbench.errors import PluginError, UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.report.progress import Silent
from mfbench.report.sections.remarks import remarks
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.store import Store
from mfbench_cluster.array_cache import ArrayCache
from mfbench_cluster.hooks import mfbench_pool
from mfbench_cluster.service import WorkerService

# Columns that do not depend on the clock.
EXACT = (
    "key", "seed", "status", "error_type", "error_message", "n_warnings", "warning", "touched", "scores", "n_selected",
    "chosen", "selected", "weights", "predictions", "decisions", "interactions",
)  # fmt: skip


def registry_of(tmp_path):
    def factory(scheduler, jobs):
        return ThreadEngine({name: FakeWorker(WorkerService(ArrayCache(tmp_path / "cache"))) for name in ("p", "q")})

    spec = ExecutorSpec(name="threads", summary="Threads", factory=factory)
    module = SimpleNamespace(__name__="threads", mfbench_executors=hookimpl(lambda: [spec]))
    return load_registry(extra=[("threads", module)])


def rows(folder):
    with Store(folder, read_only=True) as store:
        return sorted(store.raw(f"SELECT {', '.join(EXACT)} FROM trials"))


@pytest.mark.slow(reason="workers of two executors")
def test_results_are_those_of_this_machine_to_the_bit(prepared, tmp_path):
    plan, folder, _ = prepared
    registry = registry_of(tmp_path)
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    elsewhere = folder.parent / "elsewhere"
    elsewhere_afresh = RunOptions(executor="threads", fresh=True)  # without results of earlier runs
    progress = execute(plan, elsewhere, registry, elsewhere_afresh, Silent(), make_pool=mfbench_pool)
    assert progress.executed == len(plan.trials)
    assert rows(elsewhere) == rows(folder)
    run = Run(elsewhere)
    assert (run.meta.environment.executor, Run(folder).meta.environment.executor) == ("threads", "local")
    assert run.meta.machines == Run(folder).meta.machines
    assert len(run.meta.machines) == 1
    assert not any("machines" in note for note in remarks(run).notes)


class Own(StubPool):
    """An executor of a plugin, which notes what the runner asks of it."""

    def __init__(self, scheduler, jobs):
        self.calls = [(scheduler, jobs)]

    def start(self, job, budget=None, follow=None):
        self.calls.append(("start", budget is not None, follow is not None))
        super().start(job)

    def submit(self, trials):
        super().submit(trials)
        self.calls.append(("submit", len(self.trials)))

    def close(self):
        self.calls.append("close")


def registry_with(factory):
    spec = ExecutorSpec(name="own", summary="Own", factory=factory)
    module = SimpleNamespace(__name__="own", mfbench_executors=hookimpl(lambda: [spec]))
    return load_registry(extra=[("own", module)])


def test_an_executor_of_a_plugin_needs_no_pool(prepared):
    plan, folder, _ = prepared
    made = []

    def factory(*arguments):
        made.append(Own(*arguments))
        return made[-1]

    options = RunOptions(jobs=2, executor="own", scheduler="there", budget=3600.0)
    progress = execute(plan, folder, registry_with(factory), options, Silent())
    assert progress.executed == len(plan.trials)
    assert made[-1].calls == [("there", 2), ("start", True, True), ("submit", len(plan.trials)), "close"]
    assert Run(folder).meta.environment.executor == "own" and not Run(folder).meta.machines


def test_an_executor_is_closed_after_an_error(prepared):
    plan, folder, _ = prepared
    made = []

    def factory(*arguments):
        made.append(Own(*arguments))
        return made[-1]

    observer = Silent()
    observer.finished = lambda trial, result: 1 / 0
    with pytest.raises(ZeroDivisionError):
        execute(plan, folder, registry_with(factory), RunOptions(executor="own"), observer)
    assert made[-1].calls[-1] == "close"


def test_an_engine_runs_in_the_pool_that_a_hook_makes_of_it(prepared, tmp_path):
    plan, folder, _ = prepared
    registry, asked = registry_of(tmp_path), []

    def make_pool(**arguments):
        asked.append(arguments)
        return Own("", 0)

    options = RunOptions(executor="threads")
    assert execute(plan, folder, registry, options, Silent(), make_pool=make_pool).executed == len(plan.trials)
    (arguments,) = asked
    assert list(arguments) == ["engine", "job", "plan", "registry", "options"]
    assert isinstance(arguments["engine"], ThreadEngine) and arguments["options"] is options
    assert arguments["job"].methods is plan.methods


@pytest.mark.parametrize("make_pool", [None, lambda **_: None])
def test_without_a_pool_an_engine_is_one_sentence_and_costs_no_result(prepared, tmp_path, make_pool):
    plan, folder, _ = prepared
    execute(plan, folder, registry_with(Own), RunOptions(executor="own"), Silent())
    before = rows(folder)
    sentence = "^executor 'threads' needs a pool of remote workers, which the package mfbench_cluster provides$"
    with pytest.raises(PluginError, match=sentence):
        execute(
            plan,
            folder,
            registry_of(tmp_path),
            RunOptions(executor="threads", fresh=True),
            Silent(),
            make_pool=make_pool,
        )
    assert rows(folder) == before


def test_times_of_several_machines_are_a_remark(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("mfbench.run.runner.LocalPool", StubPool)
    plan, folder, registry = prepared
    monkeypatch.setattr(StubPool, "machines", {"one": "a"})
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    with Store(folder) as store:
        store.record("machines", {"one": "a", "two": "b"})
        assert store.recorded("machines", {}) == {"one": "a", "two": "b"}
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())  # what was recorded stays
    assert Run(folder).meta.machines == {"one": "a", "two": "b"}
    assert "Times were measured on 2 machines, of 2 kinds, which do not compare: a; b." in remarks(Run(folder)).notes


def test_a_name_that_nobody_registers_writes_nothing(prepared, tmp_path):
    plan, _, registry = prepared
    for options, error in (
        (RunOptions(executor="theads"), UnknownNameError),
        (RunOptions(scheduler="there"), UsageError),
    ):
        with pytest.raises(error):
            execute(plan, tmp_path / "new", registry, options, Silent())
    assert not (tmp_path / "new").exists()
