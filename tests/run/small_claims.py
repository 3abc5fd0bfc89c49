"""Fixtures: a small run that was executed without processes, and its bundle. Import them where they are used."""

import pytest
from small_runs import SUITE, InProcess

from mfbench.api import Request, prepare_suite
from mfbench.report.progress import Silent
from mfbench.run import runner
from mfbench.run.runner import RunOptions, execute
from mfbench_claims.writing import write_bundle


@pytest.fixture(scope="session")
def small_run(tmp_path_factory):
    """The run folder of the suite of `small_runs`; the suite's file is in the folder of its reports."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "own.toml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        plan, run, registry = prepare_suite(Request(str(folder / "own.toml"), out=folder / "out"))
        execute(plan, run, registry, RunOptions(jobs=1), Silent())
    return run


@pytest.fixture(scope="session")
def small_claim(small_run, tmp_path_factory):
    """The bundle of that run."""
    return write_bundle(small_run, tmp_path_factory.mktemp("claim") / "claim.zip").path


@pytest.fixture
def in_process(monkeypatch):
    """Execute trials without processes."""
    monkeypatch.setattr(runner, "LocalPool", InProcess)
