"""What a report says about a part of a plan: which part it is, and how to join the others."""

from __future__ import annotations

from pathlib import Path

from mfbench.base.untrusted import shell_command
from mfbench.base.wording import listing
from mfbench.run.store.metadata import RecordedShare
from mfbench.suite.shares import share_folder_name


def remark_on_share(share: RecordedShare, folder: Path, n_planned: int) -> str:
    """Return the sentence that a report of a part of a plan needs: which part it is, and how to join the others."""
    which = which_share(share, n_planned)
    if not share.kind:
        return which
    if share.kind == "task":
        return f"{which} The script merge.sh of the batch merges all tasks."
    if folder.name not in (share.run, share.folder_name):  # merged elsewhere
        into = shell_command(["--into", folder.as_posix()])
        return f"{which} To add others, run: mfbench merge STORE... {into}"
    pattern = share_folder_name(share.run, share.kind, "*", share.of)
    start, end = (folder.parent / pattern).as_posix().rsplit("*-of-", 1)
    return f"{which} To join all shards, run: mfbench merge {shell_command([start])}*-of-{end}"


def which_share(share: RecordedShare, n_planned: int) -> str:
    """Return the first sentence of `remark_on_share`."""
    trials = f"{n_planned:,} of {share.n_trials:,} trials"
    if not share.kind:
        return f"A part of the run {share.run}: {trials}."
    noun = share.kind.capitalize() + ("s" if len(share.numbers) > 1 else "")
    return f"{noun} {listing(share.numbers)} of {share.of}: {trials}."
