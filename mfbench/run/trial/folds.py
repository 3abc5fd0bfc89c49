"""One training/test pair of a dataset, and what its trials share: encoded columns, inner folds and selector fits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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


# Selector fits by fold and by selector with its parameters.
SharedFits = dict[tuple[FoldPath, str], Selection]


@dataclass(frozen=True)
class Encoded:
    """The rows of a fold, imputed, encoded and scaled; read-only, because trials share them."""

    train: Features
    test: Features
    encoder: Encoder  # fitted on the training rows

    @property
    def groups(self) -> NDArray[np.intp]:
        """The original feature of each column."""
        return self.encoder.groups_

    def tested_on(self, rows: Features) -> Encoded:
        """Return the same training rows with other test rows, given unencoded."""
        # scikit-learn cannot transform an empty array, and a protocol without predictions has no test rows.
        return replace(self, test=shared(self.encoder.transform(rows) if rows.shape[0] else self.train[:0]))


@dataclass(eq=False, repr=False)
class Fold:
    """Training and test rows of a dataset. Nothing is ever learned from the test rows."""

    X: Features
    y: NDArray[Any]
    columns: Columns
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    scale: Scale
    inner_folds: int
    seed: int
    true_pairs: Sequence[tuple[int, int]] = ()
    tuning: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
    structure: Structure | None = None
    weights: NDArray[np.float64] | None = None
    strata: NDArray[np.int64] | None = None  # codes whose shares stratified parts preserve; None for the classes
    is_outer: bool = True
    path: FoldPath = OUTER
    # Fits on this fold, on the one that it is derived from and on all folds derived from that.
    selections: SharedFits = field(default_factory=dict)
    path_fits: dict[tuple[FoldPath, str], tuple[Any, Stopwatch] | None] = field(default_factory=dict)
    _sampled: dict[int, list[Fold]] = field(default_factory=dict, init=False)
    _classes: dict[int, Fold] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check_parts(self.weights, (self.train, self.test))

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
    def codes(self) -> NDArray[np.int64]:
        """The codes whose shares stratified parts preserve."""
        return self.y if self.strata is None else self.strata

    @cached_property
    def encoded(self) -> Encoded:
        """The encoded rows."""
        rows = self.raw_train  # a copy of nearly the whole table, made once for both uses
        encoder = Encoder(self.columns, self.scale).fit(rows)
        train = shared(encoder.transform(rows))
        return Encoded(train, train[:0], encoder).tested_on(self.X[self.test])

    @cached_property
    def inner(self) -> list[Fold]:
        """The folds for tuning: the validation part if there is one, else splits of the training rows."""
        if self.tuning is not None and self.fits_are_final:  # the inner fold shares this fold's fits
            fold = replace(self, test=self.tuning[1], tuning=None)
            fold.encoded = self.encoded.tested_on(self.X[fold.test])
            return [fold]
        pairs = self._cross_validation() if self.tuning is None else [self.tuning]
        return [self._part(train, test, position) for position, (train, test) in enumerate(pairs)]

    def sampled(self, rows: int) -> list[Fold]:
        """Return the inner folds with as large a share of their training rows as so many rows are of this fold's."""
        # Smaller samples are parts of larger ones. Tested are all rows that the inner folds test.
        if rows >= len(self.train):
            return self.inner
        if rows not in self._sampled:
            self._sampled[rows] = [
                self._part(self._sample(fold, rows), fold.test, "rows", rows, position)
                for position, fold in enumerate(self.inner)
            ]
        return self._sampled[rows]

    def _sample(self, inner: Fold, rows: int) -> NDArray[np.intp]:
        strata = self.codes[inner.train]
        size = sample_size(len(strata), rows, len(self.train), len(np.unique(strata)))
        return sampled(inner.train, strata, size, derive_seed(self.seed, "halving"))

    def _part(self, train: NDArray[np.intp], test: NDArray[np.intp], *place: str | int) -> Fold:
        return replace(self, train=train, test=test, tuning=None, is_outer=False, path=(*self.path, *place))

    def _cross_validation(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        seed = derive_seed(self.seed, "inner")
        if self.structure is not None:
            pairs = self.structure.within(self.codes, self.train, self.inner_folds, seed)
            usable = [(train, test) for train, test in pairs if np.ptp(self.y[train])]  # early blocks may be constant
            if not usable:
                raise DataError("tuning needs inner folds that train on two values of the target; leave 'tune' out")
            return usable
        strata = self.codes[self.train]
        parts = min(self.inner_folds, int(np.bincount(strata).max()))  # the largest class may have fewer rows
        if parts < 2:
            raise DataError("tuning needs a class with at least two rows in the training part; leave 'tune' out")
        splits = stratified_splits(strata, parts, seed)
        return [(self.train[train], self.train[test]) for train, test in splits]

    def against_the_rest(self, code: int) -> Fold:
        """Return the fold of a one-vs-rest problem, in which class code 1 is the given class."""
        if code not in self._classes:
            y = (self.y == code).astype(np.int64)
            self._classes[code] = replace(self, y=y, strata=None, path=(*self.path, "class", code))
            self._classes[code].encoded = self.encoded
        return self._classes[code]

    def export(self, key: str) -> SharedFits:
        """Return the selector fits of this fold and its derived folds whose name starts with `key`."""
        return {place: selection for place, selection in self.selections.items() if place[1].startswith(key)}

    def adopt(self, shared: SharedFits) -> None:
        """Add selector fits that `export` returned for another worker's copy of this fold."""
        self.selections.update({**shared, **self.selections})


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
