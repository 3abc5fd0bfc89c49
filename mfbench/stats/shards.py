"""What a report says about a part of a plan: which part it is, and how to join the others."""

from __future__ import annotations

from pathlib import Path

from mfbench.base.untrusted import shell_command
from mfbench.base.wording import listing
from mfbench.run.store.metadata import RecordedShard
from mfbench.suite.shards import shard_folder_name


def remark_on_shard(shard: RecordedShard, folder: Path, n_planned: int) -> str:
    """Return the sentence that a report of a part of a plan needs: which part it is, and how to join the others."""
    which = which_shard(shard, n_planned)
    if not shard.numbers:
        return which
    if shard.batch:
        return f"{which} The script merge.sh of the batch merges all shards."
    if folder.name not in (shard.run, shard.folder_name):  # merged elsewhere
        into = shell_command(["--into", folder.as_posix()])
        return f"{which} To add others, run: mfbench merge STORE... {into}"
    pattern = shard_folder_name(shard.run, "*", shard.of)
    start, end = (folder.parent / pattern).as_posix().rsplit("*-of-", 1)
    return f"{which} To join all shards, run: mfbench merge {shell_command([start])}*-of-{end}"


def which_shard(shard: RecordedShard, n_planned: int) -> str:
    """Return the first sentence of `remark_on_shard`."""
    trials = f"{n_planned:,} of {shard.n_trials:,} trials"
    if not shard.numbers:
        return f"A part of the run {shard.run}: {trials}."
    noun = "Shards" if len(shard.numbers) > 1 else "Shard"
    return f"{noun} {listing(shard.numbers)} of {shard.of}: {trials}."
