"""The kinds of protocol as a suite file sees them: which keys each has, and what they are if the file does not say.

Light on purpose: reading a suite must not import what computes splits. A protocol's class in
`mfbench.suite.protocols` takes exactly the keys that stand here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SOUND, PUBLISHED = "sound", "published"
CLASSIFICATION_METRICS = (
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "mcc",
    "log_loss",
    "roc_auc",
    "one_vs_rest_accuracy",
)
# What the protocol ``ground-truth`` measures in each round, in the order of the report.
DETECTION_METRICS = ("area", "detection", "false_alarm", "fdp", "precision", "f1", "pair_detection")
# Keys that every kind has: how a trial is run and scored, not which rows it gets.
COMMON = ("kind", "form", "scale", "classes", "metrics", "grid_values", "timeout", "memory")


@dataclass(frozen=True)
class Kind:
    """What a suite may set for one kind of protocol.

    Attributes
    ----------
    sound : mapping of str to object
        Its keys, each with the value of the form ``sound``: the one to believe.
    published : mapping of str to object
        What differs in the form ``published``: as the papers did, to be comparable with what they print.
    profiles : mapping of str to mapping
        What the standard profiles ``quick`` and ``standard`` change.
    metrics : tuple of str
        Scores that ``metrics`` may name.
    predicts : bool, default=True
        Whether a classifier predicts test rows; otherwise a method is a selector alone.
    tunes : bool, default=True
        Whether methods may tune.
    """

    sound: Mapping[str, Any]
    published: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    metrics: tuple[str, ...] = CLASSIFICATION_METRICS
    predicts: bool = True
    tunes: bool = True

    def values(self, form: str) -> dict[str, Any]:
        """Return every key with its value in a form.

        Examples
        --------
        >>> KINDS["repeated-cv"].values("published")["selection"]
        'per-dataset'
        """
        return {**self.sound, **(self.published if form == PUBLISHED else {})}


KINDS: dict[str, Kind] = {
    "repeated-cv": Kind(
        sound={"folds": 10, "repeats": 1, "inner_folds": 5, "selection": "nested"},
        published={"repeats": 10, "selection": "per-dataset"},
        profiles={
            "quick": {"folds": 5, "repeats": 1, "inner_folds": 3},
            "standard": {"folds": 10, "repeats": 3, "inner_folds": 5},
        },
    ),
    "ground-truth": Kind(
        sound={"rounds": 100, "threshold": 1e-9, "metrics": list(DETECTION_METRICS)},
        published={"rounds": 20},
        profiles={"quick": {"rounds": 5}, "standard": {"rounds": 20}},
        metrics=DETECTION_METRICS,
        tunes=False,
        predicts=False,
    ),
    "nested-cv": Kind(
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
    ),
    "three-way": Kind(
        sound={"repeats": 30, "stratified": True, "refit": False},
        published={"repeats": 10, "stratified": False},
        profiles={"quick": {"repeats": 3}, "standard": {"repeats": 10}},
    ),
    "holdout": Kind(
        sound={"repeats": 30, "test_share": 1 / 3, "inner_folds": 10, "stratified": True, "selection": "nested"},
        published={"repeats": 10, "stratified": False},
        profiles={"quick": {"repeats": 3, "inner_folds": 3}, "standard": {"repeats": 10, "inner_folds": 5}},
    ),
    "timing": Kind(
        sound={"repeats": 5, "steps": 5},
        profiles={"quick": {"repeats": 2, "steps": 3}, "standard": {"repeats": 3, "steps": 4}},
        tunes=False,
    ),
}
