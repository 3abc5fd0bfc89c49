"""Options of the commands that compare two versions, and the end that they share: show, write, exit."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbench.cli.options import make_console
from mfbench.cli.streams import outlive_output, write_document

if TYPE_CHECKING:
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
_AS_JSON = Annotated[bool, typer.Option("--json", help="Write JSON to the terminal instead of the table.")]
_FILES = {
    "markdown": "Write Markdown, for a job summary or a pull-request comment.",
    "junit": "Write JUnit XML.",
    "pytest_benchmark": "Write the times as JSON of pytest-benchmark.",
    "github_action_benchmark": "Write the head as JSON of github-action-benchmark (customSmallerIsBetter).",
    "bencher": "Write the head in Bencher Metric Format (JSON).",
}


def with_outputs(command: Callable[..., Comparison]) -> Callable[..., None]:
    """Give a command the options of the outputs: it shows its comparison, writes the files and ends with its exit code.

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
