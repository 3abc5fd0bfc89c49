"""Evaluation protocols: they split a dataset's rows into training and test parts, identical for every method."""

from __future__ import annotations

import hashlib
import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from mfbench.errors import DataError, PluginError, SuiteError, explained, plugin_code
from mfbench.model.evaluation import ProtocolSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.suite.splitters import DatasetSplits, Structure

    Codes = NDArray[np.int64]
    Rows = NDArray[np.intp]

Pair = tuple["NDArray[np.intp]", "NDArray[np.intp]"]


def stratified_splits(y: NDArray[np.int64], folds: int, seed: int) -> list[Pair]:
    """Return shuffled stratified (train, test) index pairs."""
    # A class with fewer members than folds is missing from some test parts, which is allowed without a warning; fewer
    # rows than folds is an error.
    largest = int(np.bincount(y).max())
    if largest < folds:
        raise DataError(
            f"{folds} folds need a class of at least {folds} rows, the largest has {largest}; lower the number"
        )
    splitter = StratifiedKFold(n_splits=folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.empty((len(y), 0)), y))


def cross_validation(y: NDArray[np.int64], folds: int, seed: int, *, stratified: bool) -> list[Pair]:
    """Return shuffled (train, test) index pairs, stratified or not."""
    if stratified:
        return stratified_splits(y, folds, seed)
    if len(y) < folds:
        raise DataError(f"{folds} folds need {folds} rows, there are {len(y)}; lower the number")
    return list(KFold(n_splits=folds, shuffle=True, random_state=seed).split(np.empty((len(y), 0))))


def parted(
    rows: NDArray[np.intp], y: NDArray[np.int64], sizes: Sequence[int], seed: int, stratified: bool
) -> list[NDArray[np.intp]]:
    """Split rows into disjoint random parts of the given sizes, each in ascending order."""
    if min(sizes) < 1:
        raise DataError(f"{len(rows)} rows are too few for parts of {', '.join(map(str, sizes))} rows")
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(rows)
    if stratified:
        shuffled = shuffled[np.argsort(_spread(y[shuffled], rng), kind="stable")]
    return [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes)[:-1])]


def sampled(rows: NDArray[np.intp], strata: NDArray[np.int64], size: int, seed: int) -> NDArray[np.intp]:
    """Sample rows, returned in ascending order: proportionally per stratum, at least two of each if available."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(rows))
    position = _spread(strata[order], rng)
    firsts = np.concatenate([np.flatnonzero(strata[order] == code)[:2] for code in np.unique(strata)])
    if len(firsts) > size:
        raise DataError(f"max_rows = {size} keeps no two rows of each class; use at least {len(firsts)}")
    position[firsts] = -1.0
    return np.sort(rows[order[np.argsort(position, kind="stable")[:size]]])


def _spread(codes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return positions that spread each class evenly over the unit interval from a random start."""
    # Any part of the interval then has its share of every class, up to one row at either end.
    position = np.empty(len(codes))
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        position[members] = (np.arange(len(members)) + rng.random()) / len(members)
    return position


def shares(n_rows: int, share: float, *, up: bool = False) -> int:
    """Return a share of a number of rows, rounded to nearest or up."""
    exact = n_rows * share
    return int(np.ceil(exact - 1e-9)) if up else int(np.floor(exact + 0.5))


def derive_seed(*coordinates: Any) -> int:
    """Return a 32-bit seed that depends on the coordinates alone."""
    # The BLAKE2b digest of the coordinates' JSON text is the entropy of a `numpy.random.SeedSequence`, whose first word
    # is the seed.
    return seed_of(json.dumps(coordinates))


