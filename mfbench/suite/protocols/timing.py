"""``timing``: fits on subsamples of growing size, to measure how time grows with rows and with features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.protocols.rows import parted, shares
from mfbench.suite.seeds import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEST_SHARE = 0.2


class Timing(EvaluationProtocol):
    """``timing``: halves, quarters, eighths … of the rows with all features, and of the features with all rows."""

    # A fifth of the rows is set aside in each repeat and predicted at each size, so that prediction times are
    # comparable and the scores form a learning curve. Fold 0 has the fewest rows; fold `steps - 1` has all rows and
    # all features; the folds after it have fewer and fewer features. Smaller subsamples are parts of larger ones.

    kind = "timing"

    def __init__(self, repeats: int, steps: int, seed: int) -> None:
        super().__init__(seed)
        self.repeats, self.steps = repeats, steps
        self.folds = 2 * steps - 1

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the subsamples of one repeat; see `EvaluationProtocol.splits`."""
        seed = self._seed(dataset, repeat)
        n_test = shares(len(y), TEST_SHARE, up=True)
        train, test = parted(np.arange(len(y)), y, [len(y) - n_test, n_test], seed, stratified=True)
        splits: list[Split] = []
        # From large to small, each a stratified part of the one before.
        rows = train
        for step in range(self.steps):
            splits.insert(0, Split(rows, test))
            if step + 1 < self.steps:
                half = shares(len(rows), 0.5, up=True)
                rows, _ = parted(
                    rows, y, [half, len(rows) - half], self._seed(dataset, repeat, "half", step), stratified=True
                )
        for step in range(1, self.steps):
            share = 0.5**step
            splits.append(Split(train, test, feature_share=share, feature_seed=derive_seed(seed, "features")))
        return splits

    @property
    def test_train_ratio(self) -> float:
        """The ratio of the fold with all rows; times are not tested."""
        return TEST_SHARE / (1.0 - TEST_SHARE)

    @property
    def identity(self) -> str:
        """It includes `steps` but not `repeats`: more repeats leave the first ones unchanged."""
        return f"{self.kind}:{self.steps}:{self.seed}"

    def describe(self) -> str:
        """Return the sizes."""
        smallest = f"1/{2 ** (self.steps - 1)}"
        return f"{self.repeats} times {self.steps} sizes from {smallest} to all of the rows, and of the features"

    def describe_tuning(self) -> str:
        """Return the note that nothing is tuned."""
        return "no tuning"
