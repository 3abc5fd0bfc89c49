"""One training/test pair of a dataset, and what the trials on it share: encoded columns, inner folds, selector fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.data.prepare import Columns, Encoder, Scale
from mfbench.errors import DataError
from mfbench.suite.protocols import stratified_splits
from mfbench.suite.seeds import derive_seed
from mfbench.trials import Interactions

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Where a fold stands among those made of it: () the outer one, (0,) its first inner one, ("class", 2) a problem.
FoldPath = tuple[str | int, ...]
OUTER: FoldPath = ()


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
    path : str
        Name of the fit that gave it, where one fit gives the weights for many values of a parameter.
    """

    weights: NDArray[np.float64]
    column_weights: NDArray[np.float64]
    wall: float
    cpu: float
    failure: tuple[str, str, str] | None = None
    interactions: Interactions | None = None
    path: str = ""


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
    tuning : (ndarray, ndarray) or None, default=None
        Rows that tuning fits on and rows that it scores; None for an inner cross-validation of the training rows.
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
        tuning: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
    ) -> None:
        self.X, self.y, self.columns, self.scale = X, y, columns, scale
        self.train, self.test = train, test
        self.inner_folds, self.seed, self.true_pairs = inner_folds, seed, true_pairs
        self.tuning = tuning
        self.selections: dict[str, Selection] = {}
        self.path_fits: dict[str, Any] = {}
        self.is_outer = True
        self._classes: dict[int, Fold] = {}

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

    @property
    def n_classes(self) -> int:
        """Number of classes of the dataset, whether or not the training rows have them all."""
        return int(self.y.max()) + 1

    @cached_property
    def fits_are_final(self) -> bool:
        """Whether what tuning fits is what is tested: a validation part is set aside and never trained on."""
        return self.tuning is not None and np.array_equal(self.tuning[0], self.train)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self.columns, self.scale).fit(self.raw_train)

    @cached_property
    def encoded(self) -> Encoded:
        """The rows imputed, encoded and scaled by what the training rows tell."""
        encoder = self._encoder
        train = encoder.transform(self.raw_train)
        # scikit-learn refuses to transform no rows, which is what a protocol that predicts nothing has.
        test = encoder.transform(self.X[self.test]) if len(self.test) else np.empty((0, train.shape[1]))
        return Encoded(train, test, encoder.groups_)

    @cached_property
    def inner(self) -> list[Fold]:
        """The folds that tune: the validation part if there is one, else the training rows split again.

        The number of parts of a cross-validation shrinks to the largest class's size. Where the fits of tuning are
        final, the inner fold has this fold's encoder and selector fits.
        """
        pairs = [self.tuning] if self.tuning is not None else self._cross_validation()
        folds = [
            Fold(self.X, self.y, self.columns, train, test, self.scale, self.inner_folds, self.seed)
            for train, test in pairs
        ]
        for fold in folds:
            fold.is_outer = self.is_outer and self.fits_are_final
            if self.fits_are_final:
                fold.selections, fold.path_fits, fold.true_pairs = self.selections, self.path_fits, self.true_pairs
                fold.__dict__["_encoder"] = self._encoder
        return folds

    def _cross_validation(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        y = self.y_train
        parts = min(self.inner_folds, int(np.bincount(y).max()))
        if parts < 2:
            raise DataError("tuning needs a class with at least two rows in the training part; leave 'tune' out")
        splits = stratified_splits(y, parts, derive_seed(self.seed, "inner"))
        return [(self.train[train], self.train[test]) for train, test in splits]

    def against_the_rest(self, code: int) -> Fold:
        """Return the fold of the problem "this class or another one": 1 stands for the class."""
        if code not in self._classes:
            y = (self.y == code).astype(np.int64)
            fold = Fold(
                self.X,
                y,
                self.columns,
                self.train,
                self.test,
                self.scale,
                self.inner_folds,
                self.seed,
                self.true_pairs,
                self.tuning,
            )
            fold.__dict__["_encoder"], fold.__dict__["encoded"] = self._encoder, self.encoded
            self._classes[code] = fold
        return self._classes[code]

    def _walk(self) -> Iterator[tuple[FoldPath, Fold]]:
        """Yield this fold and those made of it so far, each with its place. A fold that shares its fits is left out."""
        yield OUTER, self
        if "inner" in self.__dict__ and not self.fits_are_final:
            yield from (((position,), fold) for position, fold in enumerate(self.inner))
        for code, problem in self._classes.items():
            yield from ((("class", code, *path), fold) for path, fold in problem._walk())

    def _at(self, path: FoldPath) -> Fold:
        if not path:
            return self
        if path[0] == "class":
            return self.against_the_rest(int(path[1]))._at(path[2:])
        return self.inner[int(path[0])]

    def export(self, key: str) -> dict[tuple[FoldPath, str], Selection]:
        """Return the selector fits whose identity begins with `key`, of this fold and those made of it, to hand on."""
        return {
            (path, name): selection
            for path, fold in self._walk()
            for name, selection in fold.selections.items()
            if name.startswith(key)
        }

    def adopt(self, shared: dict[tuple[FoldPath, str], Selection]) -> None:
        """Take over selector fits that `export` of another worker's copy of this fold returned."""
        for (path, name), selection in shared.items():
            self._at(path).selections.setdefault(name, selection)
