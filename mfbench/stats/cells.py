"""Fold-by-fold results of one method on one dataset, which the rules compare."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

import numpy as np
import pandas as pd

from mfbench.errors import RunError, UnknownNameError, UsageError
from mfbench.model.evaluation import Score
from mfbench.suite.schema import Rule as RuleName

if TYPE_CHECKING:
    from numpy.typing import NDArray

Decisions = Callable[[str, str], "list[NDArray[np.bool_]]"]
"""Maps dataset and method labels to the correctness of each fold's test rows, in order."""


@dataclass(frozen=True)
class CellResults:
    """One method on one dataset, with every planned fold in order of repeat and fold."""

    scores: NDArray[np.float64]  # in metric units; NaN for failed trials
    repeats: NDArray[np.int64]
    ok: NDArray[np.bool_]  # which trials have status ok
    # Returns, for each fold, which of its test rows were classified correctly.
    decisions: Callable[[], list[NDArray[np.bool_]]]

    @property
    def complete(self) -> bool:
        """Whether every planned trial has status ok and a finite score."""
        return bool(self.ok.all() and np.isfinite(self.scores).all())

    @cached_property
    def first_repeat(self) -> NDArray[np.bool_]:
        """Which test rows of the first repeat were classified correctly; each row is tested at most once."""
        folds = self.decisions()
        return np.concatenate(
            [fold for fold, repeat in zip(folds, self.repeats, strict=True) if repeat == self.repeats[0]]
        )

    def first_test_set(self) -> NDArray[np.bool_]:
        """Return which test rows of the first fold were classified correctly."""
        return self.decisions()[0]


def results_by_cell(
    trials: pd.DataFrame, metric: str, decisions: Decisions | None = None
) -> dict[tuple[str, str], CellResults]:
    """Group a frame of trials by (dataset, method), in order of first appearance."""
    if not len(trials):
        return {}
    ok = (trials["status"] == "ok").to_numpy(dtype=bool)
    scores = np.where(ok, trials[metric].to_numpy(dtype=float), np.nan)
    repeats, folds = (trials[name].to_numpy(dtype=np.int64) for name in ("repeat", "fold"))
    cells = {}
    for (dataset, method), rows in rows_by_cell(trials).items():
        own = rows[np.lexsort((folds[rows], repeats[rows]))]
        read = partial(decisions or _no_decisions, dataset, method)
        cells[dataset, method] = CellResults(scores[own], repeats[own], ok[own], read)
    return cells


def rows_by_cell(frame: pd.DataFrame) -> dict[tuple[str, str], NDArray[np.intp]]:
    """Return the row numbers of each (dataset, method) in a frame, in order of first appearance."""
    # O(n log n) for n rows. Grouping by integers is ten times as fast as by pairs of strings.
    datasets, dataset_names = pd.factorize(frame["dataset"])
    methods, method_names = pd.factorize(frame["method"])
    places, codes = pd.factorize(datasets * len(method_names) + methods)
    parts = np.split(np.argsort(places, kind="stable"), np.cumsum(np.bincount(places))[:-1])
    names = (
        (str(dataset_names[c // len(method_names)]), str(method_names[c % len(method_names)])) for c in codes.tolist()
    )
    return dict(zip(names, parts, strict=True))


def _no_decisions(dataset: str, method: str) -> NoReturn:
    raise RunError(f"no predictions of {method} on {dataset} are stored; the s-test and McNemar's test need them")


MissingPolicy = Literal["drop-dataset", "worst-rank", "impute-dummy"]
RULE_NAMES: tuple[str, ...] = get_args(RuleName)
MISSING_POLICIES: tuple[str, ...] = get_args(MissingPolicy)


@dataclass(frozen=True)
class ComparisonSettings:
    """Settings of a comparison."""

    metric: str  # column of the score
    scores: Mapping[str, Score] = field(hash=False)  # what each score of the run means
    reference: str | None  # method that the others are compared with
    test: str  # one of `mfbench.stats.rules.RULES`: the rule that marks the tables
    alpha: float  # level of the two-sided test
    ratio: float  # test rows over training rows of a fold
    # One of `mfbench.stats.rules.RULES`: the rule used by the papers that the results are compared with.
    published_test: str = "paired-t"
    rope: float | None = None  # differences up to this size are practically zero; None for the metric's margin
    missing: MissingPolicy = "drop-dataset"  # treatment of cells without a score in comparisons across datasets
    # The ratio of each dataset with a splitter; NaN if the splits are of a kind for which no test is valid.
    own_ratios: tuple[tuple[str, float], ...] = ()
    # The standard deviation of each dataset's target, if it is a number: what a score in units is divided by.
    spreads: tuple[tuple[str, float], ...] = ()
    rows: tuple[tuple[str, int], ...] = ()  # the number of rows of each dataset, or of rounds that measure no row
    families: tuple[tuple[str, str], ...] = ()  # the family of each dataset that is related to another one
    weighted: tuple[str, ...] = ()  # datasets whose rows have weights
    has_weights: bool = False  # whether the rows that are compared have weights
    grouped: tuple[str, ...] = ()  # datasets whose rows are alike in groups
    has_groups: bool = False

    def on(self, dataset: str) -> ComparisonSettings:
        """Return the settings for a dataset, with its ratio, and the margin in its unit."""
        if not (self.own_ratios or self.weighted or self.score.in_units):
            return self
        ratio, margin = self.ratio_on(dataset), self.margin * self.unit_on(dataset)
        has_weights, has_groups = dataset in self.weighted, dataset in self.grouped
        return dataclasses.replace(self, ratio=ratio, rope=margin, has_weights=has_weights, has_groups=has_groups)

    @property
    def margin(self) -> float:
        """The size up to which differences are practically zero; of scores in units, a share of the spread."""
        return self.score.margin if self.rope is None else self.rope

    def unit_on(self, dataset: str) -> float:
        """Return the spread of a dataset's target, by which a score in units is divided; 1 if there is no unit."""
        return dict(self.spreads).get(dataset, 1.0) if self.score.in_units else 1.0

    @property
    def counts_decisions(self) -> bool:
        """Whether a score is the share of correct decisions, which tests of decisions compare."""
        return self.score.counts_decisions and not (self.has_weights or self.has_groups)

    def ratio_on(self, dataset: str) -> float:
        """Return the test rows over the training rows of a dataset's folds."""
        return dict(self.own_ratios).get(dataset, self.ratio)

    def replace(self, **changes: Any) -> ComparisonSettings:
        """Return a copy with some settings changed."""
        if changes.get("metric", self.metric) not in self.scores:
            raise UnknownNameError("metric", changes["metric"], self.scores)
        if not 0 < changes.get("alpha", self.alpha) < 1:
            raise UsageError(f"alpha is {changes['alpha']}; a level lies between 0 and 1")
        if not 0 <= (changes.get("rope") or 0) < np.inf:
            raise UsageError(f"rope is {changes['rope']}; a size is 0 or more")
        choices = {"test": RULE_NAMES, "published_test": RULE_NAMES, "missing": MISSING_POLICIES}
        for name, allowed in choices.items():
            if changes.get(name, getattr(self, name)) not in allowed:
                raise UnknownNameError("policy" if name == "missing" else "test", changes[name], allowed)
        return dataclasses.replace(self, **changes)

    @property
    def score(self) -> Score:
        """What the metric means."""
        return self.scores[self.metric]

    @property
    def greater_is_better(self) -> bool:
        """The direction of the metric."""
        return self.score.greater_is_better

    @property
    def sign(self) -> float:
        """1 if greater is better, else -1."""
        return self.score.sign