def seed_of(text: str) -> int:
    """Return the seed of coordinates already serialized as JSON; see `derive_seed`."""
    import numpy as np

    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return int(np.random.SeedSequence(int.from_bytes(digest, "little")).generate_state(1)[0])


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of one fold; unpacks into training and test rows.

    Parameters
    ----------
    train : array of int
        Rows for fitting the final selector and classifier.
    test : array of int
        Rows for predicting and scoring; never used for fitting or for selecting parameters.
    tuning : (array of int, array of int) or None, default=None
        Rows that tuning fits on and rows that it scores, if the protocol sets validation rows aside. None means inner
        cross-validation of the training rows.
    feature_share : float, default=1.0
        Share of the original features to use, rounded up.
    feature_seed : int, default=0
        Determines which features are used. With the same seed, a smaller share is a subset of a larger one.
    """

    train: Rows
    test: Rows
    tuning: tuple[Rows, Rows] | None = None
    feature_share: float = 1.0
    feature_seed: int = 0

    def __iter__(self) -> Iterator[Rows]:
        return iter((self.train, self.test))

    def features(self, n_features: int) -> Rows | None:
        """Return the features to use in ascending order; None means all."""
        if self.feature_share == 1.0:
            return None
        order = np.random.default_rng(self.feature_seed).permutation(n_features)
        return np.sort(order[: max(1, shares(n_features, self.feature_share, up=True))])


class EvaluationProtocol(ABC):
    """The splits of a dataset into training, validation and test rows: the same for every method of a suite.

    A subclass sets `kind`, `folds` and `repeats`, and implements `splits`, `describe` and `test_train_ratio`. A
    `ProtocolSpec` of its kind lists the keys that a suite can set, each of which is a parameter of its constructor.

    Parameters
    ----------
    seed : int
        The suite's seed.

    Attributes
    ----------
    kind : str
        The name of its spec.
    folds, repeats : int
        There is a trial for each repeat and fold.
    inner_folds : int, default=0
        Folds of the inner cross-validation for tuning, if a split has no validation rows.
    predicts : bool, default=True
        As in its spec.
    decisions : {"multi-class", "one-vs-rest"}, default="multi-class"
        Whether a dataset with more than two classes is one problem, or a problem per class against the rest.
    splitter : str or None, default=None
        The suite's splitter, which mfbench sets.
    has_strata : bool, default=True
        Whether the suite's task has strata, which mfbench sets; without them, `y` of `splits` is 0 in all rows.
    trial_name : str, default="fold"
        What reports call a trial.
    """

    kind: str
    predicts: bool = True
    folds: int
    repeats: int
    inner_folds: int = 0
    decisions: str = "multi-class"
    splitter: str | None = None
    has_strata: bool = True
    trial_name: ClassVar[str] = "fold"

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def coordinates(self, own: DatasetSplits | None = None) -> Iterator[tuple[int, int]]:
        """Yield every (repeat, fold) in order, of a dataset with its own splits or of all others."""
        sizes = self if own is None else own
        return product(range(sizes.repeats), range(sizes.folds))

    @abstractmethod
    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the splits of all folds of one repeat."""

    @property
    @abstractmethod
    def test_train_ratio(self) -> float:
        """Number of test rows divided by number of training rows, for the corrected resampled t-test."""

    @property
    def identity(self) -> str:
        """Text that identifies stored splits: everything that determines them except dataset and repeat."""
        return f"{self.kind}:{self.folds}:{self.seed}"

    @abstractmethod
    def describe(self) -> str:
        """Return a short description of the splits for the report."""

    def describe_tuning(self) -> str:
        """Return a short description of parameter tuning for the report."""
        return f"tuning by inner {self.inner_folds}-fold cross-validation"

    def _seed(self, dataset: str, repeat: int, *more: str | int) -> int:
        return derive_seed(self.seed, dataset, "folds", repeat, *more)


def checked_splits(
    protocol: EvaluationProtocol, dataset: str, y: Codes, repeat: int, structure: Structure | None
) -> list[Split]:
    """Return the splits of one repeat; whatever a protocol gets wrong is one sentence."""
    failure = f"the protocol {protocol.kind!r} cannot split {dataset}:"
    with plugin_code(PluginError, f"{failure} it raised"):
        splits = list(protocol.splits(dataset, y, repeat, structure))
        if problem := _problem(splits, len(y), protocol, structure):
            raise PluginError(f"{failure} {problem}")
    return splits


