"""Base classes of selectors: input checks, a ranking of the columns, and a selection by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

from mfbench_learners.estimators import ImportanceSelectorMixin


class ImportanceSelector(ImportanceSelectorMixin, BaseEstimator, ABC):
    """A selector that ranks columns by `_importances`, which subclasses implement."""

    _takes_sparse: ClassVar[bool] = False
    # Types only: the range depends on X.
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_features_to_select": [Integral, None]}

    def __init__(self, *, n_features_to_select: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Score every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers. May be sparse if scikit-learn's tag of the selector says so.
        y : array-like of shape (n_samples,), default=None
            Class labels. A selector that uses `X` alone ignores them.

        Returns
        -------
        self : object
            The fitted selector.

        Raises
        ------
        ValueError
            If `X` or `y` is malformed, or a parameter is out of range.
        """
        self._validate_params()
        table: NDArray[np.float64]
        target: NDArray[Any] = np.empty(0)
        sparse = "csr" if self._takes_sparse else False
        if self.__sklearn_tags__().target_tags.required:
            table, labels = validate_data(self, X, y, dtype=np.float64, accept_sparse=sparse)
            target = self._target(labels)
        else:
            table = validate_data(self, X, dtype=np.float64, accept_sparse=sparse)
        self._check_n_features_to_select(table.shape[1])
        self.feature_importances_ = self._importances(table, target)
        return self

    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the target as `_importances` receives it: class codes 0 … n_classes - 1."""
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)[1]

    @abstractmethod
    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        """Return one number per column; larger means more relevant. y is empty for a selector that uses X alone."""


class SupervisedSelector(ImportanceSelector):
    """A selector that needs class labels: `_importances` receives them as codes 0 … n_classes - 1."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_classes(self, y: NDArray[Any]) -> None:
        """Reject class codes of a single class; numbers to predict pass."""
        if not are_numbers(y) and y.max() < 1:
            raise ValueError(f"{type(self).__name__} needs at least two classes; y has one class")


class NumberSelector(SupervisedSelector):
    """A selector that also accepts numbers to predict: `_importances` receives these, or class codes."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SupervisedSelector._parameter_constraints,
        "target": [StrOptions({"auto", "classes", "numbers"})],
    }

    target: str

    def _target(self, y: NDArray[Any]) -> NDArray[Any]:
        if self.target == "classes" or (self.target == "auto" and type_of_target(y) != "continuous"):
            return super()._target(y)
        numbers = y.astype(np.float64)
        if len(numbers) > 1 and np.ptp(numbers) == 0:
            raise ValueError(f"{type(self).__name__} needs at least two different numbers in y, n_samples = {len(y)}")
        return numbers


def are_numbers(y: NDArray[Any]) -> bool:
    """Return whether a target from `NumberSelector` consists of numbers, not of class codes."""
    return y.dtype.kind == "f"


def fitted(estimator: Any, X: NDArray[np.float64], y: NDArray[Any], seed: int) -> Any:
    """Fit a copy of an estimator, with a seed if it takes one."""
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    return model.fit(X, y)


def fitted_strength(selector: Any, X: NDArray[np.float64], y: NDArray[Any], seed: int) -> NDArray[np.float64]:
    """Fit a copy of a selector, and return the absolute importances of the features: for coefficients, the largest."""
    model = fitted(selector, X, y, seed)
    weights = model.feature_importances_ if hasattr(model, "feature_importances_") else model.coef_
    return np.asarray(np.abs(np.atleast_2d(np.asarray(weights, dtype=float))).max(axis=0))


def responses_of(y: NDArray[Any]) -> NDArray[np.float64]:
    """Return a target from `NumberSelector` as centred columns: the numbers, or an indicator of each class.

    Of two classes, one indicator says it all.
    """
    if are_numbers(y):
        columns = y[:, None].astype(np.float64)
    else:
        columns = (y[:, None] == np.arange(y.max() + 1)).astype(np.float64)
        columns = columns[:, 1:] if columns.shape[1] == 2 else columns
    centred: NDArray[np.float64] = columns - columns.mean(axis=0)
    return centred


def standardised(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the columns that vary with mean 0 and variance 1, and which these are."""
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    half = high[varies] / 2 - low[varies] / 2  # a difference could overflow
    Z = (X[:, varies] / 2 - low[varies] / 2) / half
    Z -= Z.mean(axis=0)
    spread = Z.std(axis=0)
    return Z / spread, varies


class GreedySelector(NumberSelector):
    """Selects features one by one; their importance decreases in that order, and is 0 for features not selected."""

    target = "classes"
    n_ranked: int

    def _check_count(self) -> None:
        if self.n_ranked < 1:
            raise ValueError(f"n_ranked must be at least 1; got {self.n_ranked!r}")

    @abstractmethod
    def _order(self, X: NDArray[np.float64], y: NDArray[np.intp]) -> list[int]:
        """Return the selected features, in order."""

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        self._check_count()
        order = self._order(X, np.asarray(y))
        importances = np.zeros(X.shape[1])
        importances[order] = 1.0 - np.arange(len(order)) / max(len(order), 1)
        self.order_ = np.array(order, dtype=np.intp)
        return importances
