"""``ground-truth``: rounds of generated data whose relevant features are known; a selector is fitted on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.base.wording import counted
from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.seeds import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GroundTruth(EvaluationProtocol):
    """``ground-truth``: selectors are fitted on generated data whose relevant features are known."""

    # Each round has its own data, the same for every method. All rows are training rows; nothing is predicted.

    kind = "ground-truth"
    folds = 1
    trial_name = "round"

    def __init__(self, rounds: int, threshold: float, seed: int) -> None:
        super().__init__(seed)
        self.rounds = self.repeats = rounds
        self.threshold = threshold

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return one split in which all rows are training rows."""
        return [Split(np.arange(len(y), dtype=np.intp), np.empty(0, dtype=np.intp))]

    def round_seed(self, dataset: str, repeat: int) -> int:
        """Return the seed of a round's data: a function of the suite's seed, the dataset and the round alone."""
        return derive_seed(self.seed, dataset, "round", repeat)

    @property
    def test_train_ratio(self) -> float:
        """Rounds share no rows, so the plain paired test is valid."""
        return 0.0

    def describe(self) -> str:
        """Return the number of rounds."""
        return f"{counted(self.repeats, 'round')}, each with data of its own"

    def describe_tuning(self) -> str:
        """Return the note that only selectors tune themselves."""
        return "no tuning but a selector's own"
