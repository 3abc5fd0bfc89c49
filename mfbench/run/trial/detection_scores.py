"""The features that a selector selects, and scores of their agreement with the relevant features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from mfbench.model.trials import Interactions
from mfbench.suite.curves import count_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def select_features(
    weights: NDArray[np.float64], top: str | int | float, threshold: float, n_relevant: int
) -> NDArray[np.int64]:
    """Return the features that a rule selects, in ascending order; the result may be empty."""
    if top == "all":
        return np.arange(len(weights), dtype=np.int64)
    if top == "positive":
        largest = np.abs(weights[np.isfinite(weights)]).max(initial=0.0)
        return np.flatnonzero(weights > threshold * largest).astype(np.int64)
    count = n_relevant if top == "relevant" else count_of(top, len(weights))
    return np.sort(np.argsort(-weights, kind="stable")[:count]).astype(np.int64)


def detection_scores(
    selected: NDArray[np.int64], weights: NDArray[np.float64], relevant: Sequence[int]
) -> dict[str, float]:
    """Return how well the selected features agree with the relevant ones."""
    # With the selected features S, the relevant ones R and p features, the detection rate is
    # |S \cap R| / |R|, the false-alarm rate |S \setminus R| / (p - |R|), the false discovery proportion
    # |S \setminus R| / \max(1, |S|), the precision |S \cap R| / \max(1, |S|) and F1 is :math:`2 |S \cap
    # R| / (|S| + |R|)`. The area is `curve_area`.
    n_features, n_relevant = len(weights), len(relevant)
    hits = int(np.isin(selected, np.asarray(relevant)).sum())
    alarms = len(selected) - hits
    irrelevant = n_features - n_relevant
    return {
        "detection": hits / n_relevant,
        "false_alarm": alarms / irrelevant if irrelevant else np.nan,
        "fdp": alarms / max(1, len(selected)),
        "precision": hits / max(1, len(selected)),
        "f1": 2.0 * hits / (len(selected) + n_relevant),
        "area": curve_area(weights, relevant),
    }


def curve_area(weights: NDArray[np.float64], relevant: Sequence[int]) -> float:
    """Return the area under the curve of detection rate over false-alarm rate as the threshold decreases."""
    # Features of equal weight enter together, along a straight line (the trapezoid rule). So the area is the
    # probability that a relevant feature weighs more than an irrelevant one, ties counting one half: 0.5 for equal
    # weights.
    #
    # Takes O(p log p) time: the rank-sum form of J. A. Hanley, B. J. McNeil, Radiology 143(1):29-36, 1982.
    n_relevant, n_features = len(relevant), len(weights)
    if n_relevant == n_features:
        return float("nan")
    ranks = rankdata(weights)
    above = ranks[np.asarray(relevant)].sum() - n_relevant * (n_relevant + 1) / 2
    return float(above / (n_relevant * (n_features - n_relevant)))


def pair_detection(interactions: Interactions, true: Sequence[tuple[int, int]]) -> float:
    """Return the share of the t true pairs that are among the t pairs with the largest absolute weights."""
    # Ties count against the method: a true pair is detected if at most t pairs, including itself, weigh as much or
    # more.
    ranks = zip(interactions.pairs, interactions.ranks, strict=True)
    rank_of = {(int(i), int(j)): int(rank) for (i, j), rank in ranks}
    hits = sum(rank_of[min(pair), max(pair)] <= len(true) for pair in true)
    return hits / len(true)
