"""The protocol of audits, without which their suites cannot be read. Importing this module loads no numeric library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench import ProtocolSpec, Score, hookimpl

if TYPE_CHECKING:
    from mfbench import Run, Section

_ERROR = Score(percent=False, greater_is_better=False)
AUDIT_SCORES: dict[str, Score] = {
    "power": Score(percent=False),  # relevant features selected, over all relevant features
    "fdr": _ERROR,  # irrelevant features selected, over all selected features; 0 if none is selected
    "fwer": _ERROR,  # 1 if an irrelevant feature is selected, else 0
    "pfer": _ERROR,  # number of irrelevant features selected
    "fpr": _ERROR,  # irrelevant features selected, over all irrelevant features
    "promise": _ERROR,  # the bound that the selector promises
}
"""Scores of a round: the power, the one error rate that the selector promises, and its bound."""


@hookimpl
def mfbench_protocols() -> list[ProtocolSpec]:
    """Return the protocol of audits."""
    return [
        ProtocolSpec(
            name="audit",
            summary="Errors of selectors that promise an error rate, over rounds of generated data",
            protocol="mfbench_audit.trial:Audit",
            keys={"rounds": 400},
            profiles={"quick": {"rounds": 50}, "standard": {"rounds": 200}},
            metrics=tuple(AUDIT_SCORES),
            scores=AUDIT_SCORES,
            runner="mfbench_audit.trial:AuditRunner",
            resolver="mfbench_audit.trial:resolve_audited",
            predicts=False,
            tunes=False,
            draws_curves=False,
            samples=False,
            compares=False,
        ),
    ]


@hookimpl
def mfbench_report_sections(run: Run) -> list[Section]:
    """Return the verdicts on the promises of a run's selectors."""
    from mfbench_audit.report import sections_of

    return sections_of(run)
