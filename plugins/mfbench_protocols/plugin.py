"""The protocols that this plugin registers. Importing this module loads neither NumPy nor scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench import ProtocolSpec, Score, hookimpl

if TYPE_CHECKING:
    from mfbench import Run, Section

DETECTION_METRICS: dict[str, Score] = {
    "area": Score(percent=False),  # area under the curve of detection over false alarms, from the weights
    "detection": Score(percent=False),  # relevant features selected, over all relevant features
    "false_alarm": Score(percent=False, greater_is_better=False),  # irrelevant features selected, over all irrelevant
    # Irrelevant and relevant features selected, over all selected features; 0 if none is selected.
    "fdp": Score(percent=False, greater_is_better=False),
    "precision": Score(percent=False),
    "f1": Score(percent=False),  # harmonic mean of detection and precision
    "pair_detection": Score(percent=False),  # share of the t true pairs among the t pairs with the largest weights
}
"""Scores of a round of generated data, in report order."""


@hookimpl
def mfbench_protocols() -> list[ProtocolSpec]:
    """Return the protocols."""
    return [
        ProtocolSpec(
            name="repeated-cv",
            summary="Cross-validation, repeated with new shuffles",
            protocol="mfbench_protocols.splits:RepeatedCV",
            keys={"folds": 10, "repeats": 1, "inner_folds": 5, "selection": "nested", "splitter": None},
            published={"repeats": 10, "selection": "per-dataset"},
            profiles={
                "quick": {"folds": 5, "repeats": 1, "inner_folds": 3},
                "standard": {"folds": 10, "repeats": 3, "inner_folds": 5},
            },
            resampling="folds",
        ),
        ProtocolSpec(
            name="nested-cv",
            summary="Cross-validation that sets a share of each training part aside for tuning",
            protocol="mfbench_protocols.splits:NestedCV",
            keys={
                "folds": 5,
                "repeats": 1,
                "validation_share": 0.2,
                "stratified": True,
                "refit": True,
                "decisions": "multi-class",
                "splitter": None,
            },
            published={"stratified": False, "refit": False, "decisions": "one-vs-rest"},
            profiles={"quick": {"repeats": 1}, "standard": {"repeats": 3}},
            resampling="folds",
        ),
        ProtocolSpec(
            name="three-way",
            summary="Random thirds for training, tuning and testing",
            protocol="mfbench_protocols.splits:ThreeWay",
            keys={"repeats": 30, "stratified": True, "refit": False},
            published={"repeats": 10, "stratified": False},
            profiles={"quick": {"repeats": 3}, "standard": {"repeats": 10}},
            resampling="thirds",
        ),
        ProtocolSpec(
            name="holdout",
            summary="Random splits into a training and a test part",
            protocol="mfbench_protocols.splits:Holdout",
            keys={
                "repeats": 30,
                "test_share": 1 / 3,
                "inner_folds": 10,
                "stratified": True,
                "selection": "nested",
                "splitter": None,
            },
            published={"repeats": 10, "stratified": False},
            profiles={"quick": {"repeats": 3, "inner_folds": 3}, "standard": {"repeats": 10, "inner_folds": 5}},
            resampling="splits",
        ),
        ProtocolSpec(
            name="timing",
            summary="Times at halves, quarters, eighths … of the rows and of the features",
            protocol="mfbench_protocols.splits:Timing",
            keys={"repeats": 5, "steps": 5},
            profiles={"quick": {"repeats": 2, "steps": 3}, "standard": {"repeats": 3, "steps": 4}},
            tunes=False,
            draws_curves=False,
            samples=False,
            times=True,
        ),
        ProtocolSpec(
            name="ground-truth",
            summary="Selected features compared with the truth, over rounds of generated data",
            protocol="mfbench_protocols.splits:GroundTruth",
            keys={"rounds": 100, "threshold": 1e-9},
            published={"rounds": 20},
            profiles={"quick": {"rounds": 5}, "standard": {"rounds": 20}},
            metrics=tuple(DETECTION_METRICS),
            scores=DETECTION_METRICS,
            runner="mfbench_protocols.detection:DetectionRunner",
            resolver="mfbench_protocols.detection:resolve_detector",
            predicts=False,
            tunes=False,
            draws_curves=False,
            samples=False,
        ),
    ]


@hookimpl
def mfbench_report_sections(run: Run) -> list[Section]:
    """Return what reports of these protocols begin with."""
    from mfbench_protocols.report import sections_of

    return sections_of(run)
