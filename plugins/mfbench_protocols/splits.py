"""The built-in protocols: cross-validation, holdout, thirds, times at several sizes, and rounds of generated data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.base.text import counted
from mfbench.suite.protocols import (
    EvaluationProtocol,
    Split,
    cross_validation,
    derive_seed,
    parted,
    shares,
    stratified_splits,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.suite.splitters import Structure

    Codes = NDArray[np.int64]


class GroundTruth(EvaluationProtocol):
    """``ground-truth``: selectors are fitted on generated data whose relevant features are known."""

    # Each round has its own data, shared by all methods. All rows are training rows; nothing is predicted.

    kind = "ground-truth"
    predicts = False
    folds = 1
    trial_name = "round"

    def __init__(self, rounds: int, threshold: float, seed: int) -> None:
        super().__init__(seed)
        self.rounds = self.repeats = rounds
        self.threshold = threshold

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return one split in which all rows are training rows."""
        return [Split(np.arange(len(y), dtype=np.intp), np.empty(0, dtype=np.intp))]

    def round_seed(self, dataset: str, repeat: int) -> int:
        """Return the seed of a round's data, a function of the suite's seed, the dataset and the round alone."""
        return derive_seed(self.seed, dataset, "round", repeat)

    @property
    def test_train_ratio(self) -> float:
        """Rounds share no rows, so the plain paired test is valid."""
        return 0.0

    def describe(self) -> str:
        """Return the number of rounds."""
        return f"{counted(self.repeats, 'round')}, each with data of its own"

    def describe_tuning(self) -> str:
        """State that only selectors tune themselves."""
        return "no tuning but a selector's own"


class Holdout(EvaluationProtocol):
    """``holdout``: random splits into a training and a test part, one per repeat."""

    kind = "holdout"
    folds = 1

    def __init__(self, repeats: int, test_share: float, inner_folds: int, stratified: bool, seed: int) -> None:
        super().__init__(seed)
        self.repeats, self.test_share = repeats, test_share
        self.inner_folds, self.stratified = inner_folds, stratified

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the split of one repeat; see `EvaluationProtocol.splits`."""
        if structure is not None:
            seed = self._seed(dataset, repeat)
            return [Split(*structure.aside(y, np.arange(len(y)), self.test_share, seed, for_test=True))]
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
        """It covers share and stratification but not `repeats`: more repeats leave the first ones unchanged."""
        return f"{self.kind}:{self.test_share:g}:{self.stratified:d}:{self.seed}"

    def describe(self) -> str:
        """Return the number of splits and the share of test rows."""
        stratified = "" if self.stratified and self.has_strata else "not "
        tested = f"{'tests' if self.repeats == 1 else 'test'} {self.test_share:.0%} of the rows"
        return f"{counted(self.repeats, 'random split')} that {tested}, {stratified}stratified"


class NestedCV(EvaluationProtocol):
    """``nested-cv``: cross-validation that sets aside a share of each training part for tuning."""

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

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the splits of one repeat; see `EvaluationProtocol.splits`."""
        splits = []
        seed = self._seed(dataset, repeat)
        if structure is None:
            outer = cross_validation(y, self.folds, seed, stratified=self.stratified)
        else:
            outer = structure.pairs(y, self.folds, seed)
        for fold, (train, test) in enumerate(outer):
            n_validation = shares(len(train), self.validation_share, up=True)
            seed = self._seed(dataset, repeat, "validation", fold)
            if structure is not None:
                learn, validation = structure.aside(y, train, self.validation_share, seed)
            else:
                learn, validation = parted(train, y, [len(train) - n_validation, n_validation], seed, self.stratified)
            splits.append(Split(train if self.refit else learn, test, (learn, validation)))
        return splits

    @property
    def test_train_ratio(self) -> float:
        """The size of a fold divided by the number of rows of the final fit."""
        test = 1.0 / self.folds
        return test / ((1.0 - test) * (1.0 if self.refit else 1.0 - self.validation_share))

    @property
    def identity(self) -> str:
        """Text that depends on the folds and the share of validation rows."""
        return f"{self.kind}:{self.folds}:{self.validation_share:g}:{self.stratified:d}:{self.refit:d}:{self.seed}"

    def describe(self) -> str:
        """Describe folds, stratification and decisions."""
        repeated = f" repeated {self.repeats} times" if self.repeats > 1 else ""
        classes = ", one class against the rest" if self.decisions == "one-vs-rest" else ""
        stratified = "" if self.stratified and self.has_strata else "not "
        return f"{self.folds}-fold cross-validation{repeated}, {stratified}stratified{classes}"

    def describe_tuning(self) -> str:
        """Describe the validation part and the final fit."""
        return f"tuning on {self.validation_share:.0%} of each training part{refitting(self.refit)}"


