"""Options that several commands share, and the console that they print to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT_OUT = Path("reports")

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder that holds all runs.")]
Strict = Annotated[bool, typer.Option("--strict", help="Fail if a plugin cannot be loaded, instead of warning.")]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="Mirror of datasets, searched first. [default: MFBENCH_DATA_DIR]"),
]
Offline = Annotated[bool, typer.Option("--offline", help="Do not use the network.")]
Profile = Annotated[
    str | None,
    typer.Option(help="Profile: quick, standard, full, or one that the suite defines. [default: the suite's]"),
]
Part = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Run only a part that the suite defines; 'mfbench suites' lists them."),
]
Only = Annotated[
    list[str] | None, typer.Option(metavar="GLOB", help="Run only matching datasets and methods. Can be repeated.")
]
Add = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METHOD",
        help="Add a method: 'LABEL = SELECTOR -> CLASSIFIER' or 'LABEL = CLASSIFIER'. Can be repeated.",
    ),
]
AddData = Annotated[
    list[str] | None, typer.Option(metavar="DATASET", help="Add a dataset, such as file:mine.csv. Can be repeated.")
]
AddedTarget = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="COLUMN", help="Label column of the datasets of --add-data. [default: the last one]"
    ),
]
Reference = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Method that the others are compared with. [default: the suite's]")
]
Metric = Annotated[
    str | None, typer.Option(metavar="NAME", help="Metric that the report shows. [default: the run's first]")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Seed = Annotated[int | None, typer.Option(help="Override the suite's seed.")]
MaxRows = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Sample the training rows of a fold if there are more than N. [default: the suite's]"
    ),
]
Target = Annotated[
    str | None, typer.Option(help="Label column of a file or repository. [default: the last one, or the repository's]")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Treat a numeric column of a file or repository as categorical. Can be repeated."
    ),
]


def make_console() -> Console:
    """Return the console that commands print to."""
    from mfbench.report.console import make_console

    return make_console()


def print_line(console: Console, text: str) -> None:
    """Print plain text on one line, however long it is."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