def _problem(splits: list[Split], n_rows: int, protocol: EvaluationProtocol, structure: Structure | None) -> str:
    if structure is None and len(splits) != protocol.folds:
        return f"it gives {len(splits)} splits, expected {protocol.folds}"
    for fold, split in enumerate(splits, 1):
        fitted = np.concatenate([split.train, *(split.tuning or ())])
        rows = np.concatenate([fitted, split.test])
        if not len(split.train) or (protocol.predicts and not len(split.test)):
            return f"fold {fold} has no rows to train on, or none to test"
        if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n_rows:
            return f"fold {fold} has row numbers that are not from 0 to {n_rows - 1}"
        if np.isin(split.test, fitted).any():
            return f"fold {fold} tests a row that it trains on"
    return ""


def key_settings(settings: dict[str, Any], *, tuned: bool) -> dict[str, Any]:
    """Return the protocol settings that determine a trial's result, for its key."""
    # The key contains the grid and the curve sizes themselves, so the settings that produce them are not needed.
    ignored = {"splitter", "form", "timeout", "memory", "repeats", "rounds", "selection", "grid_values", "curve"}
    ignored |= set() if tuned else {"inner_folds"}
    return {name: value for name, value in settings.items() if name not in ignored and value is not None}


class Sampled(EvaluationProtocol):
    """The splits of another protocol with sampled training rows; the test rows are unchanged."""

    def __init__(self, whole: EvaluationProtocol, max_rows: int) -> None:
        super().__init__(whole.seed)
        self.whole, self.max_rows = whole, max_rows
        for name in EvaluationProtocol.__annotations__:
            setattr(self, name, getattr(whole, name))

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the splits of one repeat; see `EvaluationProtocol.splits`."""
        whole = self.whole.splits(dataset, y, repeat, structure)
        return [self._sampled(split, y, self._seed(dataset, repeat, "sample", n)) for n, split in enumerate(whole)]

    def _sampled(self, split: Split, y: NDArray[np.int64], seed: int) -> Split:
        parts = (split.train,) if split.tuning is None else split.tuning
        rows = np.concatenate(parts)
        if len(rows) <= self.max_rows:
            return split
        strata = len(parts) * y[rows] + np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        kept = sampled(rows, strata, self.max_rows, seed)
        if split.tuning is None:
            return replace(split, train=kept)
        train = split.train[np.isin(split.train, kept)]
        learn, validation = (part[np.isin(part, kept)] for part in split.tuning)
        return replace(split, train=train, tuning=(learn, validation))

    @property
    def test_train_ratio(self) -> float:
        """The ratio of the unsampled splits; the corrected test's level with sampled rows has not been measured."""
        return self.whole.test_train_ratio

    @property
    def identity(self) -> str:
        """The identity of the unsampled splits, plus the number of rows."""
        return f"{self.whole.identity}:{self.max_rows}"

    def describe(self) -> str:
        """Return the description of the unsampled splits, plus the number of rows."""
        return f"{self.whole.describe()}, training rows sampled (at most {self.max_rows:,} in a fold)"

    def describe_tuning(self) -> str:
        """Return the description of tuning, which sampling does not change."""
        return self.whole.describe_tuning()


def make_protocol(
    spec: ProtocolSpec, settings: Mapping[str, Any], seed: int, *, has_strata: bool = True
) -> EvaluationProtocol:
    """Return the protocol for a suite's settings, and for a task with strata or without."""
    # Each method selects its parameters in its own way (`ResolvedMethod.selection`), which does not affect the splits.
    values = {name: settings.get(name) for name in spec.keys if name not in ("selection", "splitter")}
    with (
        plugin_code(PluginError, f"the protocol {spec.name!r} cannot be made:"),
        explained(SuiteError, lambda reason: f"the protocol {spec.name!r} cannot be used: {reason}", ValueError),
    ):
        made = resolve_name(spec.protocol) if isinstance(spec.protocol, str) else spec.protocol
        protocol: EvaluationProtocol = made(seed=seed, **values)
    sizes = [getattr(protocol, name, None) for name in ("folds", "repeats")]
    if not isinstance(protocol, EvaluationProtocol) or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise PluginError(
            f"the protocol {spec.name!r} cannot be used: it is not an EvaluationProtocol whose folds and repeats are "
            "whole numbers from 1"
        )
    protocol.splitter, protocol.has_strata = settings.get("splitter"), has_strata
    max_rows = settings.get("max_rows")
    return protocol if max_rows is None else Sampled(protocol, max_rows)
