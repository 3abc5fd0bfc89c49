"""``nested-cv``: cross-validation whose training parts are split once more, into learning and validation rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench.suite.protocols.base import EvaluationProtocol, Split
from mfbench.suite.protocols.rows import cross_validation, parted, shares

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class NestedCV(EvaluationProtocol):
    """``nested-cv``: cross-validation that sets a share of each training part aside for tuning."""

    kind = "nested-cv"

    def __init__(
        self,
        folds: int,
        repeats: int,
        validation_share: float,
        stratified: bool,
        refit: bool,
        decisions: str,
        seed: int,
    ) -> None:
        super().__init__(seed)
        self.folds, self.repeats, self.validation_share = folds, repeats, validation_share
        self.stratified, self.refit, self.decisions = stratified, refit, decisions

    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the splits of one repeat; see `EvaluationProtocol.splits`."""
        splits = []
        outer = cross_validation(y, self.folds, self._seed(dataset, repeat), stratified=self.stratified)
        for fold, (train, test) in enumerate(outer):
            n_validation = shares(len(train), self.validation_share, up=True)
            seed = self._seed(dataset, repeat, "validation", fold)
            learn, validation = parted(train, y, [len(train) - n_validation, n_validation], seed, self.stratified)
            splits.append(Split(train if self.refit else learn, test, (learn, validation)))
        return splits

    @property
    def test_train_ratio(self) -> float:
        """Return the size of a fold divided by the number of rows of the final fit."""
        test = 1.0 / self.folds
        return test / ((1.0 - test) * (1.0 if self.refit else 1.0 - self.validation_share))

    @property
    def identity(self) -> str:
        """Return a text that depends on the folds and on the share of validation rows."""
        return f"{self.kind}:{self.folds}:{self.validation_share:g}:{self.stratified:d}:{self.refit:d}:{self.seed}"

    def describe(self) -> str:
        """Return a description of folds, stratification and decisions."""
        repeated = f" repeated {self.repeats} times" if self.repeats > 1 else ""
        classes = ", one class against the rest" if self.decisions == "one-vs-rest" else ""
        return f"{self.folds}-fold cross-validation{repeated}, {'' if self.stratified else 'not '}stratified{classes}"

    def describe_tuning(self) -> str:
        """Return a description of the validation part and of the final fit."""
        return f"tuning on {self.validation_share:.0%} of each training part{refitting(self.refit)}"


def refitting(refit: bool) -> str:
    """Return whether the method is fitted again after its parameters are selected, as a clause."""
    return ", then fitted again on all of it" if refit else ", not fitted again after that"
