"""The base class of all classifiers by similarity: problems, prediction and margins.

A classifier distinguishes all classes with one matrix, or each class from the rest with a matrix of its own. Its `fit`
builds a table of the training rows and, for every problem, a list of matrices with weights: one matrix, or several that
vote.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from mfbench_learners.estimators import CheckedRowsMixin, class_codes, find_targets
from mfbench_similarity._nearest.lists import RULES, against_rest, by_class, leads, nearest, scores
from mfbench_similarity._nearest.table import Compare, Matrix, Table, bilinear, prepare

MODES = ("multiclass", "one-vs-rest")
# A weight and a matrix (p, p), a diagonal (p,), or None for the identity.
Voters = list[tuple[float, Matrix | None]]


class SimilarityClassifier(CheckedRowsMixin, ClassifierMixin, BaseEstimator):
    """Base class of classifiers that predict by the most similar training rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "rule": [StrOptions(set(RULES))],
        "mode": [StrOptions(set(MODES))],
    }

    n_neighbors: int
    rule: str
    mode: str
    classes_: NDArray[Any]
    _table: Table
    _voters: list[Voters]

    def _check_training(self, X: Any, y: Any) -> tuple[Matrix, NDArray[np.int64]]:
        """Return X as float64 and y as codes; set ``classes_`` and ``n_skipped_``.

        Raises
        ------
        ValueError
            If X holds NaN or infinity, y has fewer than two classes, or every sample is alone in its class.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        codes = class_codes(self, y)
        find_targets(self, codes)
        return X, codes

    @property
    def _n_problems(self) -> int:
        """Number of matrices to learn; with two classes, one-vs-rest is a single problem too."""
        return len(self.classes_) if self.mode == "one-vs-rest" and len(self.classes_) > 2 else 1

    def _problem_name(self, problem: int) -> str:
        return "" if self._n_problems == 1 else f" for class {self.classes_.tolist()[problem]!r} against the rest"

    def _compare(self, A: Matrix | None) -> Compare:
        """Return the function that compares rows, as `_queries` returns them, with the training rows."""
        return bilinear(self._table, A)

    def _queries(self, X: Matrix) -> Matrix:
        """Return the rows to predict in the form that `_compare` takes."""
        return prepare(X, self._table.normalization)

    def _in_training_order(self, margins: list[Matrix]) -> Matrix:
        """Return margins of the sorted rows, one array per problem, as one array in the order of the samples."""
        in_order = [values[self._table.position] for values in margins]
        return in_order[0] if len(in_order) == 1 else np.column_stack(in_order)

    def decision_function(self, X: Any) -> Matrix:
        """Return a score for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, the score of ``classes_[1]`` minus that of ``classes_[0]``. With more classes, a column
            for each: in mode "multiclass", `predict` returns the class of the largest score; in mode "one-vs-rest", a
            positive score means that the sample belongs to this class rather than to the rest. With rule "knn-a",
            scores are votes plus or minus at most 1/4 for the similarity. With "sknn-a", they are mean similarities
            (or, in mode "one-vs-rest" or with two classes, differences of these) divided by the Frobenius norm of the
            matrix. If several matrices vote, scores are shares of the votes.

        Notes
        -----
        Time O(m n p + m p²) for m rows and each matrix.
        """
        rows = self._queries(self._check_rows(X))
        two = len(self.classes_) == 2
        decisions = self._against_rest(rows) if self._n_problems > 1 or two else self._by_class(rows)
        return decisions[:, 1] if two else decisions

    def predict(self, X: Any) -> NDArray[Any]:
        """Return class labels.

        Among equally similar training rows, those with the lowest index count. Among classes with equal votes, the one
        with the larger summed similarity wins, then the one that comes first in ``classes_``. In mode "one-vs-rest"
        with more than two classes, the class with the largest value of `decision_function` wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        decisions = self.decision_function(X)
        winners = (decisions > 0).astype(np.int64) if decisions.ndim == 1 else decisions.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def predict_one_vs_rest(self, X: Any) -> NDArray[np.bool_]:
        """Return, for each class, whether a sample belongs to it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
            In mode "one-vs-rest", the decisions of the separate problems: a sample may belong to several classes or to
            none. In mode "multiclass", only the class that `predict` returns.
        """
        decisions = self.decision_function(X)
        if decisions.ndim == 1:
            return np.column_stack([decisions <= 0, decisions > 0])
        if self._n_problems > 1:
            return decisions > 0
        membership: NDArray[np.bool_] = decisions.argmax(axis=1)[:, None] == np.arange(decisions.shape[1])
        return membership

    def one_vs_rest_accuracies(self, X: Any, y: Any) -> Matrix:
        """Return, for each class, the share of samples for which membership is predicted correctly.

        The mean of these accuracies is not the accuracy of `predict`; it is at least as large if each sample gets one
        class: with K classes, predicting "no" throughout has a mean of 1 - 1/K.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        ndarray of shape (n_classes,)
        """
        truth = np.asarray(y)[:, None] == self.classes_
        accuracies: Matrix = (self.predict_one_vs_rest(X) == truth).mean(axis=0)
        return accuracies

    def _by_class(self, rows: Matrix) -> Matrix:
        """Return scores of all classes, which share one list of matrices."""
        decisions = np.empty((len(rows), len(self.classes_)))
        voters = self._voters[0]
        poll = np.zeros_like(decisions) if len(voters) > 1 else None
        for weight, A in voters:
            for lists in nearest(self._table, rows, self._compare(A), self.n_neighbors):
                votes, strengths = by_class(lists, self.rule)
                decisions[lists.block] = scores(votes, strengths / _size(A), self.rule)
            if poll is not None:
                poll[np.arange(len(poll)), decisions.argmax(axis=1)] += weight
        return decisions if poll is None else poll / poll.sum(axis=1, keepdims=True)

    def _against_rest(self, rows: Matrix) -> Matrix:
        """Return signed scores of each class against the rest, each by its own list of matrices.

        With two classes, the scores of the second are minus those of the first. If all problems share one matrix, all
        scores come from the same lists of neighbours. If several matrices vote for any class, all scores are shares.
        """
        if self._n_problems == 1 or len({id(voters) for voters in self._voters}) == 1:
            voters = self._voters[0]
            return self._shares(rows, voters) if len(voters) > 1 else self._leads(rows, voters[0][1])
        voted = any(len(voters) > 1 for voters in self._voters)
        return np.column_stack(
            [
                (self._shares(rows, voters) if voted else self._leads(rows, voters[0][1]))[:, problem]
                for problem, voters in enumerate(self._voters)
            ]
        )

    def _leads(self, rows: Matrix, A: Matrix | None) -> Matrix:
        """Return the lead of each class over the rest under one matrix."""
        decisions = np.empty((len(rows), len(self.classes_)))
        for lists in nearest(self._table, rows, self._compare(A), self.n_neighbors):
            votes, strengths = against_rest(lists, self.rule)
            decisions[lists.block] = leads(votes, strengths / _size(A), self.rule)
        return decisions

    def _shares(self, rows: Matrix, voters: Voters) -> Matrix:
        """Return the weighted mean of the votes of several matrices, 1 for a class and -1 for the rest."""
        poll = np.zeros((len(rows), len(self.classes_)))
        for weight, A in voters:
            poll += weight * np.where(self._leads(rows, A) > 0, 1.0, -1.0)
        return poll / sum(weight for weight, _ in voters)


def _size(A: Matrix | None) -> float:
    """Return the Frobenius norm of a matrix, which makes similarities comparable; 1 for the identity (None)."""
    return 1.0 if A is None else float(np.linalg.norm(A)) or 1.0
