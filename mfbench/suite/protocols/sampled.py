"""Sampled training rows: the splits of another protocol, with at most so many training rows in a fold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.protocols.rows import sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sampled(EvaluationProtocol):
    """The splits of another protocol with sampled training rows; the test rows stay."""

    def __init__(self, whole: EvaluationProtocol, max_rows: int) -> None:
        super().__init__(whole.seed)
        self.whole, self.max_rows = whole, max_rows
        self.kind, self.folds, self.repeats = whole.kind, whole.folds, whole.repeats
        self.inner_folds, self.decisions = whole.inner_folds, whole.decisions

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the splits of one repeat; see `EvaluationProtocol.splits`."""
        whole = self.whole.splits(dataset, y, repeat)
        return [self._sampled(split, y, self._seed(dataset, repeat, "sample", n)) for n, split in enumerate(whole)]

    def _sampled(self, split: Split, y: NDArray[np.int64], seed: int) -> Split:
        parts = (split.train,) if split.tuning is None else split.tuning
        rows = np.concatenate(parts)
        if len(rows) <= self.max_rows:
            return split
        strata = len(parts) * y[rows] + np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        kept = sampled(rows, strata, self.max_rows, seed)
        train = split.train[np.isin(split.train, kept)]
        if split.tuning is None:
            return replace(split, train=train)
        learn, validation = (part[np.isin(part, kept)] for part in split.tuning)
        return replace(split, train=train, tuning=(learn, validation))

    @property
    def test_train_ratio(self) -> float:
        """The ratio of the whole parts; the level of the corrected test with sampled rows has not been measured."""
        return self.whole.test_train_ratio

    @property
    def identity(self) -> str:
        """That of the whole splits, and the number of rows."""
        return f"{self.whole.identity}:{self.max_rows}"

    def describe(self) -> str:
        """Return the description of the whole splits, and the number of rows."""
        return f"{self.whole.describe()}, training rows sampled (at most {self.max_rows:,} in a fold)"

    def describe_tuning(self) -> str:
        """Return the description of tuning, which sampling does not change."""
        return self.whole.describe_tuning()
