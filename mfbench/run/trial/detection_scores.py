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
    """Return the features that a rule selects, in ascending order; the result may be empty.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Importance of each feature.
    top : "positive", "relevant", "all", int or float
        "positive": those whose weight is above the threshold. "relevant": as many as there are relevant features, for
        selectors that only rank. A count or a fraction (rounded up) of the features. Rules that count take the largest
        weights first, whatever their sign, and among equal ones the lower index.
    threshold : float
        For "positive": a share of the largest absolute weight.
    n_relevant : int
        Number of relevant features.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> select_features(np.array([0.5, 1e-12, -0.2, 0.1]), "positive", 1e-9, 2)
    array([0, 3])
    >>> select_features(np.array([0.5, 1e-12, -0.2, 0.1]), "positive", 0.3, 2)
    array([0])
    >>> select_features(np.zeros(4), "positive", 1e-9, 2)
    array([], dtype=int64)
    """
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
    r"""Return how well the selected features agree with the relevant ones.

    With the selected features :math:`S`, the relevant ones :math:`R` and :math:`p` features, the detection rate is
    :math:`|S \cap R| / |R|`, the false-alarm rate :math:`|S \setminus R| / (p - |R|)`, the false discovery proportion
    :math:`|S \setminus R| / \max(1, |S|)`, the precision :math:`|S \cap R| / \max(1, |S|)` and F1 is
    :math:`2 |S \cap R| / (|S| + |R|)`. The area is `curve_area`.

    Parameters
    ----------
    selected : ndarray of int
        Indices.
    weights : ndarray of shape (n_features,)
        Importance of each feature.
    relevant : sequence of int
        Indices of the relevant features; at least one.

    Returns
    -------
    dict of str to float
        The false-alarm rate and the area are NaN if every feature is relevant.

    Examples
    --------
    >>> import numpy as np
    >>> detection_scores(np.array([0, 3]), np.array([0.9, 0.1, 0.2, 0.8]), [0, 1])
    {'detection': 0.5, 'false_alarm': 0.5, 'fdp': 0.5, 'precision': 0.5, 'f1': 0.5, 'area': 0.5}
    """
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
    """Return the area under the curve of detection rate over false-alarm rate as the threshold decreases.

    Features of equal weight enter together, along a straight line (the trapezoid rule). So the area is the probability
    that a relevant feature weighs more than an irrelevant one, ties counting one half: 0.5 for equal weights.

    Returns
    -------
    float
        NaN if every feature is relevant.

    Notes
    -----
    Takes O(p log p) time: the rank-sum form of J. A. Hanley, B. J. McNeil, Radiology 143(1):29-36, 1982.

    Examples
    --------
    >>> import numpy as np
    >>> curve_area(np.array([3.0, 1.0, 2.0, 1.0]), [0, 1])
    0.625
    """
    n_relevant, n_features = len(relevant), len(weights)
    if n_relevant == n_features:
        return float("nan")
    ranks = rankdata(weights)
    above = ranks[np.asarray(relevant)].sum() - n_relevant * (n_relevant + 1) / 2
    return float(above / (n_relevant * (n_features - n_relevant)))


def pair_detection(interactions: Interactions, true: Sequence[tuple[int, int]]) -> float:
    """Return the share of the t true pairs that are among the t pairs with the largest absolute weights.

    Ties count against the method: a true pair is detected if at most t pairs, including itself, weigh as much or more.

    Parameters
    ----------
    interactions : Interactions
        A method's weights of pairs, including the true pairs.
    true : sequence of (int, int)
        The true pairs; at least one.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Interactions(np.array([[0, 1], [1, 2]]), np.array([0.9, 0.1]), np.array([1, 3]), None, 1.0, 3)
    >>> pair_detection(pairs, [(1, 0), (1, 2)])
    0.5
    """
    ranks = zip(interactions.pairs, interactions.ranks, strict=True)
    rank_of = {(int(i), int(j)): int(rank) for (i, j), rank in ranks}
    hits = sum(rank_of[min(pair), max(pair)] <= len(true) for pair in true)
    return hits / len(true)
