"""The protocol of ``mfbench select``, without which its suites cannot be read. Importing this module stays cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench import ProtocolSpec, hookimpl

if TYPE_CHECKING:
    from mfbench import Run, Section


@hookimpl
def mfbench_protocols() -> list[ProtocolSpec]:
    """Return the protocol of this package."""
    return [
        ProtocolSpec(
            name="select",
            summary="Cross-validation of many pipelines on one table, for an interval of the best one's score",
            protocol="mfbench_select.suite:Select",
            keys={"folds": 5, "repeats": 5, "inner_folds": 3, "splitter": None},
            profiles={"quick": {"repeats": 1}, "standard": {"repeats": 3}},
            draws_curves=False,
            samples=False,
            compares=False,
        )
    ]


@hookimpl
def mfbench_report_sections(run: Run) -> list[Section]:
    """Return what a run of many pipelines on one table shows."""
    if run.protocol.kind != "select":
        return []
    from mfbench_select.report import sections_of

    return sections_of(run)
