"""``mfbench export``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from mfbench.base.console import make_console, print_line
from mfbench.cli.options import DEFAULT_OUT, Out, Text


class Form(StrEnum):
    """What a run can be exported to."""

    PARQUET = "parquet"
    SQLITE = "sqlite"
    OPENML = "openml"
    MLFLOW = "mlflow"


def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run folder, a folder of runs, a bundle, or the name of a suite.")
    ],
    to: Annotated[Form, typer.Option("--to", help="The form.")],
    output: Annotated[
        Text,
        typer.Option(
            "--output",
            "-o",
            metavar="PLACE",
            help="The folder; the file for sqlite; for mlflow the tracking URI. "
            "[default: SUITE-PROFILE-FORM here; for mlflow its own setting]",
        ),
    ] = None,
    out: Out = DEFAULT_OUT,
) -> None:
    """Write a run for other tools: tables as Parquet files or in one SQLite file, or as runs of OpenML or MLflow."""
    from pathlib import Path

    from mfbench.api.request import find_run

    exported = find_run(run, out)
    place = Path(output or f"{exported.meta.name}-{exported.meta.profile}-{to}")
    console = make_console()
    match to:
        case Form.PARQUET:
            from mfbench_export.tables import write_parquet

            lines = write_parquet(exported, place)
        case Form.SQLITE:
            from mfbench_export.tables import write_sqlite

            lines = write_sqlite(
                exported, place if output else place.with_name(f"{place.name.rpartition('-')[0]}.sqlite")
            )
        case Form.OPENML:
            from mfbench_export.openml_runs import write_openml

            lines = write_openml(exported, place)
        case Form.MLFLOW:
            from mfbench_export.mlflow_runs import log_mlflow

            lines = log_mlflow(exported, output)
    for line in lines:
        print_line(console, line)
