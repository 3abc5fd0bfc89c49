"""The section of a report on the methods that a race has dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench import hookimpl

if TYPE_CHECKING:
    from mfbench import Run, Section


@hookimpl
def mfbench_report_sections(run: Run) -> list[Section]:
    """Return which methods a race has dropped and when, and what that saved."""
    if not (run.path / "race.json").is_file():
        return []
    from mfbench_race.report import sections_of

    return sections_of(run)
