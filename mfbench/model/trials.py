"""The vocabulary of a run: its trials, the predictions that metrics score, and the results.

Like `mfbench.model.specs`, this module stays light: it imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Predictions:
    """A learner's predictions for the rows of a test part, and the truth.

    Parameters
    ----------
    y_true, y_pred : ndarray of shape (n_rows,)
        True and predicted class codes (int64), or numbers (float64).
    y_score : ndarray of shape (n_rows, n_seen_classes) or (n_rows,), or None
        Probabilities or decision values; None if the learner provides neither, or no metric needs them. Decision
        values for two classes are one column, large for the second class.
    classes : ndarray of shape (n_seen_classes,)
        The class code of each column of `y_score`: the classes of the training part.
    is_probability : bool
        Whether `y_score` holds probabilities.
    decisions : ndarray of shape (n_rows, n_classes) or None, default=None
        If each class is a separate one-vs-rest problem: 1 if the row was assigned to the class, else 0.
    sample_weight : ndarray of shape (n_rows,) or None, default=None
        The weights of the rows, above 0; None if the dataset has none.
    """

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    y_score: NDArray[np.float64] | None
    classes: NDArray[np.int64]
    is_probability: bool
    decisions: NDArray[np.int64] | None = None
    sample_weight: NDArray[np.float64] | None = None


class Status(StrEnum):
    """How a trial ended."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a dataset that a run left out is unavailable; being unavailable is not a failure."""

    can_pull: bool = False  # whether `mfbench datasets pull` can download it
    attempt: str = ""  # why a download failed; empty if none was tried


@dataclass(frozen=True, slots=True)
class Trial:
    """One method on one fold of one dataset: the unit of work and of storage."""

    key: str  # hash of everything that determines the result; see `docs/architecture.md`
    dataset: str  # dataset, method: labels in the suite
    method: str
    repeat: int  # repeat, fold: position in the protocol, from 0
    fold: int
    seed: int  # seed of everything random in this trial, derived from the coordinates above and the suite's seed


@dataclass(frozen=True, slots=True)
class Interactions:
    """A summary of the weights that a method gives to pairs of features."""

    pairs: NDArray[np.int64]  # the pairs with the largest absolute weights, plus the true pairs if known
    values: NDArray[np.float64]  # their weights
    ranks: NDArray[np.int64]  # number of pairs with an equal or larger absolute weight
    p_values: NDArray[np.float64] | None  # their p-values, if the method provides them
    norm: float  # Frobenius norm of the whole weight matrix
    n_pairs: int  # number of feature pairs in the dataset


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores of a method at several numbers of features, all from one fit of its selector."""

    # Numbers of features, ascending. The features with the largest weights are kept, so the subsets are nested.
    sizes: NDArray[np.int64]
    metrics: tuple[str, ...]  # the rows of `scores`
    scores: NDArray[np.float64]  # on the test rows
    seconds: NDArray[np.float64]  # wall seconds of the classifier's fit at each size
    # The parameters that tuning selected at each size; empty for a method without tuning.
    chosen: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True, kw_only=True)
class Candidate:
    """The result of one grid point on one fold."""

    chosen: dict[str, Any] = field(default_factory=dict)  # the parameters that tuning tried or selected
    scores: dict[str, float] = field(default_factory=dict)  # one value per metric of the protocol
    # select_wall, select_cpu: seconds spent fitting the selector. A fit shared by several methods counts in full for
    # each.
    select_wall: float = 0.0
    select_cpu: float = 0.0
    fit_wall: float = 0.0  # fit_wall, fit_cpu: seconds spent fitting the classifier with the parameters
    fit_cpu: float = 0.0
    predict_wall: float = 0.0  # predict_wall, predict_cpu: seconds spent predicting the test part
    predict_cpu: float = 0.0
    n_selected: int = 0  # number of features used
    selected: NDArray[np.int64] | None = None  # their indices; None if the method has no selector
    weights: NDArray[np.float64] | None = None  # the selector's importance of each feature
    predictions: NDArray[np.int64] | None = None  # predicted class codes of the test rows, in row order
    # Weights of feature pairs, from the selector or else from the classifier.
    interactions: Interactions | None = None


@dataclass(slots=True, kw_only=True)
class TrialResult(Candidate):
    """The result of a trial: what it measured with the parameters that tuning selected, and how it ended."""

    key: str
    status: Status = Status.OK
    error_type: str = ""  # error_type, error_message, error_trace: empty if the status is "ok"
    error_message: str = ""
    error_trace: str = ""
    n_warnings: int = 0  # number of Python warnings raised
    warning: str = ""  # the first warning
    # Changes that the trial made to process-wide state, e.g. a global random state; its worker was replaced afterwards.
    touched: str = ""
    duration: float = 0.0  # wall seconds of the whole trial, whether or not it failed
    tune_wall: float = 0.0  # wall seconds of the inner cross-validation, or of all grid points on the outer fold
    # Bytes by which the worker's resident memory rose above its level at the start of the trial; 0 if the system does
    # not report it.
    peak_memory: int = 0
    # If each class is a separate one-vs-rest problem: 1 for each class assigned to a test row.
    decisions: NDArray[np.int64] | None = None
    # With per-dataset tuning: every grid point that did not fail, in grid order. Everything that depends on the
    # selected parameters (`scores`, `predictions`, …) is then stored in the candidates instead of the result.
    candidates: list[Candidate] = field(default_factory=list)
    # The scores at each size for a method with a `curve`. `scores`, `predictions`, `selected`, `n_selected` and
    # `chosen` then refer to the largest size, and fit and prediction times are sums over the sizes.
    curve: Curve | None = None
