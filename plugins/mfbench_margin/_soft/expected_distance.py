"""Classification by expected distance, for all learners with soft neighbours, whatever their distance.

A learner derives from `ExpectedDistanceClassifier`, sets ``classes_`` and ``sigma_`` in `fit`, and defines
`_expected_distances`; labels, scores and probabilities follow from them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import TOO_LARGE, ScoreClassifier


class ExpectedDistanceClassifier(ScoreClassifier):
    r"""Base class of classifiers that predict the class with the smallest expected distance.

    With q the learned distance, the samples of class c are neighbours of x with probabilities that decrease with q,

    .. math:: E_c(x) = \sum_{n \in c} a_n^c\, q(x, x_n), \qquad
              a_n^c = \frac{e^{-q(x, x_n) / \sigma}}{\sum_{k \in c} e^{-q(x, x_k) / \sigma}}.

    Attributes
    ----------
    sigma_ : float
        Softness in units of the distance, set by `fit`.
    classes_ : ndarray of shape (n_classes,)
        Class labels, set by `fit`.
    """

    sigma_: float

    @abstractmethod
    def _expected_distances(self, X: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return E, of shape (n_samples, n_classes).

        X holds checked rows; None stands for the training samples in the order passed to `fit`, none of which is its
        own neighbour. For a class that this leaves without neighbours, E is infinite.
        """

    def expected_distances(self, X: Any = None) -> NDArray[np.float64]:
        """Return the expected distance to the neighbours in each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            Samples. None for the training samples, each left out of its own neighbours; otherwise its distance 0 to
            itself would dominate.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In units of the learned distance, at least 0. Infinite between a training sample that is alone in its class
            and that class.

        Raises
        ------
        ValueError
            If X is so far away that distances overflow.
        """
        check_is_fitted(self)
        return self._expected_distances(None) if X is None else self._distances_of(self._check_rows(X))

    def predict_training(self) -> NDArray[Any]:
        """Return the classes of the training samples, each predicted from all others with the learned weights.

        Returns
        -------
        ndarray of shape (n_training_samples,)
            Class labels, in the order of the samples passed to `fit`.

        Notes
        -----
        The sample that is left out took part in learning the weights: the error is optimistic.
        """
        nearest = self.expected_distances().argmin(axis=1)
        labels: NDArray[Any] = self.classes_[nearest]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        r"""Return a softmax of the negative expected distances, :math:`e^{-E_c / \sigma}` normalised.

        These numbers rank classes as `predict` does but are not calibrated: predictions with a share of 0.9 are not
        right in nine cases out of ten.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1.
        """
        distances = self.expected_distances(X)
        # Differences are divided, not distances: the quotient may overflow to infinity, but never becomes NaN.
        with np.errstate(over="ignore"):
            scaled = (distances - distances.min(axis=1, keepdims=True)) / self.sigma_
        shares: NDArray[np.float64] = softmax(-scaled, axis=1)
        return shares

    def _scores(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return -self._distances_of(X)

    def _distances_of(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E of checked rows; reject rows so far away that distances overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            distances = self._expected_distances(X)
        if not np.isfinite(distances).all():
            raise ValueError(TOO_LARGE)
        return distances
