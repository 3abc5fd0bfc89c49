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
    """Rows of one fold; it unpacks into its training and test rows.

    Attributes
    ----------
    train : ndarray of int
        Rows that the final selector and classifier are fitted on.
    test : ndarray of int
        Rows that are predicted and scored; neither fits nor the selection of parameters use them.
    tuning : (ndarray, ndarray) or None, default=None
        Rows that tuning fits on and rows that it scores, if the protocol sets a validation part aside. None: inner
        cross-validation of the training rows.
    feature_share : float, default=1.0
        Share of the original features that take part; rounded up.
    feature_seed : int, default=0
        Determines which features take part. With the same seed, a smaller share is a subset of a larger one.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = Split(np.array([0, 1]), np.array([2]))
    >>> test
    array([2])
    """

    train: Rows
    test: Rows
    tuning: tuple[Rows, Rows] | None = None
    feature_share: float = 1.0
    feature_seed: int = 0

    def __iter__(self) -> Iterator[Rows]:
        return iter((self.train, self.test))

    def features(self, n_features: int) -> Rows | None:
        """Return the features that take part, in ascending order; None for all.

        Examples
        --------
        >>> import numpy as np
        >>> len(Split(np.array([0]), np.array([1]), feature_share=0.25).features(10))
        3
        """
        if self.feature_share == 1.0:
            return None
        order = np.random.default_rng(self.feature_seed).permutation(n_features)
        return np.sort(order[: max(1, shares(n_features, self.feature_share, up=True))])


class EvaluationProtocol(ABC):
    """The splits of a dataset into training, validation and test rows: the same for every method of a suite.

    A subclass sets `kind`, computes `splits`, and is listed in ``mfbench.suite.forms.KINDS`` under that name with the
    keys that a suite can set; each is a parameter of its constructor.

    Parameters
    ----------
    seed : int
        The suite's seed. Splits are a function of it, the dataset's label and the repeat, never of the method.

    Attributes
    ----------
    folds, repeats : int
        There is a trial for each (repeat, fold) with ``repeat < repeats`` and ``fold < folds``.
    inner_folds : int
        Folds of the inner cross-validation used for tuning, if a split has no validation rows.
    decisions : {"multi-class", "one-vs-rest"}
        Whether a dataset with more than two classes is one problem, or one problem per class against the rest.
    task : Task
        How its trials run.
    """

    kind: str
    folds: int
    repeats: int
    inner_folds: int = 0
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
        """Return the split of every fold of one repeat.

        Parameters
        ----------
        dataset : str
            Label in the suite.
        y : ndarray of shape (n_samples,)
            Class codes.
        repeat : int

        Raises
        ------
        DataError
            If the dataset is too small. It is then left out, with the reason.
        """

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
    """Return the settings of a protocol that determine a trial's result, for its key.

    Parameters
    ----------
    settings : dict
        The protocol's settings, complete.
    tuned : bool
        Whether the method is tuned within the training part; if not, the settings of such tuning are left out.
    """
    # The grid itself is part of the key, so how it was thinned need not be; so are the sizes of a curve.
    ignored = {"form", "timeout", "memory", "repeats", "rounds", "selection", "grid_values", "curve"}
    ignored |= set() if tuned else {"inner_folds"}
    return {name: value for name, value in settings.items() if name not in ignored and value is not None}
