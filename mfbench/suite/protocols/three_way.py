"""``three-way``: random thirds for training, tuning and testing, new ones for each repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.base.wording import counted
from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.protocols.nested_cv import refitting
from mfbench.suite.protocols.rows import parted

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ThreeWay(EvaluationProtocol):
    """``three-way``: random thirds for training, tuning and testing; remaining rows are training rows."""

    kind = "three-way"
    folds = 1

    def __init__(self, repeats: int, stratified: bool, refit: bool, seed: int) -> None:
        super().__init__(seed)
        self.repeats, self.stratified, self.refit = repeats, stratified, refit

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the division of one repeat; see `EvaluationProtocol.splits`."""
        third = len(y) // 3
        sizes = [len(y) - 2 * third, third, third]
        train, validation, test = parted(np.arange(len(y)), y, sizes, self._seed(dataset, repeat), self.stratified)
        both = np.sort(np.concatenate([train, validation]))
        return [Split(both if self.refit else train, test, (train, validation))]

    @property
    def test_train_ratio(self) -> float:
        """One third is for testing; one third, or two thirds with `refit`, for training."""
        return 0.5 if self.refit else 1.0

    @property
    def identity(self) -> str:
        """It includes `stratified` and `refit` but not `repeats`: more repeats leave the first ones unchanged."""
        return f"{self.kind}:{self.stratified:d}:{self.refit:d}:{self.seed}"

    def describe(self) -> str:
        """Return the number of divisions."""
        return (
            f"{counted(self.repeats, 'random division')} into thirds to train, validate and test, "
            f"{'' if self.stratified else 'not '}stratified"
        )

    def describe_tuning(self) -> str:
        """Return a description of the validation third and of the final fit."""
        return "tuning on the validation third" + (
            ", then fitted again on both thirds" if self.refit else refitting(False)
        )
