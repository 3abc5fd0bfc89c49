"""A run on an executor of a plugin: the same results as on this machine, to the bit, and the machines are recorded."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fake import Place, StubPool, ThreadEngine

from mfbench import ExecutorSpec, hookimpl
from mfbench.api import Run
from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.report.progress import Silent
from mfbench.report.sections.remarks import remarks
from mfbench.run.array_cache import ArrayCache
from mfbench.run.runner import RunOptions, execute
from mfbench.run.site import Site
from mfbench.run.store import Store

# Columns that do not depend on the clock.
EXACT = (
    "key", "seed", "status", "error_type", "error_message", "n_warnings", "warning", "touched", "scores", "n_selected",
    "chosen", "selected", "weights", "predictions", "decisions", "interactions",
)  # fmt: skip


def registry_of(tmp_path):
    def factory(scheduler, jobs):
        return ThreadEngine({name: Place(Site(ArrayCache(tmp_path / "cache"))) for name in ("p", "q")})

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
    progress = execute(plan, elsewhere, registry, elsewhere_afresh, Silent())
    assert progress.executed == len(plan.trials)
    assert rows(elsewhere) == rows(folder)
    run = Run(elsewhere)
    assert (run.meta.environment.executor, Run(folder).meta.environment.executor) == ("threads", "local")
    assert run.meta.machines == Run(folder).meta.machines
    assert len(run.meta.machines) == 1
    assert not any("machines" in note for note in remarks(run).notes)


def test_times_of_several_machines_are_a_remark(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("mfbench.run.executors.choice.LocalPool", StubPool)
    plan, folder, registry = prepared
    monkeypatch.setattr(StubPool, "machines", {"one": "a"}, raising=False)
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
