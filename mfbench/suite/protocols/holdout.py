"""``holdout``: random splits into a training and a test part; tuning by cross-validation of the training part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.base.wording import counted
from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.protocols.rows import parted, shares

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Holdout(EvaluationProtocol):
    """``holdout``: random splits into a training and a test part, one for each repeat."""

    kind = "holdout"
    folds = 1

    def __init__(self, repeats: int, test_share: float, inner_folds: int, stratified: bool, seed: int) -> None:
        super().__init__(seed)
        self.repeats, self.test_share = repeats, test_share
        self.inner_folds, self.stratified = inner_folds, stratified

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the split of one repeat; see `EvaluationProtocol.splits`."""
        n_test = shares(len(y), self.test_share)
        sizes = [len(y) - n_test, n_test]
        train, test = parted(np.arange(len(y)), y, sizes, self._seed(dataset, repeat), self.stratified)
        return [Split(train, test)]

    @property
    def test_train_ratio(self) -> float:
        """The share of test rows divided by the share of training rows."""
        return self.test_share / (1.0 - self.test_share)

    @property
    def identity(self) -> str:
        """It includes share and stratification but not `repeats`: more repeats leave the first ones unchanged."""
        return f"{self.kind}:{self.test_share:g}:{self.stratified:d}:{self.seed}"

    def describe(self) -> str:
        """Return the number of splits and the share of test rows."""
        stratified = "" if self.stratified else "not "
        tested = f"{'tests' if self.repeats == 1 else 'test'} {self.test_share:.0%} of the rows"
        return f"{counted(self.repeats, 'random split')} that {tested}, {stratified}stratified"
