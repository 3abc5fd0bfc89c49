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


LEAKAGE_SCORES: dict[str, Score] = {
    "leaked": Score(percent=False),  # the first metric, with features selected on all rows before they are split
    "optimism": Score(percent=False),  # by how much that looks better than it is
}
"""Scores of a leaking trial, which belong in no comparison."""


@hookimpl
def mfbench_protocols() -> list[ProtocolSpec]:
    """Return the protocols of this package."""
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
        ProtocolSpec(
            name="leakage",
            summary="Cross-validation with features selected inside the training parts, and on all rows",
            protocol="mfbench_audit.leakage:Leakage",
            keys={"folds": 5, "repeats": 5, "inner_folds": 3, "splitter": None},
            profiles={"quick": {"repeats": 1}, "standard": {"repeats": 2}},
            metrics=("accuracy", *LEAKAGE_SCORES),
            scores=LEAKAGE_SCORES,
            runner="mfbench_audit.leakage:LeakageRunner",
            draws_curves=False,
            samples=False,
            compares=False,
        ),
    ]


@hookimpl
def mfbench_report_sections(run: Run) -> list[Section]:
    """Return the verdicts on the promises of a run's selectors, or the cost of leakage."""
    from mfbench_audit import leakage_report, report

    return [*report.sections_of(run), *leakage_report.sections_of(run)]
