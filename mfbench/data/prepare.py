"""Turn a dataset into arrays: restrict the classes of the whole dataset, then encode and scale per training part.

Fill values, categories, means and ranges are learned from training rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from mfbench.data.columns import class_counts, contiguous, units_of, with_classes
from mfbench.errors import DataError
from mfbench.model.specs import Dataset, Features

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scale = Literal["standard", "range", "none"]


def restrict_classes(dataset: Dataset, rule: Literal["all", "two-largest"]) -> Dataset:
    """Keep all classes or the two largest, renumbering the codes in their original order; numbers stay as they are."""
    if not dataset.n_classes:
        if np.ptp(dataset.y) == 0:
            raise DataError(f"dataset {dataset.name!r} has the target {dataset.y[0]:g} in all rows")
        return dataset
    counts = np.bincount(dataset.y, minlength=dataset.n_classes)
    present = np.flatnonzero(counts)
    if len(present) < 2:
        raise DataError(f"dataset {dataset.name!r} has rows of {len(present)} class only; a classifier needs two")
    kept = present
    if rule == "two-largest":
        kept = np.sort(present[np.argsort(-counts[present], kind="stable")[:2]])
    return with_classes(dataset, kept)


def dropped_classes(whole: Dataset, kept: Dataset) -> dict[str, int]:
    """Return the number of rows in each class dropped by `restrict_classes`."""
    return {name: count for name, count in class_counts(whole).items() if count and name not in kept.class_names}


@dataclass(frozen=True)
class Columns:
    """Column properties that the encoder needs, independent of the rows."""

    categorical: NDArray[np.bool_]  # True for categorical columns
    encoding: Literal["one-hot", "ordinal"] = "one-hot"  # encoding of categories
    missing: bool = False  # whether the dataset has missing values
    names: tuple[str, ...] = ()  # feature names for messages; empty if unnamed
    units: NDArray[np.intp] | None = None  # the unit of each feature if some are selected together

    @classmethod
    def of(cls, dataset: Dataset) -> Columns:
        """Return the columns of a dataset."""
        missing = not dataset.is_sparse and bool(np.isnan(dataset.X).any())
        return cls(dataset.categorical, dataset.encoding, missing, dataset.feature_names, units_of(dataset))

    def subset(self, features: NDArray[np.intp]) -> Columns:
        """Return the columns of a subset of the features."""
        names = tuple(self.names[index] for index in features) if self.names else ()
        units = None if self.units is None else np.unique(self.units[features], return_inverse=True)[1]
        return replace(self, categorical=self.categorical[features], names=names, units=units)

    @property
    def n_units(self) -> int:
        """Number of features, counting those that are selected together as one."""
        return len(self.categorical) if self.units is None else int(self.units.max()) + 1

    def by_unit(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of each unit: the largest among its features."""
        return weights if self.units is None else largest_of(weights, self.units, self.n_units)

    def features_of(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the features of some units, in ascending order."""
        return units if self.units is None else np.flatnonzero(np.isin(self.units, units)).astype(np.int64)

    def describe(self, feature: int) -> str:
        """Return a feature's name for messages ("feature 'alcohol'"), or its position if unnamed."""
        return f"feature {self.names[feature]!r}" if self.names else f"feature {feature + 1}"


def largest_of(weights: NDArray[np.float64], owners: NDArray[np.intp], n_owners: int) -> NDArray[np.float64]:
    """Return the largest weight of each owner, such as the feature that encoded columns belong to."""
    largest = np.full(n_owners, -np.inf)
    np.maximum.at(largest, owners, weights)
    return largest


class Encoder:
    """Impute, encode and scale; fitted on training rows."""

    # Missing numbers become the training median, missing categories the most frequent one. Categories become one-hot
    # columns (a single column for two categories; all zero for categories unseen in training) or their codes. Only
    # numbers are scaled; one-hot columns stay 0 and 1. Sparse columns are divided by their standard deviation or
    # largest absolute value and not shifted, so zeros stay zeros.

    def __init__(self, columns: Columns, scale: Scale) -> None:
        self.columns = columns
        self.scale = scale

    def fit(self, X: Features) -> Encoder:
        """Learn from training rows of shape (n_samples, n_features)."""
        one_hot = self.columns.categorical if self.columns.encoding == "one-hot" else np.zeros(X.shape[1], bool)
        self._numeric = np.flatnonzero(~one_hot)
        self._imputers = self._fit_imputers(X) if self.columns.missing else []
        X = self._impute(X)
        self._scaler = None
        if self.scale != "none" and len(self._numeric):
            shifts = isinstance(X, np.ndarray)  # not if they are sparse
            of_range = MinMaxScaler() if shifts else MaxAbsScaler()
            scaler = StandardScaler(with_mean=shifts) if self.scale == "standard" else of_range
            self._scaler = scaler.fit(X[:, self._numeric])
        categories = {feature: np.unique(X[:, feature]) for feature in np.flatnonzero(one_hot)}
        shown = [own[1:] if len(own) == 2 else own for own in categories.values()]
        self._categories = np.concatenate([np.zeros(0), *shown])
        self._nominal = np.repeat(np.flatnonzero(one_hot), [len(own) for own in shown])
        self.groups_ = np.concatenate([self._numeric, self._nominal])
        return self

    def transform(self, X: Features) -> Features:
        """Encode rows of shape (n_samples, n_features) as (n_samples, n_encoded)."""
        X = self._impute(X)
        numbers = X if not len(self._nominal) else X[:, self._numeric]
        if self._scaler is not None:
            numbers = self._scaler.transform(numbers)
        if not len(self._nominal):
            return contiguous(numbers)
        return np.hstack([numbers, X[:, self._nominal] == self._categories])

    def _fit_imputers(self, X: Features) -> list[tuple[NDArray[np.intp], Any]]:
        parts = [
            (np.flatnonzero(~self.columns.categorical), "median"),
            (np.flatnonzero(self.columns.categorical), "most_frequent"),
        ]
        return [
            (where, SimpleImputer(strategy=strategy, keep_empty_features=True).fit(X[:, where]))
            for where, strategy in parts
            if len(where)
        ]

    def _impute(self, X: Features) -> Features:
        if not self._imputers:
            return X
        filled = X.copy()
        for where, imputer in self._imputers:
            filled[:, where] = imputer.transform(X[:, where])
        return filled
