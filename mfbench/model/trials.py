"""The vocabulary of a run: its trials, and their results.

Like `mfbench.model.specs`, this module stays light: it imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Status(StrEnum):
    """How a trial ended."""

    OK = "ok"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a dataset that a run left out is unavailable; unlike other datasets left out it is not a failure.

    Attributes
    ----------
    can_pull : bool
        Whether ``mfbench datasets pull`` can download it.
    attempt : str
        Why a download failed; empty if none was tried.
    """

    can_pull: bool = False
    attempt: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One method on one fold of one dataset: the unit of work and of storage.

    Attributes
    ----------
    key : str
        Hash of everything that determines the result; see ``docs/architecture.md``.
    dataset, method : str
        Labels in the suite.
    repeat, fold : int
        Position in the protocol, from 0.
    seed : int
        Seed of everything random in this trial, derived from the coordinates above and the suite's seed.
    """

    key: str
    dataset: str
    method: str
    repeat: int
    fold: int
    seed: int


@dataclass(frozen=True, slots=True)
class Interactions:
    """A summary of the weights that a method gives to pairs of features.

    Attributes
    ----------
    pairs : ndarray of shape (n_kept, 2)
        The pairs with the largest absolute weights, and the true pairs if they are known.
    values : ndarray of shape (n_kept,)
        Their weights.
    ranks : ndarray of shape (n_kept,)
        Number of pairs with the same or a larger absolute weight.
    p_values : ndarray of shape (n_kept,) or None
        Their p-values, if the method has any.
    norm : float
        Frobenius norm of the whole matrix of weights.
    n_pairs : int
        Number of pairs of features in the dataset.
    """

    pairs: NDArray[np.int64]
    values: NDArray[np.float64]
    ranks: NDArray[np.int64]
    p_values: NDArray[np.float64] | None
    norm: float
    n_pairs: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The scores of a method at several numbers of features, all from one fit of its selector.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of features, ascending. Those that are kept are the first ones by weight, so they are nested.
    metrics : tuple of str
        The rows of `scores`.
    scores : ndarray of shape (n_metrics, n_sizes)
        On the test rows.
    seconds : ndarray of shape (n_sizes,)
        Wall seconds of the classifier's fit at each size.
    chosen : tuple of dict
        The parameters that tuning selected at each size; empty for a method without tuning.
    """

    sizes: NDArray[np.int64]
    metrics: tuple[str, ...]
    scores: NDArray[np.float64]
    seconds: NDArray[np.float64]
    chosen: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True, kw_only=True)
class Candidate:
    """The result of one grid point on one fold. See `TrialResult` for the attributes."""

    chosen: dict[str, Any]
    scores: dict[str, float] = field(default_factory=dict)
    select_wall: float = 0.0
    select_cpu: float = 0.0
    fit_wall: float = 0.0
    fit_cpu: float = 0.0
    predict_wall: float = 0.0
    predict_cpu: float = 0.0
    n_selected: int = 0
    selected: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    predictions: NDArray[np.int64] | None = None
    interactions: Interactions | None = None


@dataclass(slots=True, kw_only=True)
class TrialResult:
    """The result of a trial.

    Attributes
    ----------
    key : str
        The trial's key.
    status : Status
        How it ended.
    error_type, error_message, error_trace : str
        Empty if the status is "ok".
    n_warnings : int
        Number of Python warnings that the trial raised.
    warning : str
        The first of them.
    touched : str
        What the trial changed of the state that all code of its process shares, such as a global random state; its
        worker was replaced afterwards.
    duration : float
        Wall seconds of the whole trial, whatever its status.
    scores : dict of str to float
        One value per metric of the protocol.
    select_wall, select_cpu : float
        Seconds spent fitting the selector. A fit that methods share is counted in full for each of them.
    fit_wall, fit_cpu : float
        Seconds spent fitting the classifier with the selected parameters.
    predict_wall, predict_cpu : float
        Seconds spent predicting the test part.
    tune_wall : float
        Wall seconds of the inner cross-validation, or of all grid points on the outer fold.
    peak_memory : int
        Bytes by which the worker's resident memory rose above its level at the start of the trial; 0 if the system does
        not report it.
    n_selected : int
        Number of features used.
    selected : ndarray of int or None
        Their indices; None if the method has no selector.
    weights : ndarray of float or None
        The selector's importance of each feature.
    predictions : ndarray of int or None
        Predicted class codes of the test rows, in row order.
    decisions : ndarray of shape (n_test, n_classes) or None
        If each class is a problem of its own against the rest: 1 for each class that a test row is assigned to.
    interactions : Interactions or None
        The weights of pairs of features by the selector, or else by the classifier.
    chosen : dict
        The parameters that tuning selected.
    candidates : list of Candidate
        With per-dataset tuning: every grid point that did not fail, in the order of the grid. Then whatever depends on
        the selected parameters (`scores`, `predictions`, …) is stored in the candidates instead of the result.
    curve : Curve or None
        The scores at each size of a method with a ``curve``. Then `scores`, `predictions`, `selected`, `n_selected` and
        `chosen` are those of the largest size, and the times of fitting and predicting are sums over the sizes.
    """

    key: str
    status: Status = Status.OK
    error_type: str = ""
    error_message: str = ""
    error_trace: str = ""
    n_warnings: int = 0
    warning: str = ""
    touched: str = ""
    duration: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    select_wall: float = 0.0
    select_cpu: float = 0.0
    fit_wall: float = 0.0
    fit_cpu: float = 0.0
    predict_wall: float = 0.0
    predict_cpu: float = 0.0
    tune_wall: float = 0.0
    peak_memory: int = 0
    n_selected: int = 0
    selected: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    predictions: NDArray[np.int64] | None = None
    decisions: NDArray[np.int64] | None = None
    interactions: Interactions | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    curve: Curve | None = None
