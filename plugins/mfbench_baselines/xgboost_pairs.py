"""Interactions in XGBoost: the gain of splits that follow a split on another feature."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._pairs import pair_matrix
from mfbench_baselines.classifiers import XGBoostClassifier


class XGBoostPairs(XGBoostClassifier):
    """XGBoost, with the gain that its trees owe to each pair of features.

    If a split on one feature directly follows a split on another feature and has the larger gain, that gain is added to
    the pair: the first split made the second worthwhile. A split with a smaller gain counts for no pair, since features
    that act independently also follow each other in trees, the weaker after the stronger.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds of boosting; each grows one tree per class (one in all for two classes).
    max_depth : int, default=6
        Maximum depth of a tree.
    learning_rate : float, default=0.3
        Shrinkage of each tree.
    min_child_weight : float, default=1.0
        Minimum sum of second derivatives in a leaf.
    subsample : float, default=1.0
        Share of the samples that each round uses, at random.
    colsample_bytree : float, default=1.0
        Share of the columns that each tree uses, at random.
    reg_lambda : float, default=1.0
        Strength of the L2 penalty on leaf values.
    n_jobs : int, default=1
        Threads.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    interaction_importances_ : ndarray of shape (n_features, n_features)
        Gains of pairs, as shares of the gain of all splits; symmetric, 0 on the diagonal. Not available with more than
        5000 features, because of its size.
    classes_, feature_importances_, model_, n_features_in_, feature_names_in_
        As in `XGBoostClassifier`.

    See Also
    --------
    mfbench_baselines.classifiers.XGBoostClassifier : The same trees, without the pairs.

    Notes
    -----
    Reading the trees takes time proportional to their size. A share does not measure significance: without any
    interaction, shares are small but not 0.

    References
    ----------
    T. Chen, C. Guestrin, "XGBoost: A scalable tree boosting system", KDD 2016.

    S. Karbowiak, P. Biecek, "EIX: Explain interactions in XGBoost", R package, 2018, where such pairs are called
    interactions.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.xgboost_pairs import XGBoostPairs
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> pairs = XGBoostPairs(n_estimators=30, random_state=0).fit(X, X[:, 0] * X[:, 2] > 0).interaction_importances_
    >>> [int(j) for j in np.unravel_index(pairs.argmax(), pairs.shape)]
    [0, 2]
    """

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        super()._fit_codes(X, codes)
        trees = self.model_.get_booster().get_dump(dump_format="json", with_stats=True)
        self._pair_gains = pair_gains([json.loads(tree) for tree in trees])

    @property
    def interaction_importances_(self) -> NDArray[np.float64]:
        """Gains of pairs, as shares of the gain of all splits, of shape (n_features, n_features)."""
        return pair_matrix(self, self._pair_gains)


def pair_gains(trees: list[Mapping[str, Any]]) -> dict[tuple[int, int], float]:
    """Return the gain of each pair of features as a share of the gain of all splits.

    Parameters
    ----------
    trees : list of mapping
        XGBoost's trees from its JSON dump with statistics; features are named f0, f1, ….

    Returns
    -------
    gains : dict from (int, int) to float
        The smaller index of each pair comes first.
    """
    total = 0.0
    gains: defaultdict[tuple[int, int], float] = defaultdict(float)
    for tree in trees:
        for split, parent in _splits(tree):
            total += split["gain"]
            if parent is None or parent["split"] == split["split"] or split["gain"] <= parent["gain"]:
                continue
            first, second = sorted(int(node["split"].removeprefix("f")) for node in (split, parent))
            gains[first, second] += split["gain"]
    return {pair: gain / total for pair, gain in gains.items()} if total > 0 else {}


def _splits(tree: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Yield each split of a tree with the split above it."""
    waiting: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]] = [(tree, None)]
    while waiting:
        node, parent = waiting.pop()
        if "children" in node:
            yield node, parent
            waiting.extend((child, node) for child in node["children"])
