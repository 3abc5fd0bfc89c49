"""Nearest neighbours by the cosine or the Euclidean distance: the baselines of a learned similarity."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import StrOptions

from mfbench_similarity._classifier import SimilarityClassifier
from mfbench_similarity._nearest.lists import Pairs, find_pairs, margins
from mfbench_similarity._nearest.table import Compare, Matrix, Table, bilinear, build_table, nearness


class SimilarityKNN(SimilarityClassifier):
    """Classify by the most similar training rows, by cosine or by Euclidean distance; nothing is learned.

    These are the baselines of the similarity learners [1]_, with the same rules, modes and ties.

    Parameters
    ----------
    measure : {"cosine", "euclidean"}, default="cosine"
        Similarity: the cosine, or minus the Euclidean distance.
    n_neighbors : int, default=1
        Number k of neighbours used for prediction.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        As for `RBS`.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        Whether to distinguish all classes, or each class from the rest.

    Attributes
    ----------
    margins_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        As for `RBS`, under this similarity; computed on first access.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_skipped_ : int
        Number of training samples that are alone in their class and therefore have no margin.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, y has fewer than two classes, or every sample is alone in its class.

    Notes
    -----
    Time O(n p) to fit, O(m n p) to predict m rows; memory O(n p) and one block. The cosine of a row of zeros and any
    row is 0.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, table 2.

    Examples
    --------
    >>> from mfbench_similarity import SimilarityKNN
    >>> X, y = [[1.0, 0], [9, 1], [0, 1], [1, 9]], ["right", "right", "up", "up"]
    >>> SimilarityKNN().fit(X, y).predict([[2, 3], [300, 200]]).tolist()
    ['up', 'right']
    >>> SimilarityKNN("euclidean").fit(X, y).predict([[1, 3], [300, 200]]).tolist()
    ['up', 'right']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SimilarityClassifier._parameter_constraints,
        "measure": [StrOptions({"cosine", "euclidean"})],
    }

    def __init__(
        self, measure: str = "cosine", n_neighbors: int = 1, rule: str = "knn-a", mode: str = "multiclass"
    ) -> None:
        self.measure = measure
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.mode = mode

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> SimilarityKNN:
        """Store the training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        SimilarityKNN
            The fitted classifier.
        """
        X, codes = self._check_training(X, y)
        self._table = build_table(X, codes, "norms" if self.measure == "cosine" else "none")
        self._voters = [[(1.0, None)]] * self._n_problems
        self.__dict__.pop("margins_", None)
        return self

    @cached_property
    def margins_(self) -> Matrix:
        """Margins of the training samples."""
        table = self._table
        pairs = find_pairs(table, table.rows, self._compare(None), self.n_neighbors, self._n_problems)
        of_problem = _distance_margins if self.measure == "euclidean" else margins
        return self._in_training_order([of_problem(table, pairs, problem) for problem in range(self._n_problems)])

    def _compare(self, A: Matrix | None) -> Compare:
        return bilinear(self._table, A) if self.measure == "cosine" else nearness(self._table.rows, "euclidean")


def _distance_margins(table: Table, pairs: Pairs, problem: int) -> Matrix:
    """Return the summed distances of the misses that count minus those of the hits; NaN if none count."""
    rows, counts = table.rows, pairs.counts[problem]
    values = np.where(counts > 0, 0.0, np.nan)
    for q in range(pairs.hits.shape[2]):
        used = np.flatnonzero(counts > q)
        for sign, others in ((1.0, pairs.misses[problem]), (-1.0, pairs.hits[problem])):
            values[used] += sign * np.linalg.norm(rows[used] - rows[others[used, q]], axis=1)
    return values
