"""The command ``mfbench compare``, which compares two stored results."""

from __future__ import annotations

from typing import Annotated

import typer

from mfbench.cli.options import DEFAULT_OUT, Out
from mfbench_gate.cli.options import Level, Limit, Undecided, UndecidedCells, with_outputs
from mfbench_gate.comparison import Comparison

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
