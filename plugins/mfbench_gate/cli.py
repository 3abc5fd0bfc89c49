"""Options of the commands that compare two versions, and their shared ending: show, write, exit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from mfbench.base.console import make_console, print_line
from mfbench.base.text import plain
from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.options import DEFAULT_OUT, Add, DataDir, Offline, Only, Out, Part
from mfbench_gate.comparison import Comparison


class Undecided(StrEnum):
    """The effect of undecided cells on the exit code."""

    FAIL = "fail"
    OK = "ok"


Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="MEASURE=NUMBER",
        help="What counts as worse: a ratio of time or memory, a difference of a metric. Can be repeated, or separated "
        "by commas. [default: time=1.05,memory=1.1, and 0.01 of every metric]",
    ),
]
Level = Annotated[float, typer.Option("--level", metavar="PROBABILITY", help="Probability of any false alarm.")]
UndecidedCells = Annotated[
    Undecided,
    typer.Option("--undecided", metavar="ok|fail", help="Whether undecided cells are accepted: exit code 0 or 5."),
]
_AS_JSON = Annotated[bool, typer.Option("--json", help="Write JSON to the terminal instead of the table.")]
_FILES = {
    "markdown": "Write Markdown, for a job summary or a pull-request comment.",
    "junit": "Write JUnit XML.",
    "pytest_benchmark": "Write the times as JSON of pytest-benchmark.",
    "github_action_benchmark": "Write the head as JSON of github-action-benchmark (customSmallerIsBetter).",
    "bencher": "Write the head in Bencher Metric Format (JSON).",
}


def with_outputs(command: Callable[..., Comparison]) -> Callable[..., None]:
    """Add output options to a command, which then shows its comparison, writes the files and exits with its exit code.

    Parameters
    ----------
    command : callable
        Takes the command's own options and returns a comparison.
    """

    @wraps(command)
    def run(*, as_json: bool, **words: Any) -> None:
        from mfbench.report.render.terminal import show
        from mfbench_gate.api import write_formats
        from mfbench_gate.display import comparison_report, to_json

        files = {name: words.pop(name) for name in _FILES}
        comparison = command(**words)
        outlive_output()
        if as_json:
            write_document(to_json(comparison))
        else:
            show(comparison_report(comparison), make_console())
        write_formats(comparison, files)
        raise typer.Exit(comparison.exit_code)

    option = partial(Parameter, kind=Parameter.KEYWORD_ONLY)
    outputs = [option("as_json", default=False, annotation=_AS_JSON)]
    for name, text in _FILES.items():
        kind = Annotated[Path | None, typer.Option(metavar="FILE", help=text)]
        outputs.append(option(name, default=None, annotation=kind))
    own = signature(command, eval_str=True).parameters.values()
    run.__signature__ = Signature([*own, *outputs])  # type: ignore[attr-defined]
    return run


_RESULT = "A run folder, a folder of runs, the name of a suite, a bundle, or a JSON file of pytest-benchmark"


@with_outputs
def compare(
    base: Annotated[str, typer.Argument(metavar="A", help=f"{_RESULT}.")],
    head: Annotated[str, typer.Argument(metavar="B", help="The other result, of the same kind.")],
    limit: Limit = None,
    level: Level = 0.05,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB", help="Compare only matching datasets and methods, or benchmarks. Can be repeated."
        ),
    ] = None,
    undecided: UndecidedCells = Undecided.FAIL,
    out: Out = DEFAULT_OUT,
) -> Comparison:
    """Compare two stored results: judge scores on the same folds, and show times and memory as a trend."""
    from mfbench_gate.api import compare_results

    accepted = undecided is Undecided.OK
    return compare_results(base, head, limits=limit or (), level=level, only=only or (), undecided_ok=accepted, out=out)


_SIDE = "A revision as git:REVISION (git:merge-base: where HEAD left the main branch), or a Python interpreter"


@with_outputs
def gate(
    base: Annotated[str, typer.Argument(metavar="BASE", help=f"{_SIDE}.")],
    head: Annotated[str, typer.Argument(metavar="HEAD", help="The other version, in the same form.")],
    suite: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Name of an installed suite, or path of a .toml file.")
    ],
    profile: Annotated[
        str | None, typer.Option(help="Profile of the suite; 'gate' if the suite defines it, else its default.")
    ] = None,
    part: Part = None,
    only: Only = None,
    add: Add = None,
    budget: Annotated[
        str, typer.Option(metavar="DURATION", help="Time for all measurements: a number with s, m or h.")
    ] = "10m",
    limit: Limit = None,
    level: Level = 0.05,
    clock: Annotated[
        str, typer.Option(metavar="cpu|wall", help="The time that is judged: of the processor, or elapsed.")
    ] = "cpu",
    undecided: UndecidedCells = Undecided.FAIL,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> Comparison:
    """Measure two versions of a package in turns, and exit with 4 if the head is slower, larger or predicts worse."""
    from mfbench_gate.api import gate as run

    return run(
        base,
        head,
        suite,
        profile=profile,
        part=part,
        only=only or (),
        add=add or (),
        limits=limit or (),
        level=level,
        budget=budget,
        clock=clock,
        data_dir=data_dir,
        offline=offline,
        undecided_ok=undecided is Undecided.OK,
        say=lambda sentence: print(f"gate: {plain(sentence)}", file=sys.stderr, flush=True),  # noqa: T201
    )


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
    from mfbench.api.request import find_run
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
    from mfbench.report.render.files import HISTORY, to_json
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
    from mfbench.base.text import counted
    from mfbench_gate.api import merge_histories

    addition = merge_histories(other, history)
    print_line(
        make_console(),
        f"added {counted(addition.n_measurements, 'measurement')} of {counted(addition.n_runs, 'run')}; "
        f"{counted(addition.n_stored, 'measurement')} already there",
    )
