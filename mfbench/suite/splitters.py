"""The splitter of a dataset whose rows depend on each other, or for which a suite names one."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from mfbench.data.columns import STRUCTURE
from mfbench.data.structure import VALIDATION
from mfbench.errors import DataError, PluginError, UsageError, explained, plugin_code
from mfbench.host.code_hashes import factory_name, method_code
from mfbench.host.expressions import Expression, parse
from mfbench.host.factories import build
from mfbench.host.registry import Registry
from mfbench.model.evaluation import ProtocolSpec
from mfbench.model.specs import Dataset
from mfbench.suite.validation_messages import at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.suite.protocols import Split

    Rows = NDArray[np.intp]
    Pair = tuple[Rows, Rows]

GROUPS, TIME, SPLIT = STRUCTURE
AUTOMATIC = {"": "stratified", GROUPS: "stratified-grouped", TIME: "forward-chaining", SPLIT: "predefined"}
"""The splitter of a dataset with such a column, if the suite names none."""


class DatasetSplits(BaseModel):
    """What is recorded of the splits of a dataset with a splitter."""

    model_config = ConfigDict(frozen=True)

    splitter: str
    repeats: int
    folds: int  # of each repeat
    resampling: str  # as in `SplitterSpec`
    ratio: float  # test rows over training rows, mean over the folds of the first repeat
    unseen: list[str] = []  # the classes that a fold tests without a training row
    validation: int = 0  # training rows that the dataset names for tuning
    grouped: bool = False  # whether the dataset has groups, whose rows are alike

    @property
    def tested_ratio(self) -> float:
        """The ratio for tests; NaN if the splits are of a kind for which none is valid."""
        return self.ratio if self.resampling else np.nan


@dataclass(frozen=True, eq=False)
class Splitter:
    """A registered splitter with its parameters."""

    expression: Expression  # the registry lists its name
    made: Any  # what the factory made; workers have a copy
    needs: str  # needs, is_random, resampling: as in `SplitterSpec`
    is_random: bool
    resampling: str

    @property
    def title(self) -> str:
        """Its name in messages."""
        return f"the splitter {str(self.expression)!r}"

    def pairs(self, y: NDArray[np.int64], by: NDArray[Any] | None, folds: int, seed: int) -> list[Pair]:
        """Return the pairs of training and test rows; whatever goes wrong is one sentence."""
        title = self.title
        failure = f"{title} cannot split the rows:"
        with (
            plugin_code(DataError, f"{failure} it raised"),
            explained(DataError, lambda reason: f"{failure} {reason}", ValueError),
        ):
            pairs = [(np.asarray(train), np.asarray(test)) for train, test in self.made.split(y, by, folds, seed)]
        if not pairs:
            raise DataError(f"{title} gave no split")
        for fold, parts in enumerate(pairs, 1):
            for rows in parts:
                if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows):
                    raise DataError(f"{title}: fold {fold} has a part that is not a list of row numbers, or is empty")
                if rows.min() < 0 or rows.max() >= len(y):
                    raise DataError(f"{title}: fold {fold} has row numbers that are not from 0 to {len(y) - 1}")
            train, test = parts
            if len(np.intersect1d(train, test)) or len(np.unique(test)) < len(test):
                raise DataError(f"{title}: fold {fold} tests a row twice, or a row that it trains on")
        return [(np.sort(train).astype(np.intp), np.sort(test).astype(np.intp)) for train, test in pairs]


@dataclass(frozen=True, eq=False)
class Structure:
    """How the rows of a dataset are split: by which splitters, and by which group, time or part of each row."""

    outer: Splitter
    inner: Splitter  # divides training rows for tuning
    groups: NDArray[np.int64] | None = None
    time: NDArray[np.float64] | None = None
    split: NDArray[np.int64] | None = None

    def pairs(self, y: NDArray[np.int64], folds: int, seed: int) -> list[Pair]:
        """Return the training and test rows of each outer fold."""
        return self._pairs(self.outer, y, np.arange(len(y)), folds, seed)

    def within(self, y: NDArray[np.int64], rows: Rows, folds: int, seed: int) -> list[Pair]:
        """Return the folds of training rows for tuning; there are fewer if there are fewer groups, times or rows."""
        named = self._validation(rows)
        return named or self._pairs(self.inner, y, rows, self._folds(self.inner, y, rows, folds), seed)

    def aside(self, y: NDArray[np.int64], rows: Rows, share: float, seed: int, *, for_test: bool = False) -> Pair:
        """Set about a share of rows aside, for validation or for the test: the latest ones, or whole groups."""
        if not for_test and (named := self._validation(rows)):
            return named[0]
        splitter = self.outer if for_test else self.inner
        folds = max(2, round(1.0 / share))
        if splitter.needs == TIME:
            folds -= 1  # the first block of forward chaining is never tested
        folds = folds if for_test else self._folds(splitter, y, rows, folds)
        pairs = self._pairs(splitter, y, rows, folds, seed)
        if splitter.needs == TIME:
            return pairs[-1]
        if len(pairs) > 1 and not splitter.is_random:
            what = f"{splitter.title} gives {len(pairs)} test parts"
            raise DataError(f"{what}, but the protocol has one; set kind = 'repeated-cv'")
        return pairs[0]

    def _validation(self, rows: Rows) -> list[Pair]:
        """Return the training rows to fit and to score in tuning if the dataset names them; else nothing."""
        if self.outer.needs != SPLIT or self.split is None:
            return []
        is_named = self.split[rows] == VALIDATION
        return [(rows[~is_named], rows[is_named])] if is_named.any() and not is_named.all() else []

    def _folds(self, splitter: Splitter, y: NDArray[np.int64], rows: Rows, folds: int) -> int:
        needs, by = splitter.needs, self._by(splitter, rows)
        most = int(np.bincount(y[rows]).max())
        if by is not None and needs != SPLIT:
            most = min(most, len(np.unique(by)) - (needs == TIME))
        if most < 2 - (needs == TIME):
            what = {GROUPS: "two groups", TIME: "two different times"}.get(needs, "a class with at least two rows")
            raise DataError(f"tuning needs {what} in the training part; leave 'tune' out")
        return min(folds, most)

    def _by(self, splitter: Splitter, rows: Rows) -> NDArray[Any] | None:
        needs = splitter.needs
        array: NDArray[Any] | None = getattr(self, needs) if needs else None
        if needs == GROUPS and array is None:
            return rows  # a row that was drawn twice is in one part
        return None if array is None else array[rows]

    def _pairs(self, splitter: Splitter, y: NDArray[np.int64], rows: Rows, folds: int, seed: int) -> list[Pair]:
        pairs = splitter.pairs(y[rows], self._by(splitter, rows), folds, seed)
        pairs = [(rows[train], rows[test]) for train, test in pairs]
        for fold, (train, test) in enumerate(pairs, 1):
            title = f"{splitter.title}: fold {fold}"
            if self.groups is not None and np.isin(self.groups[test], self.groups[train]).any():
                raise DataError(f"{title} has rows of one group in both parts; name another splitter, or no groups")
            if self.time is not None and self.time[train].max() >= self.time[test].min():
                raise DataError(f"{title} trains on rows that are not earlier than all test rows; name another one")
        return pairs

    def ingredients(self, registry: Registry) -> list[dict[str, Any]]:
        """Return what determines the splits besides data and seed, for trial keys."""
        expressions = (self.outer.expression, self.inner.expression)
        entries = [(expression, registry.entry("splitter", expression.name)) for expression in expressions]
        return [
            {"expression": expression.canonical(), "factory": factory_name(entry), "code": method_code(entry)}
            for expression, entry in entries
        ]

    def summary(
        self, splits: Sequence[Split], repeats: int, n_rows: int, codes: NDArray[np.int64], names: Sequence[str]
    ) -> DatasetSplits:
        """Return what is recorded of the splits of the first repeat; classes have codes and names."""
        parts = [np.setdiff1d(codes[split.test], codes[split.train]) for split in splits] if names else [codes[:0]]
        unseen = np.unique(np.concatenate(parts))
        return DatasetSplits(
            splitter=str(self.outer.expression),
            repeats=repeats if self.outer.is_random else 1,
            folds=len(splits),
            resampling=self.outer.resampling,
            ratio=float(np.mean([len(split.test) / len(split.train) for split in splits])),
            unseen=[names[int(code)] for code in unseen],
            validation=sum(len(test) for _, test in self._validation(np.arange(n_rows))),
            grouped=self.groups is not None,
        )


def structure_of(data: Dataset, spec: ProtocolSpec, text: str | None, registry: Registry) -> Structure | None:
    """Return how a protocol splits a dataset; None if neither the dataset nor the suite asks for a splitter."""
    present = {name: getattr(data, name) for name in STRUCTURE if getattr(data, name) is not None}
    ignored = {"weights": data.weights is not None, "feature groups": bool(data.feature_groups)}
    if not spec.predicts and any(ignored.values()):
        what = next(what for what, is_present in ignored.items() if is_present)
        raise DataError(f"the protocol {spec.name!r} takes no account of {what}; use another, or leave them out")
    if not present and not text:
        return None
    if "splitter" not in spec.keys:
        raise DataError(f"the protocol {spec.name!r} takes no account of {' and '.join(present)}; use another one")
    if not text and {GROUPS, TIME} <= {*present} and SPLIT not in present:
        raise DataError("a dataset with groups and a time needs a splitter for both: name one in [protocol] splitter")
    automatic = next((AUTOMATIC[name] for name in (SPLIT, TIME, GROUPS) if name in present), AUTOMATIC[""])
    outer = made(text or automatic, registry)
    needs = outer.needs
    if needs and needs not in present:
        raise DataError(f"{outer.title} needs a column of a dataset: set {needs} = COLUMN in [[datasets]]")
    named = registry.listed("splitter")[outer.expression.name].spec.inner
    if named:
        inner = made(named, registry)
    elif needs in (GROUPS, TIME):
        inner = outer
    else:
        inner = made(next((AUTOMATIC[name] for name in (TIME, GROUPS) if name in present), AUTOMATIC[""]), registry)
    return Structure(outer, inner, **present)


def made(text: str, registry: Registry) -> Splitter:
    """Return the splitter of an expression."""
    written = parse(text)
    expression = Expression(registry.resolve("splitter", written.name), written.params)
    registered = registry.listed("splitter")[expression.name]
    with (
        plugin_code(PluginError, f"{text!r} of {registered.plugin} cannot be made:"),
        explained(UsageError, lambda reason: f"{text!r} cannot be used: {reason}", ValueError),
    ):
        splitter = build(registered, expression.params)
        pickle.dumps(splitter)
    spec = registered.spec
    return Splitter(expression, splitter, spec.needs, spec.is_random, spec.resampling)


def check_splitter(text: str | None, registry: Registry, file: str) -> None:
    """Raise `SuiteError` unless a splitter exists and has such parameters."""
    if text:
        with at(f"{file}: protocol.splitter", UsageError, PluginError):
            made(text, registry)
