"""Shards of a plan: its trials with their keys, seeds and positions, and what reports say about a part."""

from pathlib import Path

import pytest

from mfbench.api import Request, prepare_suite
from mfbench.errors import UsageError
from mfbench.run.shards import remark_on_share, shard_of
from mfbench.run.store.metadata import RecordedShare
from mfbench.run.workers.fit_groups import fit_groups
from mfbench.suite.shares import digest_of


def test_all_shards_together_are_the_plan(subtests, prepared):
    for of in [1, 2, 3, 5, 9, 40]:
        with subtests.test(of=of):
            plan, folder, registry = prepared
            shards = [shard_of(plan, number, of, folder.name, registry) for number in range(1, of + 1)]
            rows = sorted(row for shard in shards for row in zip(shard.share.positions, shard.trials, strict=True))
            assert rows == list(enumerate(plan.trials))
            assert {shard.share.digest for shard in shards} == {digest_of(trial.key for trial in plan.trials)}
            assert all(shard.datasets is plan.datasets and shard.methods is plan.methods for shard in shards)
            group_of = fit_groups(plan, registry)
            homes = [{group_of(trial) for trial in shard.trials} - {None} for shard in shards]
            assert sum(map(len, homes)) == len(set().union(*homes)), "a group is divided"


def test_a_shard_has_a_folder_of_its_own(tmp_path, prepared):
    plan, folder, registry = prepared
    path = str(tmp_path / "own.toml")
    part, own, _ = prepare_suite(Request(path, out=tmp_path / "out", shard="2/3"), registry=registry)
    assert own == folder.with_name(f"{folder.name}-shard-2-of-3")
    assert set(part.trials) < set(plan.trials)
    with pytest.raises(UsageError, match="is not a shard"):
        prepare_suite(Request("no-such-suite", shard="0/3"))  # which is noticed before anything is looked up


def test_the_remark_can_be_pasted_into_a_shell():
    share = RecordedShare(kind="shard", numbers=[2, 3], of=9, run="quick-1a", n_trials=1200)
    assert remark_on_share(share, Path("my runs/uci/quick-1a"), 400) == (
        "Shards 2 and 3 of 9: 400 of 1,200 trials. To join all shards, run: "
        "mfbench merge 'my runs/uci/quick-1a-shard-'*-of-9"
    )
    task = share.model_copy(update={"kind": "task", "numbers": [1], "batch": "0a"})
    assert "merge.sh" in remark_on_share(task, Path("x"), 1)
    assert remark_on_share(share.model_copy(update={"kind": ""}), Path("x"), 1) == (
        "A part of the run quick-1a: 1 of 1,200 trials."
    )
