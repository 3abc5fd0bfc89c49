"""`mfbench track` as Python functions: a run goes into a history, and the reader learns what happened."""

import shutil

import numpy as np
import pytest

from mfbench.base.git import run_git
from mfbench.errors import MfbenchError, UsageError
from mfbench.run.store.metadata import Environment
from mfbench_gate import api as tracking
from mfbench_gate.api import merge_histories, track_run, trends_of
from mfbench_gate.history.storage import Calibration, add_entries, read_entries
from mfbench_gate.history.trends import this_machine

COMMIT, OTHER = "a" * 40, "b" * 40


@pytest.fixture
def here():
    """The environment of a run on this machine."""
    machine = this_machine()
    return Environment(
        mfbench="0.1.0",
        python="3.11.2",
        cpu=machine.cpu,
        cpus=machine.cpus,
        system=f"{machine.system}-6.1",
        jobs=1,
        libraries={"scikit-learn": "1.7"},
    )


@pytest.fixture
def kernels(monkeypatch):
    measured = Calibration(0.1, 0.2, 0.3)
    monkeypatch.setattr(tracking, "calibrate", lambda: measured)
    return measured


def test_a_run_of_this_machine_is_added_with_the_kernels(tmp_path, timed_run, timed, here, kernels):
    run = timed_run({("iris", "A"): [timed(1.0)]}, environment=here)
    tracked = track_run(run, tmp_path / "h", commit=COMMIT)
    assert tracked == [f"added 1 measurement of commit aaaaaaa on {this_machine()}"]
    (entry,) = read_entries(tmp_path / "h")
    assert (entry.commit, entry.calibration, entry.machine) == (COMMIT, kernels, this_machine())


def test_a_bundle_is_refused(tmp_path, timed_run, timed, here):
    run = timed_run({("iris", "A"): [timed(1.0)]}, environment=here)
    run = run.replace(bundle=tmp_path / "claim.zip")
    with pytest.raises(UsageError, match=r"claim\.zip is a bundle: its times are a claim"):
        track_run(run, tmp_path / "h", commit=COMMIT)
    assert not (tmp_path / "h").exists()


def test_adding_it_again_changes_nothing(tmp_path, timed_run, timed, here, kernels):
    run = timed_run({("iris", "A"): [timed(1.0)]}, environment=here)
    track_run(run, tmp_path / "h", commit=COMMIT)
    before = (tmp_path / "h").read_bytes()
    tracked = track_run(run, tmp_path / "h", commit=COMMIT)
    assert tracked == ["nothing to add: the history already has every measurement of this run"]
    assert (tmp_path / "h").read_bytes() == before


def test_results_that_are_reused_stay_with_the_commit_that_was_measured(tmp_path, timed_run, timed, here, kernels):
    old, new = {("iris", "A"): [timed(1.0)]}, {("iris", "B"): [timed(2.0)]}
    track_run(timed_run(old, "one", environment=here), tmp_path / "h", commit=COMMIT)
    tracked = track_run(timed_run(old | new, "two", environment=here), tmp_path / "h", commit=OTHER)
    assert tracked[0].startswith("added 1 measurement of commit bbbbbbb")
    assert tracked[1].startswith("results that were measured at aaaaaaa and are reused were not added again")


def test_kernels_are_not_measured_for_another_machine(tmp_path, timed_run, timed, monkeypatch):
    monkeypatch.setattr(tracking, "calibrate", lambda: pytest.fail("not on this machine"))
    tracked = track_run(timed_run({("iris", "A"): [timed(1.0)]}), tmp_path / "h", commit=COMMIT)
    assert read_entries(tmp_path / "h")[0].calibration is None
    assert tracked[1].startswith("the calibration kernels were not measured: the run is from a processor, ")


def test_cells_that_are_left_out_are_listed(tmp_path, timed_run, timed, here, kernels):
    run = timed_run({("iris", "A"): [timed(1.0)], ("iris", "B"): [None]}, environment=here)
    tracked = track_run(run, tmp_path / "h", commit=COMMIT)
    assert tracked[1] == "left out: B/iris: 1 of 1 trials have not run yet"


@pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed")
def test_the_repository_of_the_working_directory(tmp_path, timed_run, timed, here, kernels):
    run = timed_run({("iris", "A"): [timed(1.0)]}, environment=here)
    with pytest.raises(UsageError, match=r"not a git repository.*; name it with --commit"):
        track_run(run, tmp_path / "h", folder=tmp_path)
    run_git(tmp_path, "init", "--quiet")
    identity = ("-c", "user.name=a", "-c", "user.email=a")
    run_git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "one", options=identity)
    track_run(run, tmp_path / "h", folder=tmp_path)
    entry = read_entries(tmp_path / "h")[0]
    assert entry.commit == run_git(tmp_path, "rev-parse", "HEAD") and entry.commit_time is not None


def test_merging(tmp_path, make_entry):
    add_entries(tmp_path / "a", [make_entry(0)])
    add_entries(tmp_path / "b", [make_entry(0), make_entry(1)])
    first = merge_histories(tmp_path / "b", tmp_path / "a")
    assert (first.n_runs, first.n_measurements, first.n_stored) == (1, 1, 1)
    assert merge_histories(tmp_path / "b", tmp_path / "a").n_measurements == 0
    with pytest.raises(UsageError, match="there is no history"):
        merge_histories(tmp_path / "none", tmp_path / "a")


@pytest.fixture
def history(tmp_path, make_entry):
    noise = np.exp(np.random.default_rng(0).normal(0.0, 0.01, (2, 12)))
    entries = [
        make_entry(k, {("A", "iris"): 1.0 * noise[0, k], ("B", "iris"): (1.0 + 0.3 * (k >= 6)) * noise[1, k]})
        for k in range(12)
    ]
    add_entries(tmp_path / "h", entries)
    return tmp_path / "h"


def test_trends(history):
    assert [(trend.series.name, len(trend.changes)) for trend in trends_of(history)] == [("A/iris", 0), ("B/iris", 1)]
    assert [trend.series.name for trend in trends_of(history, method="A", measure="memory")] == ["A/iris"]


def test_an_empty_history(tmp_path):
    add_entries(tmp_path / "h", [])
    with pytest.raises(UsageError, match="has no run yet; 'mfbench track add RUN --history"):
        trends_of(tmp_path / "h")


def test_a_run_without_a_store_is_refused_before_the_history_exists(tmp_path, timed_run, timed):
    run = timed_run({("iris", "A"): [None]})
    with pytest.raises(MfbenchError, match="no complete cell"):
        track_run(run, tmp_path / "h", commit=COMMIT)
    assert not (tmp_path / "h").exists()
