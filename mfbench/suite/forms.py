"""The kinds of protocol in a suite file: the keys of each kind and their defaults.

This module is deliberately light: reading a suite must not import the code that computes splits. The class of a
protocol in `mfbench.suite.protocols` accepts exactly the keys listed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

_HERE = "mfbench.run.trial.metrics:"


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a score measures, and how it is reported."""

    # Import path of the function that computes it from `mfbench.run.trial.metrics.Predictions`, and whether that needs
    # more than predicted class codes; its direction, whether it is shown in percent, and its range; whether it is the
    # share of correct decisions, and whether each class is a decision of its own.

    place: str = ""
    needs_scores: bool = False
    greater_is_better: bool = True
    percent: bool = True
    lowest: float = -math.inf
    highest: float = math.inf
    counts_decisions: bool = False
    is_one_vs_rest: bool = False

    @property
    def function(self) -> Callable[[Any], float]:
        """The function at `place`."""
        function: Callable[[Any], float] = resolve_name(self.place)
        return function

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and largest possible value; a percentage is a share of one."""
        return (0.0, 1.0) if self.percent else (self.lowest, self.highest)


METRICS: dict[str, Score] = {
    "accuracy": Score(place=f"{_HERE}accuracy", counts_decisions=True),
    "balanced_accuracy": Score(place=f"{_HERE}balanced_accuracy"),
    "f1_macro": Score(place=f"{_HERE}f1_macro"),
    "mcc": Score(place=f"{_HERE}mcc", percent=False, lowest=-1.0, highest=1.0),
    "log_loss": Score(place=f"{_HERE}log_loss", needs_scores=True, greater_is_better=False, percent=False, lowest=0.0),
    "roc_auc": Score(place=f"{_HERE}roc_auc", needs_scores=True),
    "one_vs_rest_accuracy": Score(place=f"{_HERE}one_vs_rest_accuracy", counts_decisions=True, is_one_vs_rest=True),
}
"""Scores of predictions."""
CURVE_METRICS: dict[str, Score] = dict.fromkeys(("area", "area_linear"), Score(percent=False))
"""Scores of a curve: the area under the first other metric, over the logarithm of the size and over the size."""
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
SCORES: dict[str, Score] = {**METRICS, **CURVE_METRICS, **DETECTION_METRICS}
"""All scores of any protocol."""


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
    metrics: tuple[str, ...] = (*METRICS, *CURVE_METRICS)  # scores allowed in `metrics`
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
        return {**self.sound, **(self.published if form == PUBLISHED else {})}


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
        metrics=tuple(METRICS),
        tunes=False,
        draws_curves=False,
        samples=False,
        times=True,
    ),
    "ground-truth": Kind(
        "mfbench.suite.protocols:GroundTruth",
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
