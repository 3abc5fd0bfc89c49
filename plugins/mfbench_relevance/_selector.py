"""What all methods of this package share: the target, the presets, the kernel, and how a selection is told."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from mfbench_relevance._kernel.views import INFORMATION, KERNELS, CodedView, NumericView, make_view
from mfbench_relevance.kernels import FeatureKernel, Null, kernel_of, permuted, repaired

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")


@dataclass(frozen=True)
class Task:
    """A response and the kernel that compares it with the features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, or class codes.
    n_classes : int
        0 for numbers.
    options : dict
        The kernel's arguments of `make_view`.
    bias : str
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    n_classes: int
    options: dict[str, Any]
    bias: str

    @property
    def informative(self) -> bool:
        """Whether the kernel is mutual information."""
        return bool(self.options["kernel"] == INFORMATION)

    def view(self, rows: NDArray[np.intp] | slice = slice(None)) -> CodedView | NumericView:
        """Return the view of some rows; bins and scales come from these rows alone."""
        return make_view(self.X[rows], self.y[rows], n_classes=self.n_classes, **self.options)


class KernelSelector(SelectorMixin, BaseEstimator):
    """Base class of selectors that see the data through a feature kernel."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [StrOptions({"paper", "calibrated"})],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "target": [StrOptions({"auto", "numbers", "classes"})],
        "bins": [AT_LEAST_ONE, None],
        "target_bins": [AT_LEAST_ONE, None],
        "binning": [StrOptions({"width", "frequency"}), None],
        "bias": [StrOptions({"none", "miller-madow", "null"}), None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [AT_LEAST_ONE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "quantile": [Interval(Real, 0, 1, closed="both")],
        "n_permutations": [AT_LEAST_ONE],
        "repair": [StrOptions({"clip", "raise", "ignore"})],
        "max_iter": [AT_LEAST_ONE],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        preset: str,
        kernel: Any,
        target: str,
        bins: int | None,
        target_bins: int | None,
        binning: str | None,
        gamma: float | None,
        degree: int,
        coef0: float,
        quantile: float,
        n_permutations: int,
        random_state: Any,
    ) -> None:
        self.preset = preset
        self.kernel = kernel
        self.target = target
        self.bins = bins
        self.target_bins = target_bins
        self.binning = binning
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.quantile = quantile
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _prepare(self, X: Any, y: Any) -> Task:
        """Check the data and resolve the preset; set ``settings_``."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        y, n_classes = check_target(y, self.target)
        self.settings_ = self._resolve(X.shape[1])
        if self.kernel == INFORMATION:
            check_bins(self.settings_)
        given = {name: self.settings_[name] for name in ("bins", "target_bins", "binning")}
        options = {"kernel": self.kernel, "gamma": self.gamma, "degree": self.degree, "coef0": self.coef0, **given}
        return Task(X, y, n_classes, options, self.settings_["bias"])

    def _resolve(self, n_features: int) -> dict[str, Any]:
        """Return the settings: what is given counts, the preset tells the rest."""
        if self.preset == "paper":
            bins = max(2, round(np.log2(n_features)))
            settings = {"bins": bins, "target_bins": bins, "binning": "width", "bias": "none"}
        else:
            bias = "none" if self.kernel == "linear" else "null"
            settings = {"bins": 16, "target_bins": 4, "binning": "frequency", "bias": bias}
        given = {name: getattr(self, name, None) for name in settings}
        return {name: value if given[name] is None else given[name] for name, value in settings.items()}

    def _kernel(self, task: Task, *, null: bool) -> tuple[FeatureKernel, Null | None]:
        """Return the kernel, corrected and repaired, and the null if it is needed; set what is told of them."""
        view = task.view()
        random = check_random_state(self.random_state)
        found = permuted(view, self.n_permutations, random) if null or task.bias == "null" else None
        kernel = repaired(kernel_of(view, task.bias, found), self.repair)
        self.smallest_eigenvalue_ = kernel.smallest_eigenvalue
        self.relevance_ = single(kernel.cross.copy())
        if not kernel.target.any():
            warnings.warn("the response is constant: no feature is selected", RuntimeWarning, stacklevel=3)
        return kernel, found

    def _select(self, task: Task, kernel: FeatureKernel, weights: NDArray[np.float64]) -> None:
        """Set weights and selection from weights of shape (n_targets, n_features).

        A feature below the null mean carries no information, however its weight came about.
        """
        if task.informative and task.bias != "none":
            weights = np.where(kernel.cross > 0, weights, 0.0)
        strongest = np.abs(weights).argmax(axis=0)
        self.weights_ = weights[strongest, np.arange(weights.shape[1])]
        self.feature_importances_ = np.abs(self.weights_)
        self.support_ = self.weights_ != 0

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self.support_
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_target(y: NDArray[Any], target: str) -> tuple[NDArray[Any], int]:
    """Return numbers and 0, or class codes and the number of classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    target : {"auto", "numbers", "classes"}
        "auto" takes whole numbers, booleans and text as classes, other numbers as numbers.

    Raises
    ------
    ValueError
        If y is of neither kind, or holds text where numbers are asked for.

    Examples
    --------
    >>> import numpy as np
    >>> check_target(np.array(["no", "yes", "no"]), "auto")
    (array([0, 1, 0]), 2)
    >>> check_target(np.array([1.0, 2.0]), "numbers")
    (array([1., 2.]), 0)
    """
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if target == "numbers" or (target == "auto" and kind == "continuous"):
        try:
            return np.asarray(y, dtype=np.float64), 0
        except ValueError:
            raise ValueError("y holds text, but target='numbers'; give numbers, or target='classes'") from None
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"Unknown label type: {kind}; y must hold one number or one class per row")
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int64), len(classes)


def check_bins(settings: dict[str, Any]) -> None:
    """Refuse more bins than a code can tell apart."""
    for name in ("bins", "target_bins"):
        if settings[name] > 4096:
            raise ValueError(f"{name} must be at most 4096, got {settings[name]}")


def single(values: NDArray[np.float64]) -> Any:
    """Return the values of the only target, or those of all.

    Examples
    --------
    >>> import numpy as np
    >>> single(np.array([[1.0, 2.0]]))
    array([1., 2.])
    """
    return values[0] if len(values) == 1 else values
