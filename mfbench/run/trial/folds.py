"""One training/test pair of a dataset, and what its trials share: encoded columns, inner folds and selector fits."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.data.prepare import Columns, Encoder, Scale
from mfbench.data.structure import check_parts
from mfbench.errors import DataError
from mfbench.model.specs import Features
from mfbench.model.trials import Interactions
from mfbench.run.trial.guard import Stopwatch, shared
from mfbench.suite.methods import count_of
from mfbench.suite.protocols import derive_seed, sampled, stratified_splits
from mfbench.suite.search import sample_size
from mfbench.suite.splitters import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The path from the outer fold: () is the outer fold itself, (0,) its first inner fold, ("rows", 30, 0) a sample of
# that, ("class", 2) the one-vs-rest problem of class 2.
FoldPath = tuple[str | int, ...]
OUTER: FoldPath = ()


@dataclass(frozen=True)
class Selection:
    """The weights of a fitted selector and the cost of its fit, or the fit's failure."""

    weights: NDArray[np.float64]  # importance of each original feature
    column_weights: NDArray[np.float64]  # importance of each encoded column
    wall: float  # wall, cpu: seconds of the fit
    cpu: float
    # Set if the fit raised; all methods that share the fit share the failure.
    failure: tuple[str, str, str] | None = None
    interactions: Interactions | None = None  # its weights of feature pairs, on the outer fold
    path: str = ""  # name of the underlying fit, if one fit yields the weights for many values of a parameter
    is_set: bool = False  # whether the positive weights only mark a set, without information on the other features


# Selector fits that a trial makes available to others of its fold, by fold and selector expression.
SharedFits = dict[tuple[FoldPath, str], Selection]


@dataclass(frozen=True)
class Encoded:
    """The encoded rows of a fold; read-only, because trials share them."""

    train: Features
    test: Features
    groups: NDArray[np.intp]  # the original feature of each column