def refitting(refit: bool) -> str:
    """Return a clause on whether the method is refitted after its parameters are selected."""
    return ", then fitted again on all of it" if refit else ", not fitted again after that"


class RepeatedCV(EvaluationProtocol):
    """``repeated-cv``: stratified k-fold cross-validation, repeated with new shuffles."""

    kind = "repeated-cv"

    def __init__(self, folds: int, repeats: int, seed: int, inner_folds: int = 5) -> None:
        super().__init__(seed)
        self.folds, self.repeats, self.inner_folds = folds, repeats, inner_folds

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the splits of one repeat; see `EvaluationProtocol.splits`."""
        seed = self._seed(dataset, repeat)
        pairs = stratified_splits(y, self.folds, seed) if structure is None else structure.pairs(y, self.folds, seed)
        return [Split(train, test) for train, test in pairs]

    @property
    def test_train_ratio(self) -> float:
        """One part tests, the others train."""
        return 1.0 / (self.folds - 1)

    def describe(self) -> str:
        """Return the number of folds and repeats."""
        repeated = f" repeated {self.repeats} times" if self.repeats > 1 else ""
        return f"{self.folds}-fold cross-validation{repeated}{', stratified' if self.has_strata else ''}"


class ThreeWay(EvaluationProtocol):
    """``three-way``: random thirds for training, tuning and testing; remaining rows are training rows."""

    kind = "three-way"
    folds = 1

    def __init__(self, repeats: int, stratified: bool, refit: bool, seed: int) -> None:
        super().__init__(seed)
        self.repeats, self.stratified, self.refit = repeats, stratified, refit

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the thirds of one repeat; see `EvaluationProtocol.splits`."""
        third = len(y) // 3
        sizes = [len(y) - 2 * third, third, third]
        train, validation, test = parted(np.arange(len(y)), y, sizes, self._seed(dataset, repeat), self.stratified)
        both = np.sort(np.concatenate([train, validation]))
        return [Split(both if self.refit else train, test, (train, validation))]

    @property
    def test_train_ratio(self) -> float:
        """One third tests; one third, or two with `refit`, train."""
        return 0.5 if self.refit else 1.0

    @property
    def identity(self) -> str:
        """It covers `stratified` and `refit` but not `repeats`: more repeats leave the first ones unchanged."""
        return f"{self.kind}:{self.stratified:d}:{self.refit:d}:{self.seed}"

    def describe(self) -> str:
        """Return the number of random divisions."""
        return (
            f"{counted(self.repeats, 'random division')} into thirds to train, validate and test, "
            f"{'' if self.stratified and self.has_strata else 'not '}stratified"
        )

    def describe_tuning(self) -> str:
        """Describe the validation third and the final fit."""
        return "tuning on the validation third" + (
            ", then fitted again on both thirds" if self.refit else refitting(False)
        )


TEST_SHARE = 0.2


class Timing(EvaluationProtocol):
    """``timing``: halves, quarters, eighths … of the rows with all features, and of the features with all rows."""

    # In each repeat a fifth of the rows is set aside and predicted at each size, so that prediction times are
    # comparable and the scores form a learning curve. Fold 0 has the fewest rows; fold `steps - 1` has all rows and all
    # features; later folds have fewer and fewer features. Smaller subsamples are nested in larger ones.

    kind = "timing"

    def __init__(self, repeats: int, steps: int, seed: int) -> None:
        super().__init__(seed)
        self.repeats, self.steps = repeats, steps
        self.folds = 2 * steps - 1

    def splits(self, dataset: str, y: Codes, repeat: int, structure: Structure | None = None) -> list[Split]:
        """Return the subsamples of one repeat; see `EvaluationProtocol.splits`."""
        seed = self._seed(dataset, repeat)
        n_test = shares(len(y), TEST_SHARE, up=True)
        train, test = parted(np.arange(len(y)), y, [len(y) - n_test, n_test], seed, stratified=True)
        splits: list[Split] = []
        # From large to small, each a stratified part of the previous one.
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
        """The ratio in the fold with all rows; times are not tested."""
        return TEST_SHARE / (1.0 - TEST_SHARE)

    @property
    def identity(self) -> str:
        """It covers `steps` but not `repeats`: more repeats leave the first ones unchanged."""
        return f"{self.kind}:{self.steps}:{self.seed}"

    def describe(self) -> str:
        """Return the sizes."""
        smallest = f"1/{2 ** (self.steps - 1)}"
        return f"{self.repeats} times {self.steps} sizes from {smallest} to all of the rows, and of the features"

    def describe_tuning(self) -> str:
        """State that nothing is tuned."""
        return "no tuning"
