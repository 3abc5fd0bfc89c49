"""What a report says about a part of a plan."""

from pathlib import Path

from mfbench.run.store.metadata import RecordedShard
from mfbench.stats.detection import remark_on_shard


def test_the_remark_can_be_pasted_into_a_shell():
    shard = RecordedShard(numbers=[2, 3], of=9, run="quick-1a", n_trials=1200)
    assert remark_on_shard(shard, Path("my runs/uci/quick-1a"), 400) == (
        "Shards 2 and 3 of 9: 400 of 1,200 trials. To join all shards, run: "
        "mfbench merge 'my runs/uci/quick-1a-shard-'*-of-9"
    )
    part = shard.model_copy(update={"numbers": [1], "batch": "0a"})
    assert "merge.sh" in remark_on_shard(part, Path("x"), 1)
    assert remark_on_shard(shard.model_copy(update={"numbers": []}), Path("x"), 1) == (
        "A part of the run quick-1a: 1 of 1,200 trials."
    )
