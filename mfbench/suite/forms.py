"""The kinds of protocol in a suite file: the keys of each kind and their default values.

This module is light on purpose: reading a suite must not import the code that computes splits. The class of a protocol
in `mfbench.suite.protocols` accepts exactly the keys listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench.suite.scores import CURVE_METRICS, DETECTION_METRICS, METRICS

SOUND, PUBLISHED = "sound", "published"
# Keys of every kind: they determine how a trial is run and scored, not its rows.
COMMON = ("kind", "form", "scale", "classes", "metrics", "grid_values", "timeout", "memory")


@dataclass(frozen=True)
class Task:
    """How the trials of a protocol run."""

    resolver: str  # place of the function that looks up a method
    runner: str  # place of the `mfbench.run.trial.runner.TrialRunner`
    predicts: bool  # whether test rows are predicted, so that every method needs a classifier


# Fits a method on training rows and predicts test rows.
PREDICTION = Task("mfbench.suite.resolve:resolve_predictor", "mfbench.run.trial.prediction:PredictionRunner", True)
# Fits a selector on generated data and compares its features with the truth.
DETECTION = Task("mfbench.suite.resolve:resolve_detector", "mfbench.run.trial.detection:DetectionRunner", False)


@dataclass(frozen=True)
class Kind:
    """What a suite may set for one kind of protocol, and what sets its kind apart."""

    place: str  # that of its class, whose constructor takes the keys
    sound: Mapping[str, Any]  # its keys, each with its value in the form `sound`, which measures as one should
    # The values that differ in the form `published`, which repeats the measurements of the papers.
    published: Mapping[str, Any] = field(default_factory=dict)
    # What the standard profiles `quick` and `standard` change.
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: tuple[str, ...] = (*METRICS, *CURVE_METRICS)  # scores that `metrics` may name
    task: Task = PREDICTION  # how its trials run
    tunes: bool = True  # whether methods may tune
    draws_curves: bool = True  # whether methods may be scored at several numbers of features
    samples: bool = True  # whether the training rows may be sampled
    times: bool = False  # whether it measures times, which compare only if they were measured together
    # What the parts are for which the level of tests was measured: "folds", or random "thirds" or "splits".
    resampling: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys of its table in a suite."""
        optional = {"curve": self.draws_curves, "max_rows": self.samples}
        return (*self.sound, *COMMON, *(key for key, is_possible in optional.items() if is_possible))

    @property
    def predicts(self) -> bool:
        """Whether test rows are predicted, so that every method needs a classifier."""
        return self.task.predicts

    def values(self, form: str) -> dict[str, Any]:
        """Return every key with its value in a form."""
        return {**self.sound, **(self.published if form == PUBLISHED else {})}


KINDS: dict[str, Kind] = {
    "repeated-cv": Kind(
        "mfbench.suite.protocols.repeated_cv:RepeatedCV",
        sound={"folds": 10, "repeats": 1, "inner_folds": 5, "selection": "nested"},
        published={"repeats": 10, "selection": "per-dataset"},
        profiles={
            "quick": {"folds": 5, "repeats": 1, "inner_folds": 3},
            "standard": {"folds": 10, "repeats": 3, "inner_folds": 5},
        },
        resampling="folds",
    ),
    "nested-cv": Kind(
        "mfbench.suite.protocols.nested_cv:NestedCV",
        sound={
            "folds": 5,
            "repeats": 1,
            "validation_share": 0.2,
            "stratified": True,
            "refit": True,
            "decisions": "multi-class",
        },
        published={"stratified": False, "refit": False, "decisions": "one-vs-rest"},
        profiles={"quick": {"repeats": 1}, "standard": {"repeats": 3}},
        resampling="folds",
    ),
    "three-way": Kind(
        "mfbench.suite.protocols.three_way:ThreeWay",
        sound={"repeats": 30, "stratified": True, "refit": False},
        published={"repeats": 10, "stratified": False},
        profiles={"quick": {"repeats": 3}, "standard": {"repeats": 10}},
        resampling="thirds",
    ),
    "holdout": Kind(
        "mfbench.suite.protocols.holdout:Holdout",
        sound={"repeats": 30, "test_share": 1 / 3, "inner_folds": 10, "stratified": True, "selection": "nested"},
        published={"repeats": 10, "stratified": False},
        profiles={"quick": {"repeats": 3, "inner_folds": 3}, "standard": {"repeats": 10, "inner_folds": 5}},
        resampling="splits",
    ),
    "timing": Kind(
        "mfbench.suite.protocols.timing:Timing",
        sound={"repeats": 5, "steps": 5},
        profiles={"quick": {"repeats": 2, "steps": 3}, "standard": {"repeats": 3, "steps": 4}},
        metrics=tuple(METRICS),
        tunes=False,
        draws_curves=False,
        samples=False,
        times=True,
    ),
    "ground-truth": Kind(
        "mfbench.suite.protocols.ground_truth:GroundTruth",
        sound={"rounds": 100, "threshold": 1e-9, "metrics": list(DETECTION_METRICS)},
        published={"rounds": 20},
        profiles={"quick": {"rounds": 5}, "standard": {"rounds": 20}},
        metrics=tuple(DETECTION_METRICS),
        task=DETECTION,
        tunes=False,
        draws_curves=False,
        samples=False,
    ),
}
