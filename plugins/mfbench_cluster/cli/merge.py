"""The command ``mfbench merge``, which joins the shards of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mfbench.base.untrusted import shell_command
from mfbench.cli.options import make_console, print_line


def merge(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="Run folders, such as those of shards.")],
    into: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="Folder of the merged run; results are added to a run that it holds. [default: that of the whole run]",
        ),
    ] = None,
) -> None:
    """Merge runs of one suite: the shards of a run, or any runs whose results belong together.

    Versions, data or results that contradict each other are refused. Merging again changes nothing.
    """
    from mfbench.base.wording import counted
    from mfbench_cluster.api import merge_stores

    console = make_console()
    merged = merge_stores(stores, into)
    for remark in merged.remarks:
        print_line(console, remark)
    missing = merged.n_trials - merged.n_results
    state = f"{missing:,} of {merged.n_trials:,} trials have no result" if missing else "every trial has a result"
    print_line(console, f"Merged {counted(merged.n_stores, 'store')} into {merged.path}: {state}.")
    if merged.resume:
        print_line(console, f"To run what is missing: {merged.resume}")
    print_line(console, f"To show the report: {shell_command(['mfbench', 'report', str(merged.path)])}")
