"""Cross-validation of the penalty: which selection along a path predicts held-out rows best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.model_selection import KFold

from mfbench_relevance._kernel.views import indicators
from mfbench_relevance._task import Task
from mfbench_relevance.kernels import Kernel

Matrix = NDArray[np.float64]
REFIT_BINS = 10
RIDGE = 5.0


@dataclass(frozen=True)
class Curve:
    """Held-out losses of a path.

    Attributes
    ----------
    losses : ndarray of shape (n_folds, n_values)
        Mean loss in each fold; penalties decrease from left to right.
    """

    losses: Matrix

    def best(self, one_standard_error: bool) -> int:
        """Return the position of the smallest mean loss, or of the first within one standard error of it.

        Examples
        --------
        >>> import numpy as np
        >>> curve = Curve(np.array([[4.0, 2.0, 1.5], [4.0, 3.0, 2.5], [4.0, 2.0, 2.5]]))
        >>> curve.best(False), curve.best(True)
        (2, 1)
        """
        mean = self.losses.mean(axis=0)
        smallest = int(np.argmin(mean))
        if not one_standard_error:
            return smallest
        error = self.losses[:, smallest].std(ddof=1) / np.sqrt(len(self.losses))
        return int(np.flatnonzero(mean <= mean[smallest] + error)[0])


def cross_validate(
    task: Task,
    loss: str,
    n_folds: int,
    random: np.random.RandomState,
    kernel_of: Callable[[NDArray[np.intp]], Kernel],
    paths: Callable[[Kernel], NDArray[np.float64]],
) -> Curve:
    """Return the held-out losses of paths of weights.

    Parameters
    ----------
    task : Task
    loss : {"refit", "kernel"}
        "refit" is the squared error of an additive model fitted to the features of nonzero weight; "kernel" is the
        distance of the response from the prediction in the kernel of the held-out rows.
    n_folds : int
        Number of folds; limited to the number of rows.
    random : RandomState
        Shuffles the rows.
    kernel_of : callable
        Takes rows and returns their kernel.
    paths : callable
        Takes a kernel and returns weights of shape (n_targets, n_values, n_features).

    Returns
    -------
    Curve
    """
    losses = []
    folds = KFold(min(n_folds, len(task.X)), shuffle=True, random_state=random)
    for train, test in folds.split(task.X):
        weights = paths(kernel_of(train))
        if loss == "kernel":
            losses.append(_kernel_losses(kernel_of(test), weights))
        else:
            losses.append(refit_losses(task, train, test, (weights != 0).any(axis=0)))
    return Curve(np.array(losses))


def _kernel_losses(held_out: Kernel, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return :math:`k_{yy} - 2 w^T k + w^T K w` for every point of the path, summed over targets."""
    total = np.zeros(weights.shape[1])
    for w, k, kyy in zip(weights, held_out.cross, held_out.target, strict=True):
        total += kyy - 2 * w @ k + ((w @ held_out.features) * w).sum(axis=1)
    return total


def refit_losses(
    task: Task, train: NDArray[np.intp], test: NDArray[np.intp], supports: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the held-out squared error of an additive model of each set of features.

    The model is ridge regression (penalty 5) of the centred response, or of the indicators of the classes, on the
    indicators of 10 bins of equal frequency per feature.

    Parameters
    ----------
    task : Task
    train, test : ndarray of int
        Rows to learn from, and rows to predict.
    supports : ndarray of bool, shape (n_values, n_features)

    Returns
    -------
    ndarray of shape (n_values,)

    Notes
    -----
    Time O(min(n, d)³) for each distinct set, where d is 10 times its number of features.
    """
    y = indicators(task.y, task.n_classes) if task.n_classes else np.asarray(task.y, dtype=np.float64)[:, None]
    centre = y[train].mean(axis=0)
    used = np.flatnonzero(supports.any(axis=0))
    learning, held_out = _indicator_tables(task.X[np.ix_(train, used)], task.X[np.ix_(test, used)])
    model = _Additive(learning, y[train] - centre)
    loss_of_set: dict[bytes, float] = {}
    losses = np.empty(len(supports))
    for i, support in enumerate(supports[:, used]):
        key = support.tobytes()
        if key not in loss_of_set:
            columns = np.repeat(support, REFIT_BINS)
            predicted = centre + held_out[:, columns] @ model.coefficients(columns)
            loss_of_set[key] = float(((y[test] - predicted) ** 2).sum(axis=1).mean())
        losses[i] = loss_of_set[key]
    return losses


class _Additive:
    """Ridge regression on subsets of the columns of one table, whose products are computed once."""

    def __init__(self, table: Matrix, target: Matrix) -> None:
        self.table, self.target = table, target
        self.few = table.shape[1] <= 2 * len(table)
        if self.few:
            self.gram, self.products = table.T @ table, table.T @ target

    def coefficients(self, columns: NDArray[np.bool_]) -> Matrix:
        """Return the coefficients of some columns, from the smaller of the two systems of equations."""
        if not columns.any():
            return np.zeros((0, self.target.shape[1]))
        primal = self.few and columns.sum() <= len(self.table)
        if primal:
            inner = self.gram[np.ix_(columns, columns)]
            right = self.products[columns]
        else:
            part = self.table[:, columns]
            inner, right = part @ part.T, self.target
        inner[np.diag_indices_from(inner)] += RIDGE
        solved: Matrix = cho_solve(cho_factor(inner, lower=True, overwrite_a=True, check_finite=False), right)
        return solved if primal else part.T @ solved


def _indicator_tables(X: Matrix, others: Matrix) -> tuple[Matrix, Matrix]:
    """Return one 0/1 column per feature and bin, for X and for other rows; the bins come from X."""
    cuts = np.quantile(X, np.arange(1, REFIT_BINS) / REFIT_BINS, axis=0)
    tables = []
    for rows in (X, others):
        codes = np.empty(rows.shape, dtype=np.int64)
        for j in range(rows.shape[1]):
            codes[:, j] = np.searchsorted(cuts[:, j], rows[:, j], side="right")
        table = np.zeros((*rows.shape, REFIT_BINS))
        np.put_along_axis(table, codes[:, :, None], 1.0, axis=2)
        tables.append(table.reshape(len(rows), -1))
    return tables[0], tables[1]