class Fold:
    """Training and test rows of a dataset. Nothing is ever learned from the test rows."""

    def __init__(
        self,
        X: Features,
        y: NDArray[Any],
        columns: Columns,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        scale: Scale,
        inner_folds: int,
        seed: int,
        true_pairs: tuple[tuple[int, int], ...] = (),
        tuning: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
        structure: Structure | None = None,
        *,
        encoder: Encoder | None = None,
        encoded: Encoded | None = None,
        weights: NDArray[np.float64] | None = None,
        strata: NDArray[np.int64] | None = None,  # what stratified parts preserve the shares of; the classes if None
    ) -> None:
        check_parts(weights, (train, test))
        self.strata = y if strata is None else strata
        self.X, self.y, self.columns, self.scale = X, y, columns, scale
        self.train, self.test = train, test
        self.inner_folds, self.seed, self.true_pairs = inner_folds, seed, true_pairs
        self.tuning, self.structure, self.weights = tuning, structure, weights
        self.selections: dict[str, Selection] = {}
        self.path_fits: dict[str, tuple[Any, Stopwatch] | None] = {}
        self.is_outer = True
        self._encoder, self._encoded = encoder, encoded
        self._inner: list[Fold] = []
        self._sampled: dict[int, list[Fold]] = {}
        self._classes: dict[int, Fold] = {}

    @property
    def y_train(self) -> NDArray[Any]:
        """Targets of the training rows."""
        return self.y[self.train]

    def target(self, *, numbers: bool) -> NDArray[Any]:
        """Return the y that a selector is fitted on; some folds have numbers for those that accept them."""
        return self.y_train

    @property
    def y_test(self) -> NDArray[Any]:
        """Targets of the test rows."""
        return self.y[self.test]

    def weights_of(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Return the weights of some rows; None if rows have none."""
        return None if self.weights is None else self.weights[rows]

    @property
    def raw_train(self) -> Features:
        """Unencoded training rows."""
        return self.X[self.train]

    @property
    def n_classes(self) -> int:
        """Number of classes of the dataset, also of those without a training row; 0 if the targets are numbers."""
        return int(self.y.max()) + 1 if self.y.dtype.kind == "i" else 0

    @cached_property
    def fits_are_final(self) -> bool:
        """Whether the fits of tuning are tested directly: validation rows are set aside and never used for training."""
        return self.tuning is not None and np.array_equal(self.tuning[0], self.train)

    @property
    def encoder(self) -> Encoder:
        """The encoder that imputes, encodes and scales, fitted on the training rows."""
        return self._encoder or self._fit_encoder(self.raw_train)

    def _fit_encoder(self, rows: Features) -> Encoder:
        self._encoder = Encoder(self.columns, self.scale).fit(rows)
        return self._encoder

    @property
    def encoded(self) -> Encoded:
        """The rows imputed, encoded and scaled by `encoder`."""
        if self._encoded is None:
            rows = self.raw_train  # a copy of nearly the whole table, made once for both uses
            encoder = self._encoder or self._fit_encoder(rows)
            train = encoder.transform(rows)
            # scikit-learn cannot transform an empty array, and a protocol without predictions has no test rows.
            test = encoder.transform(self.X[self.test]) if len(self.test) else np.empty((0, train.shape[1]))
            self._encoded = Encoded(shared(train), shared(test), encoder.groups_)
        return self._encoded

    @property
    def inner(self) -> list[Fold]:
        """The folds for tuning: the validation part if there is one, else splits of the training rows."""
        # Cross-validation has fewer parts if the largest class has fewer rows. If the fits of tuning are final, the
        # inner fold shares this fold's encoder and selector fits.
        if not self._inner:
            pairs = [self.tuning] if self.tuning is not None else self._cross_validation()
            self._inner = [self._inner_fold(train, test, final=self.fits_are_final) for train, test in pairs]
        return self._inner

    def sampled(self, rows: int) -> list[Fold]:
        """Return the inner folds with as large a share of their training rows as so many rows are of this fold's."""
        # Smaller samples are parts of larger ones. Tested are all rows that the inner folds test.
        if rows >= len(self.train):
            return self.inner
        if rows not in self._sampled:
            self._sampled[rows] = [self._inner_fold(self._sample(fold, rows), fold.test) for fold in self.inner]
        return self._sampled[rows]

    def _sample(self, inner: Fold, rows: int) -> NDArray[np.intp]:
        strata = self.strata[inner.train]
        size = sample_size(len(strata), rows, len(self.train), len(np.unique(strata)))
        return sampled(inner.train, strata, size, derive_seed(self.seed, "halving"))

    def _inner_fold(self, train: NDArray[np.intp], test: NDArray[np.intp], *, final: bool = False) -> Fold:
        fold = Fold(
            self.X,
            self.y,
            self.columns,
            train,
            test,
            self.scale,
            self.inner_folds,
            self.seed,
            self.true_pairs if final else (),
            encoder=self.encoder if final else None,
            weights=self.weights,
            strata=self.strata,
        )
        fold.is_outer = self.is_outer and final
        if final:
            fold.selections, fold.path_fits = self.selections, self.path_fits
        return fold

    def _cross_validation(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        seed = derive_seed(self.seed, "inner")
        if self.structure is not None:
            pairs = self.structure.within(self.strata, self.train, self.inner_folds, seed)
            usable = [(train, test) for train, test in pairs if np.ptp(self.y[train])]  # early blocks may be constant
            if not usable:
                raise DataError("tuning needs inner folds that train on two values of the target; leave 'tune' out")
            return usable
        strata = self.strata[self.train]
        parts = min(self.inner_folds, int(np.bincount(strata).max()))
        if parts < 2:
            raise DataError("tuning needs a class with at least two rows in the training part; leave 'tune' out")
        splits = stratified_splits(strata, parts, seed)
        return [(self.train[train], self.train[test]) for train, test in splits]

    def against_the_rest(self, code: int) -> Fold:
        """Return the fold of a one-vs-rest problem, in which class code 1 is the given class."""
        if code not in self._classes:
            self._classes[code] = Fold(
                self.X,
                (self.y == code).astype(np.int64),
                self.columns,
                self.train,
                self.test,
                self.scale,
                self.inner_folds,
                self.seed,
                self.true_pairs,
                self.tuning,
                self.structure,
                encoder=self.encoder,
                encoded=self.encoded,
                weights=self.weights,
            )
        return self._classes[code]

    def _walk(self) -> Iterator[tuple[FoldPath, Fold]]:
        """Yield this fold and the folds derived from it so far, with their paths, except folds that share its fits."""
        yield OUTER, self
        if not self.fits_are_final:
            yield from (((position,), fold) for position, fold in enumerate(self._inner))
        for rows, folds in self._sampled.items():
            yield from ((("rows", rows, position), fold) for position, fold in enumerate(folds))
        for code, problem in self._classes.items():
            yield from ((("class", code, *path), fold) for path, fold in problem._walk())

    def _at(self, path: FoldPath) -> Fold:
        if not path:
            return self
        if path[0] == "class":
            return self.against_the_rest(int(path[1]))._at(path[2:])
        folds = self.sampled(int(path[1])) if path[0] == "rows" else self.inner
        return folds[int(path[-1])]

    def export(self, key: str) -> SharedFits:
        """Return the selector fits of this fold and its derived folds whose name starts with `key`."""
        return {
            (path, name): selection
            for path, fold in self._walk()
            for name, selection in fold.selections.items()
            if name.startswith(key)
        }

    def adopt(self, shared: SharedFits) -> None:
        """Add selector fits that `export` returned for another worker's copy of this fold."""
        for (path, name), selection in shared.items():
            self._at(path).selections.setdefault(name, selection)


def check_finite(weights: NDArray[np.float64], owner: str, groups: NDArray[np.intp], columns: Columns) -> None:
    """Reject NaN and infinite weights; otherwise the next step would fail and get the blame."""
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        first = columns.describe(int(groups[wrong[0]]))
        others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ValueError(
            f"{owner} gave the importance {weights[wrong[0]]} to {first}{others}: importances must be finite numbers"
        )


def ranking(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the features by decreasing weight; ties go to the lower index."""
    return np.argsort(-weights, kind="stable")


def choose(weights: NDArray[np.float64], top: str | int | float) -> NDArray[np.int64]:
    """Return the features that a rule keeps, in ascending order."""
    order = ranking(weights)
    count = int((weights > 0).sum()) if top == "positive" else count_of(top, len(weights))
    return np.sort(order[: max(1, count)]).astype(np.int64)


def within_set(weights: NDArray[np.float64], selected: NDArray[np.int64], owner: str) -> NDArray[np.int64]:
    """Return the features kept by a rule that belong to the set selected by a selector."""
    size = int((weights > 0).sum())
    if len(selected) > size:
        warn_of_end(weights, owner)
    elif len(selected) < size and len(np.unique(weights[weights > 0])) == 1:
        warnings.warn(f"{owner} selects {size} features in no order: 'top' takes the first ones of these", stacklevel=2)
    return selected[weights[selected] > 0]


def warn_of_end(weights: NDArray[np.float64], owner: str) -> None:
    """Warn that a selector provides no features beyond its set."""
    size = int((weights > 0).sum())
    text = f"{owner} selects {size} of {len(weights)} features and ranks no others: 'top' and curves end there"
    warnings.warn(text, stacklevel=2)


def metric_weights(weights: NDArray[np.float64], distance: str = "euclidean") -> NDArray[np.float64]:
    """Return the scale factors of a weighted distance; all ones if no weight is positive."""
    positive = np.maximum(weights, 0.0)
    if not positive.any():
        return np.ones_like(positive)
    # Divided by the largest first: the scale of a metric is arbitrary, and an importance may be as large as a double
    # permits.
    relative: NDArray[np.float64] = positive / positive.max()
    return np.sqrt(relative) if distance == "euclidean" else relative
