"""The command ``mfbench power``, which says what a run can see and what it would need to see more."""

from __future__ import annotations

from typing import Annotated

import typer

from mfbench.cli.options import DEFAULT_OUT, AsJson, Metric, Out, Reference, make_console
from mfbench.cli.streams import write_document


def power(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run folder, a folder of runs, the name of a suite, or a bundle.")
    ],
    difference: Annotated[
        float,
        typer.Option(metavar="SIZE", help="True difference to find, in percentage points if the metric is a share."),
    ],
    probability: Annotated[
        float, typer.Option("--power", metavar="PROBABILITY", help="Probability with which to find it.")
    ] = 0.8,
    reference: Reference = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="LABEL", help="Compare only this method. Can be repeated.")
    ] = None,
    metric: Metric = None,
    as_json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> None:
    """Show which differences a run can find, and the repeats, rows or datasets that a smaller one needs."""
    from mfbench.api import find_run
    from mfbench.report.present import present_power

    text = present_power(
        find_run(run, out),
        difference,
        make_console(),
        power=probability,
        reference=reference,
        methods=method or (),
        metric=metric,
        as_json=as_json,
    )
    write_document(text)
