"""Options of the commands that compare two versions, and the end that they share: show, write, exit."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from mfbench.cli.options import make_console
from mfbench.cli.streams import outlive_output, write_document

if TYPE_CHECKING:
    from mfbench_gate.api import OutputFiles
    from mfbench_gate.comparison import Comparison


class Undecided(StrEnum):
    """What undecided cells do to the exit code."""

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
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to the terminal instead of the table.")]
MarkdownFile = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE", help="Write Markdown, for a job summary or a pull-request comment."),
]
JUnitFile = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")]
PytestBenchmarkFile = Annotated[
    Path | None,
    typer.Option("--pytest-benchmark", metavar="FILE", help="Write the times as JSON of pytest-benchmark."),
]
GithubActionBenchmarkFile = Annotated[
    Path | None,
    typer.Option(
        "--github-action-benchmark",
        metavar="FILE",
        help="Write the head as JSON of github-action-benchmark (customSmallerIsBetter).",
    ),
]
BencherFile = Annotated[
    Path | None, typer.Option("--bencher", metavar="FILE", help="Write the head in Bencher Metric Format (JSON).")
]


def finish(comparison: Comparison, files: OutputFiles, *, as_json: bool) -> NoReturn:
    """Show a comparison, write the requested files and end with the exit code of the comparison.

    Parameters
    ----------
    comparison : Comparison
    files : OutputFiles
    as_json : bool
        Write JSON to standard output instead of the table.
    """
    from mfbench_gate.api import write_formats
    from mfbench_gate.display import show_comparison
    from mfbench_gate.formats.plain_json import to_json

    outlive_output()
    if as_json:
        write_document(to_json(comparison))
    else:
        show_comparison(comparison, make_console())
    write_formats(comparison, files)
    raise typer.Exit(comparison.exit_code)
