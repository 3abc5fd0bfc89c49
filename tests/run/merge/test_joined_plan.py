"""The plan of joined runs: the order of an undivided run, and what of it is missing."""

import itertools
from pathlib import Path

import pytest
from toy_protocols import completed

from mfbench.model.trials import Trial, TrialResult
from mfbench.run.merging import merge_runs
from mfbench.run.store.metadata import RecordedShard
from mfbench.run.store.store import Store
from mfbench.suite.plan import digest_of

# Neither the datasets nor the methods are in alphabetical order.
TRIALS = [
    Trial(f"{dataset}/{method}/{fold}", dataset, method, 0, fold, 7)
    for dataset in ("wine", "iris", "glass")
    for fold in (0, 1)
    for method in "CAB"
]
N_TRIALS = len(TRIALS)
DIGEST = digest_of(trial.key for trial in TRIALS)


def record(label):
    fields = dict.fromkeys(("n_samples", "n_features", "class_names", "feature_names", "relevant", "interactions"))
    return {"label": label, "sha256": label, **fields, "collections": {}, "source": "", "truth": None}


@pytest.fixture
def write(tmp_path, make_metadata, monkeypatch):
    """Return a function that writes the trials at some positions as a run, with results of all but `missing`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mfbench.run.store.formats.pack", lambda array: b"")

    def write(name, positions, number=0, of=3, missing=(), digest=DIGEST, n_trials=N_TRIALS, **changes):
        shard = RecordedShard(numbers=[number], of=of, run="whole", digest=digest, n_trials=n_trials)
        metadata = make_metadata(
            methods={method: method for method in "CAB"},
            protocol=completed(folds=2, repeats=1),
            **{"shard": shard if number else None, **changes},
        )
        with Store(Path(name)) as store:
            store.begin(metadata, [record(label) for label in ("wine", "iris", "glass")], [])
            store.set_plan([TRIALS[position] for position in positions], positions)
            for position in set(positions) - set(missing):
                store.add(TRIALS[position], TrialResult(key=TRIALS[position].key, scores={"accuracy": 0.5}))
        return Path(name)

    return write


def plan_of(folder):
    with Store(folder, read_only=True) as store:
        return list(store.raw("SELECT position, key FROM plan ORDER BY position")), store.meta().shard


WHOLE = [(position, trial.key) for position, trial in enumerate(TRIALS)]
PARTS = {1: [9, 10, 17], 2: [0, 4, 8, 12, 13, 14, 15, 16], 3: [1, 2, 3, 5, 6, 7, 11]}


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_in_whatever_order_shares_are_merged_the_order_is_that_of_the_plan(write, order):
    folders = [write(f"shard-{number}", PARTS[number], number) for number in order]
    assert merge_runs(folders, Path("whole")) == []
    assert plan_of(Path("whole")) == (WHOLE, None)


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_shares_can_be_merged_one_after_the_other(write, order):
    for n_merged, number in enumerate(order, 1):
        remarks = merge_runs([write(f"shard-{number}", PARTS[number], number)], Path("whole"))
        rows, shard = plan_of(Path("whole"))
        positions = sorted(position for each in order[:n_merged] for position in PARTS[each])
        assert rows == [WHOLE[position] for position in positions]
        assert (shard is None) == (n_merged == 3)
        if shard is not None:
            assert shard.numbers == sorted(order[:n_merged])
            missing = " and ".join(map(str, sorted(order[n_merged:])))
            verb = "Shard {} of 3 is" if n_merged == 2 else "Shards {} of 3 are"
            assert remarks == [f"{verb.format(missing)} missing."]
    assert plan_of(Path("whole"))[0] == WHOLE


def test_a_share_adds_to_a_whole_run(write):
    write("whole", range(18), missing=range(9))
    assert merge_runs([write("shard", PARTS[2], 2)], Path("whole")) == []
    assert plan_of(Path("whole")) == (WHOLE, None)
    with Store(Path("whole"), read_only=True) as store:
        assert len(store.finished()) == 9 + 3  # of its positions, 0, 4 and 8 had no result


def test_shares_of_different_divisions_complete_each_other(write):
    first = write("a", range(9), 1, of=2)
    others = [write(f"b{number}", PARTS[number], number) for number in (1, 3)]
    merge_runs([others[0], first], Path("part"))
    rows, shard = plan_of(Path("part"))
    assert [position for position, _ in rows] == [*range(9), 9, 10, 17]
    assert (shard.numbers, shard.n_trials, shard.digest) == ([], 18, DIGEST)
    merge_runs([Path("part"), others[1], write("c", range(11, 18), 2, of=2)], Path("whole"))
    assert plan_of(Path("whole")) == (WHOLE, None)


def test_an_empty_share_changes_nothing(write):
    folders = [write("empty", [], 3), write("all", range(18), 1)]
    merge_runs(folders, Path("whole"))
    assert plan_of(Path("whole")) == (WHOLE, None)
    merge_runs([folders[0]], Path("nothing"))
    assert plan_of(Path("nothing"))[0] == []


def test_a_share_of_another_plan_is_a_remark(write):
    """On one machine a dataset was missing, so its shard divides a smaller plan."""
    first = write("a", range(9), 1, of=2)
    other = write("b", range(6, 12), 2, of=2, digest="other", n_trials=12)
    (remark,) = merge_runs([first, other], Path("whole"))
    assert remark == ("b and a are shards of different plans, so some trials may be in no shard, and some in two.")
    rows, shard = plan_of(Path("whole"))
    assert rows == WHOLE[:12]
    assert (shard.digest, shard.n_trials) == ("", 18), "its positions must not be compared with those of a plan"


def test_many_missing_shards_are_not_listed(write):
    (remark,) = merge_runs([write("a", range(9), 7, of=500)], Path("whole"))
    assert remark == "Shards 1 … (499 in all) of 500 are missing."
