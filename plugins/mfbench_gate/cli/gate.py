"""The command ``mfbench gate``, which measures two versions in one job."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from mfbench.base.untrusted import plain
from mfbench.cli.options import Add, DataDir, Offline, Only, Part
from mfbench_gate.cli.options import Level, Limit, Undecided, UndecidedCells, with_outputs
from mfbench_gate.comparison import Comparison

_SIDE = "A revision as git:REVISION (git:merge-base for that of HEAD and the main branch), or a Python interpreter"


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
