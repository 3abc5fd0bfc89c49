"""One training/test pair of a dataset, and what the trials on it share: encoded columns, inner folds, selector fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mfbench.data.prepare import Columns, Encoder, Scale
from mfbench.errors import DataError
from mfbench.models import Interactions
from mfbench.suite.protocols import stratified_splits
from mfbench.suite.seeds import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

OUTER = -1


@dataclass(frozen=True)
class Selection:
    """What a fitted selector said, and what it cost; or how it failed.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        Importance of each original feature.
    column_weights : ndarray of shape (n_encoded,)
        Importance of each encoded column.
    wall, cpu : float
        Seconds of the fit.
    failure : tuple of (type, message, traceback) or None
        Set if the fit raised; every method that shares the fit shares the failure.
    interactions : Interactions or None
        What it said of pairs, on the outer fold.
    """

    weights: NDArray[np.float64]
    column_weights: NDArray[np.float64]
    wall: float
    cpu: float
    failure: tuple[str, str, str] | None = None
    interactions: Interactions | None = None


@dataclass(frozen=True)
class Encoded:
    """Encoded rows of a fold.

    Attributes
    ----------
    train, test : ndarray of shape (n_rows, n_encoded)
    groups : ndarray of shape (n_encoded,)
        The feature that each column comes from.
    """

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    groups: NDArray[np.intp]


class Fold:
    """Training and test rows of a dataset. Nothing here ever learns from the test rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Unencoded columns of the whole dataset.
    y : ndarray of shape (n_samples,)
        Class codes.
    columns : Columns
        Which columns are categories.
    train, test : ndarray of int
        Row indices.
    scale : {"standard", "range", "none"}
        Scaling of numeric columns.
    inner_folds : int
        Parts of the inner cross-validation.
    seed : int
        Seed of the inner shuffle; equal for all methods.
    true_pairs : tuple of (int, int), default=()
        Pairs of features known to act together: kept in the record of what a method says, shown to no method.
    """

    def __init__(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.int64],
        columns: Columns,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        scale: Scale,
        inner_folds: int,
        seed: int,
        true_pairs: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.X, self.y, self.columns, self.scale = X, y, columns, scale
        self.train, self.test = train, test
        self.inner_folds, self.seed, self.true_pairs = inner_folds, seed, true_pairs
        self.selections: dict[str, Selection] = {}

    @property
    def y_train(self) -> NDArray[np.int64]:
        """Class codes of the training rows."""
        return self.y[self.train]

    def target(self, *, numbers: bool) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return what a selector is fitted to: numbers where it takes them and there are any, else class codes."""
        return self.y_train

    @property
    def y_test(self) -> NDArray[np.int64]:
        """Class codes of the test rows."""
        return self.y[self.test]

    @property
    def raw_train(self) -> NDArray[np.float64]:
        """Unencoded training rows."""
        return self.X[self.train]

    @cached_property
    def encoded(self) -> Encoded:
        """The rows imputed, encoded and scaled by what the training rows tell."""
        raw = self.raw_train
        encoder = Encoder(self.columns, self.scale).fit(raw)
        train = encoder.transform(raw)
        # scikit-learn refuses to transform no rows, which is what a protocol that predicts nothing has.
        test = encoder.transform(self.X[self.test]) if len(self.test) else np.empty((0, train.shape[1]))
        return Encoded(train, test, encoder.groups_)

    @cached_property
    def inner(self) -> list[Fold]:
        """The inner folds: training rows split again. The number of parts shrinks to the largest class's size."""
        y = self.y_train
        parts = min(self.inner_folds, int(np.bincount(y).max()))
        if parts < 2:
            raise DataError("tuning needs a class with at least two rows in the training part; leave 'tune' out")
        splits = stratified_splits(y, parts, derive_seed(self.seed, "inner"))
        return [
            Fold(
                self.X,
                self.y,
                self.columns,
                self.train[train],
                self.train[test],
                self.scale,
                self.inner_folds,
                self.seed,
            )
            for train, test in splits
        ]

    def export(self, key: str) -> dict[tuple[int, str], Selection]:
        """Return the selector fits whose identity begins with `key`, of this fold and its inner folds, to hand on."""
        folds = [(OUTER, self), *(enumerate(self.inner) if "inner" in self.__dict__ else ())]
        return {
            (position, name): selection
            for position, fold in folds
            for name, selection in fold.selections.items()
            if name.startswith(key)
        }

    def adopt(self, shared: dict[tuple[int, str], Selection]) -> None:
        """Take over selector fits that `export` of another worker's copy of this fold returned."""
        for (position, name), selection in shared.items():
            fold = self if position == OUTER else self.inner[position]
            fold.selections.setdefault(name, selection)
