"""``repeated-cv``: stratified k-fold cross-validation, repeated with new shuffles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.protocols.rows import stratified_splits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RepeatedCV(EvaluationProtocol):
    """``repeated-cv``: stratified k-fold cross-validation, repeated with new shuffles."""

    kind = "repeated-cv"

    def __init__(self, folds: int, repeats: int, seed: int, inner_folds: int = 5) -> None:
        super().__init__(seed)
        self.folds, self.repeats, self.inner_folds = folds, repeats, inner_folds

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the splits of one repeat; see `EvaluationProtocol.splits`."""
        pairs = stratified_splits(y, self.folds, self._seed(dataset, repeat))
        return [Split(train, test) for train, test in pairs]

    @property
    def test_train_ratio(self) -> float:
        """One part is for testing, the others for training."""
        return 1.0 / (self.folds - 1)

    def describe(self) -> str:
        """Return the number of folds and repeats."""
        repeated = f" repeated {self.repeats} times" if self.repeats > 1 else ""
        return f"{self.folds}-fold cross-validation{repeated}, stratified"
