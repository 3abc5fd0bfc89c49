"""The commands on histories: add a run, show the trends, merge two files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mfbench.cli.options import DEFAULT_OUT, Out, make_console, print_line
from mfbench.cli.streams import write_document

app = typer.Typer(
    help="Keep a history of measurements over the commits of a project, and find what changed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

History = Annotated[Path, typer.Option("--history", metavar="FILE", help="The history, an SQLite file.")]


@app.command("add")
def add(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, a folder of runs, or the name of a suite.")],
    history: History,
    commit: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="The measured commit. [default: that of the Git repository here]"),
    ] = None,
    out: Out = DEFAULT_OUT,
) -> None:
    """Add times, memory and scores of a run to a history, with commit, machine, versions and calibration."""
    from mfbench.api import find_run
    from mfbench_gate.api import track_run

    console = make_console()
    for sentence in track_run(find_run(run, out), history, commit=commit):
        print_line(console, sentence)


@app.command("show")
def show(
    history: History,
    method: Annotated[str, typer.Option(metavar="GLOB", help="Show only matching methods.")] = "*",
    dataset: Annotated[str, typer.Option(metavar="GLOB", help="Show only matching datasets.")] = "*",
    measure: Annotated[
        str,
        typer.Option(metavar="NAME", help="time, fit or predict (CPU seconds), wall, memory, or a metric."),
    ] = "time",
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show trends, changes, the commits between which they lie, and the commands that bisect."""
    from mfbench.report.render.json import HISTORY, to_json
    from mfbench_gate.api import trends_of
    from mfbench_gate.history.display import history_report, show_history

    trends = trends_of(history, measure=measure, method=method, dataset=dataset)
    report = history_report(str(history), measure, trends)
    if as_json:
        write_document(to_json(report, HISTORY))
    else:
        show_history(report, trends, make_console())


@app.command("merge")
def merge(
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="The history to add, which stays as it is.")],
    history: History,
) -> None:
    """Add everything of another history to a history."""
    from mfbench.base.wording import counted
    from mfbench_gate.api import merge_histories

    addition = merge_histories(other, history)
    print_line(
        make_console(),
        f"added {counted(addition.n_measurements, 'measurement')} of {counted(addition.n_runs, 'run')}; "
        f"{counted(addition.n_stored, 'measurement')} already there",
    )
