"""The kinds of protocol in a suite file: the keys of each kind and their defaults.

This module is deliberately light: reading a suite must not import the code that computes splits. The class of a
protocol in `mfbench.suite.protocols` accepts exactly the keys listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench.model.specs import Score

CURVE_METRICS: dict[str, Score] = dict.fromkeys(("area", "area_linear"), Score(percent=False))
"""Scores of a curve: the area under the first metric, over the logarithm of the size and over the size."""
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
SOUND, PUBLISHED = "sound", "published"
# Keys of every kind: they determine how a trial is run and scored, not its rows.
COMMON = ("kind", "form", "scale", "classes", "metrics", "grid_values", "timeout", "memory")


@dataclass(frozen=True)
class TrialKind:
    """How the trials of a protocol run."""

    resolver: str  # import path of the function that resolves a method
    runner: str  # import path of the `mfbench.run.trial.curve.TrialRunner`
    predicts: bool  # whether test rows are predicted, so that every method needs a classifier


# Fits a method on training rows and predicts test rows.
PREDICTION = TrialKind("mfbench.suite.resolve:resolve_predictor", "mfbench.run.trial.curve:PredictionRunner", True)
# Fits a selector on generated data and compares the selected features with the truth.
DETECTION = TrialKind("mfbench.suite.resolve:resolve_detector", "mfbench.run.trial.detection:DetectionRunner", False)


@dataclass(frozen=True)
class Kind:
    """A kind of protocol: the keys that a suite may set, and how its trials run."""

    place: str  # import path of its class, whose constructor takes the keys
    sound: Mapping[str, Any]  # its keys with their values in the form `sound`, the recommended practice
    # Values that differ in the form `published`, which reproduces the papers' measurements.
    published: Mapping[str, Any] = field(default_factory=dict)
    # Changes by the standard profiles `quick` and `standard`.
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: tuple[str, ...] = ("accuracy", "balanced_accuracy")  # the value of `metrics` if a suite does not set it
    # Scores of its own, which `metrics` may list; one that predicts also has the metrics that plugins register.
    scores: Mapping[str, Score] = field(default_factory=lambda: CURVE_METRICS)
    task: TrialKind = PREDICTION  # how its trials run
    tunes: bool = True  # whether methods may tune
    draws_curves: bool = True  # whether methods may be scored at several numbers of features
    samples: bool = True  # whether training rows may be sampled
    times: bool = False  # whether it measures times, which are comparable only if measured together
    # The type of resampling for which the level of the tests was measured: "folds", or random "thirds" or "splits".
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
        return {"metrics": list(self.metrics), **self.sound, **(self.published if form == PUBLISHED else {})}


KINDS: dict[str, Kind] = {
    "repeated-cv": Kind(
        "mfbench.suite.protocols:RepeatedCV",
        sound={"folds": 10, "repeats": 1, "inner_folds": 5, "selection": "nested", "splitter": None},
        published={"repeats": 10, "selection": "per-dataset"},
        profiles={
            "quick": {"folds": 5, "repeats": 1, "inner_folds": 3},
            "standard": {"folds": 10, "repeats": 3, "inner_folds": 5},
        },
        resampling="folds",
    ),
    "nested-cv": Kind(
        "mfbench.suite.protocols:NestedCV",
        sound={
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
    "three-way": Kind(
        "mfbench.suite.protocols:ThreeWay",
        sound={"repeats": 30, "stratified": True, "refit": False},
        published={"repeats": 10, "stratified": False},
        profiles={"quick": {"repeats": 3}, "standard": {"repeats": 10}},
        resampling="thirds",
    ),
    "holdout": Kind(
        "mfbench.suite.protocols:Holdout",
        sound={
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
    "timing": Kind(
        "mfbench.suite.protocols:Timing",
        sound={"repeats": 5, "steps": 5},
        profiles={"quick": {"repeats": 2, "steps": 3}, "standard": {"repeats": 3, "steps": 4}},
        scores={},
        tunes=False,
        draws_curves=False,
        samples=False,
        times=True,
    ),
    "ground-truth": Kind(
        "mfbench.suite.protocols:GroundTruth",
        sound={"rounds": 100, "threshold": 1e-9},
        published={"rounds": 20},
        profiles={"quick": {"rounds": 5}, "standard": {"rounds": 20}},
        metrics=tuple(DETECTION_METRICS),
        scores=DETECTION_METRICS,
        task=DETECTION,
        tunes=False,
        draws_curves=False,
        samples=False,
    ),
}
