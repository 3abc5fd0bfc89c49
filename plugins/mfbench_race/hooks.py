"""The hook of this package in a run: ``--race`` gives a plan stages, with fewer and fewer methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mfbench.host.hookspecs import hookimpl

if TYPE_CHECKING:
    from pathlib import Path

    from mfbench.api.request import Request
    from mfbench.host.registry import Registry
    from mfbench.suite.plan import Plan


@hookimpl(tryfirst=True)  # before `--shard` takes a part of the plan
def mfbench_part_of_plan(request: Request, plan: Plan, folder: Path, registry: Registry) -> Plan | None:
    """Return the plan of a race with the stages in which it runs."""
    if request.race is None:
        return None
    from dataclasses import replace

    from mfbench_race.stages import check, stages

    check(request, plan)
    return replace(plan, stages=partial(stages, plan, request.race), folder=f"{folder.name}-race-{request.race}")
