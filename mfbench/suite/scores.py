"""The scores of trials: what each measures, and the properties that reports use.

This module is light on purpose: a suite is checked against it without importing what computes scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

_HERE = "mfbench.run.trial.metrics:"


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a score measures, and how it is reported."""

    # The place of the function that computes it from `mfbench.run.trial.metrics.Predictions`, and whether that needs
    # more than predicted class codes; its direction, whether it is printed in percent, and its range; whether it is the
    # share of decisions that are right, and whether each class is a decision of its own.

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
        """The smallest and the largest possible value; a score in percent is a share."""
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
"""Scores of a curve: the area under the first of the other scores, over the logarithm of the size and over the size."""
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
"""Scores of a round of generated data, in the order of the report."""
SCORES: dict[str, Score] = {**METRICS, **CURVE_METRICS, **DETECTION_METRICS}
"""Every score that a protocol can measure."""
