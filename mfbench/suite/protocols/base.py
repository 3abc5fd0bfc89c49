"""The interface of all protocols: coordinates, splits, and their descriptions for reports and tests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mfbench.suite.forms import KINDS, Task
from mfbench.suite.protocols.rows import shares
from mfbench.suite.seeds import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of one fold; it unpacks into its training and test rows."""

    train: Rows  # rows that the final selector and classifier are fitted on
    test: Rows  # rows that are predicted and scored; neither fits nor the selection of parameters use them
    # Rows that tuning fits on and rows that it scores, if the protocol sets a validation part aside. None: inner cross-
    # validation of the training rows.
    tuning: tuple[Rows, Rows] | None = None
    feature_share: float = 1.0  # share of the original features that take part; rounded up
    # Determines which features take part. With the same seed, a smaller share is a subset of a larger one.
    feature_seed: int = 0

    def __iter__(self) -> Iterator[Rows]:
        return iter((self.train, self.test))

    def features(self, n_features: int) -> Rows | None:
        """Return the features that take part, in ascending order; None for all."""
        if self.feature_share == 1.0:
            return None
        order = np.random.default_rng(self.feature_seed).permutation(n_features)
        return np.sort(order[: max(1, shares(n_features, self.feature_share, up=True))])


class EvaluationProtocol(ABC):
    """The splits of a dataset into training, validation and test rows: the same for every method of a suite."""

    # A subclass sets `kind`, computes `splits`, and is listed in `mfbench.suite.forms.KINDS` under that name with the
    # keys that a suite can set; each is a parameter of its constructor.

    kind: str
    folds: int  # folds, repeats: there is a trial for each (repeat, fold) with `repeat < repeats` and `fold < folds`
    repeats: int
    inner_folds: int = 0  # folds of the inner cross-validation used for tuning, if a split has no validation rows
    # Whether a dataset with more than two classes is one problem, or one problem per class against the rest.
    decisions: str = "multi-class"
    # The name of a trial in reports.
    trial_name: ClassVar[str] = "fold"

    def __init__(self, seed: int) -> None:
        self.seed = seed

    @property
    def task(self) -> Task:
        """How its trials run, as ``mfbench.suite.forms.KINDS`` states for its kind."""
        return KINDS[self.kind].task

    def coordinates(self) -> Iterator[tuple[int, int]]:
        """Yield every (repeat, fold), in order."""
        for repeat in range(self.repeats):
            for fold in range(self.folds):
                yield repeat, fold

    @abstractmethod
    def splits(self, dataset: str, y: NDArray[np.int64], repeat: int) -> list[Split]:
        """Return the split of every fold of one repeat."""

    @property
    @abstractmethod
    def test_train_ratio(self) -> float:
        """Number of test rows over number of training rows, for the corrected resampled t-test."""

    @property
    def identity(self) -> str:
        """A text under which splits are stored; it names everything but dataset and repeat that determines them."""
        return f"{self.kind}:{self.folds}:{self.seed}"

    @abstractmethod
    def describe(self) -> str:
        """Return a short description of how rows are split, for the report."""

    def describe_tuning(self) -> str:
        """Return a short description of how parameters are tuned, for the report."""
        return f"tuning by inner {self.inner_folds}-fold cross-validation"

    def _seed(self, dataset: str, repeat: int, *more: str | int) -> int:
        return derive_seed(self.seed, dataset, "folds", repeat, *more)


def key_settings(settings: dict[str, Any], *, tuned: bool) -> dict[str, Any]:
    """Return the settings of a protocol that determine a trial's result, for its key."""
    # The grid itself is part of the key, so how it was thinned need not be; so are the sizes of a curve.
    ignored = {"form", "timeout", "memory", "repeats", "rounds", "selection", "grid_values", "curve"}
    ignored |= set() if tuned else {"inner_folds"}
    return {name: value for name, value in settings.items() if name not in ignored and value is not None}
