"""Expected distances under a learned W: of new rows, and of training samples left out of their own neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfbench_margin._quadratic.form import Form, Matrix
from mfbench_margin._quadratic.layout import NOT_STORED, TrainingPairs
from mfbench_margin._quadratic.prediction_kernels import expected_of_queries, expected_of_training


@dataclass(frozen=True)
class ExpectedQuadratic:
    """Expected distances to each class under a learned W.

    Attributes
    ----------
    pairs : TrainingPairs
    form : Form
        The learned W.
    sigma : float
        Softness.
    """

    pairs: TrainingPairs
    form: Form
    sigma: float

    def of_rows(self, X: Matrix) -> Matrix:
        """Return the expected distance of each row to each class, shape (n_rows, n_classes)."""
        pairs, form = self.pairs, self.form
        expected: Matrix = expected_of_queries(
            pairs.pad(X), pairs.columns, pairs.ends, form.matrix, form.triangular, self.sigma
        )
        return expected.T

    def of_training(self, stored: Matrix = NOT_STORED) -> Matrix:
        """Return those of the training samples in their original order, each left out of its own neighbours.

        Parameters
        ----------
        stored : ndarray
            Distances of all pairs under W, if they are stored.
        """
        pairs, form = self.pairs, self.form
        expected = expected_of_training(
            pairs.rows, pairs.columns, pairs.ends, form.matrix, form.triangular, stored, len(stored) > 0, self.sigma
        )
        in_order = np.empty((pairs.n, len(pairs.ends)))
        in_order[pairs.order] = expected.T
        return in_order
