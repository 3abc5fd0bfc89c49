"""Merging from Python: shards of a run become the run."""

import dataclasses
import sqlite3
import sys
from pathlib import Path

import pytest

import mfbench
from mfbench.errors import RunError, UsageError
from mfbench.report.sections.scores import score_table
from mfbench.run import runner
from mfbench.run.store.file import FILE_NAME, locked
from mfbench.run.store.store import Store
from mfbench_cluster.api import merge_stores

sys.path.append(str(Path(__file__).parent / "run"))
from small_runs import SUITE, InProcess

# Two datasets, of which the first in the suite is not the first in the alphabet.
TWO = SUITE.replace('use = ["iris"]', 'use = ["wine", "iris"]')


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """An undivided run, and the two shards of the same run in another folder."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "own.toml").write_text(TWO)
    suite = str(folder / "own.toml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        whole = mfbench.run_suite(suite, out=folder / "undivided", jobs=1)
        shards = [mfbench.run_suite(suite, out=folder / "divided", jobs=1, shard=f"{number}/2") for number in (1, 2)]
    return whole, shards


def rows(path, query):
    with sqlite3.connect(path / FILE_NAME) as db:
        return list(db.execute(query))


RESULTS = (
    "SELECT key, seed, status, error_type, error_message, n_warnings, scores, n_selected, chosen, selected, weights, "
    "predictions, decisions, interactions, candidates FROM trials ORDER BY key"
)


def test_merged_shards_are_the_undivided_run_to_the_bit(runs):
    whole, shards = runs
    merged = mfbench.merge([shard.path for shard in shards])
    assert merged.path == shards[0].path.with_name(whole.path.name)
    for query in (
        RESULTS,
        "SELECT * FROM plan ORDER BY position",
        "SELECT * FROM datasets ORDER BY label",
        "SELECT * FROM splits ORDER BY sha256, protocol, repeat, fold",
    ):
        assert rows(merged.path, query) == rows(whole.path, query)
    assert merged.n_pending == 0 and merged.meta.shard is None and merged.remarks == []
    first, second = (score_table(run) for run in (merged, whole))
    assert repr(dataclasses.astuple(first)) == repr(dataclasses.astuple(second))  # NaN does not equal itself
    assert list(merged.scores["dataset"]) == list(whole.scores["dataset"])


def test_each_trial_is_in_one_shard_and_its_metadata_say_which(runs):
    whole, shards = runs
    keys = [key for shard in shards for (key,) in rows(shard.path, "SELECT key FROM trials")]
    assert sorted(keys) == sorted(whole.outcomes["key"])
    assert [shard.meta.shard.numbers for shard in shards] == [[1], [2]]
    assert {shard.meta.shard.run for shard in shards} == {whole.path.name}
    for number, shard in enumerate(shards, 1):
        assert shard.path.name == f"{whole.path.name}-shard-{number}-of-2"
        count = len(rows(shard.path, RESULTS))
        assert shard.remarks[0].startswith(f"Shard {number} of 2: {count} of 24 trials. To join all shards, run: ")
        assert list(shard.methods) == list(whole.methods)
        assert len(shard.outcomes) == 24 and shard.n_pending == 24 - count
        shard.summary()
        shard.overall()


def test_a_merge_is_repeated_without_effect(runs, tmp_path):
    _, shards = runs
    target = tmp_path / "run"
    mfbench.merge([shards[0].path], into=target)
    every = "SELECT * FROM {} ORDER BY 1, 2"
    tables = ("meta", "plan", "datasets", "left_out", "splits", "trials")
    before = [rows(target, every.format(table)) for table in tables]
    for sources in (shards[:1], shards[:1] * 2):
        mfbench.merge([shard.path for shard in sources], into=target)
        assert [rows(target, every.format(table)) for table in tables] == before
    mfbench.merge([target], into=target)
    assert [rows(target, every.format(table)) for table in tables] == before


def test_what_is_missing_can_be_run_in_the_folder_of_the_whole_run(runs, tmp_path):
    whole, shards = runs
    suite = Path(whole.meta.command[2])
    folder = tmp_path / "out" / "own" / whole.path.name
    merged = merge_stores([shards[1].path], folder)
    assert merged.resume.startswith(f"mfbench suite {suite} ") and merged.resume.endswith(f"--out {tmp_path}/out")
    assert (merged.n_trials, merged.n_results) == (24, len(rows(shards[1].path, RESULTS)))
    assert merged.remarks == ["Shard 1 of 2 is missing."]
    resumed = mfbench.run_suite(str(suite), out=tmp_path / "out", jobs=1)
    assert resumed.path == folder and resumed.n_pending == 0
    assert rows(folder, RESULTS) == rows(whole.path, RESULTS)
    assert rows(folder, "SELECT * FROM plan") == rows(whole.path, "SELECT * FROM plan")
    again = merge_stores([shard.path for shard in shards], folder)
    assert (again.remarks, again.resume) == ([], "")


def test_without_a_folder_only_shards_of_one_run_are_merged(runs, tmp_path, write_run):
    whole, shards = runs
    reason = "these are not the shards of one run; name the folder of the merged run with --into"
    for sources in ([whole.path], [shards[0].path, whole.path], [shards[0].path, write_run({("iris", "A"): 0.5}).path]):
        with pytest.raises(UsageError, match=f"^{reason}$"):
            merge_stores(sources)
    with pytest.raises(UsageError, match="name at least one run"):
        merge_stores([])
    with pytest.raises(UsageError, match=r"no-run holds no run \(no results.sqlite\); name the folders of runs"):
        merge_stores([tmp_path / "no-run"], tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_a_shard_of_a_batch_names_no_folder(make_metadata, tmp_path):
    shard = {"batch": "0a", "numbers": [1], "of": 2, "run": "../../elsewhere", "n_trials": 5}
    with Store(tmp_path / "part") as store:
        store.begin(make_metadata(shard=shard), [], [])
    with pytest.raises(UsageError, match="part is part of a batch; name the folder of the merged run with --into"):
        merge_stores([tmp_path / "part"])
    with Store(tmp_path / "part") as store:
        store.begin(make_metadata(shard={**shard, "batch": ""}), [], [])
    assert merge_stores([tmp_path / "part"]).path == tmp_path / "elsewhere", "a stored name leads nowhere else"


def test_a_run_in_progress_is_not_merged_into(runs, tmp_path):
    _, shards = runs
    with locked(tmp_path / "run"), pytest.raises(RunError, match=r"another mfbench is running in .*run"):
        merge_stores([shards[0].path], tmp_path / "run")


def test_other_machines_are_remembered(make_metadata, tmp_path):
    environment = make_metadata().environment
    for number, cpu in enumerate(("one", "one", "two")):
        with Store(tmp_path / str(number)) as store:
            changed = environment.model_copy(update={"cpu": cpu, "command": ["mfbench", str(number)]})
            store.begin(make_metadata(environment=changed), [], [])
    remark = "The joined runs differ in machine (one and two); their times and memory may not compare."
    for number in range(3):
        merged = merge_stores([tmp_path / str(number)], tmp_path / "run")
    assert merged.remarks == [remark]
    run = mfbench.load_run(tmp_path / "run")
    assert run.remarks == [remark]
    assert len(run.meta.other_environments) == 1


class TestTargets:
    def test_the_folder_of_a_shard_takes_no_other_results(self, runs):
        _, shards = runs
        before = rows(shards[0].path, RESULTS)
        with pytest.raises(UsageError, match="is the folder of a shard, so other results cannot be merged into it"):
            merge_stores([shards[1].path], shards[0].path)
        assert rows(shards[0].path, RESULTS) == before

    def test_a_folder_with_other_files_is_refused(self, runs, tmp_path):
        (tmp_path / "letter.txt").write_text("")
        with pytest.raises(UsageError, match="holds other files and no run; name another folder with --into"):
            merge_stores([runs[1][0].path], tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]

    def test_a_refused_merge_leaves_no_folder(self, runs, tmp_path):
        (tmp_path / "own.toml").write_text(TWO)
        other = mfbench.run_suite(str(tmp_path / "own.toml"), out=tmp_path / "other", jobs=1, seed=7)
        with pytest.raises(RunError):
            merge_stores([runs[0].path, other.path], tmp_path / "target")
        assert not (tmp_path / "target").exists()

    def test_a_folder_without_a_run_is_a_usage_error(self, tmp_path):
        with pytest.raises(UsageError, match="holds no run"):
            merge_stores([tmp_path / "nowhere"], tmp_path / "target")
