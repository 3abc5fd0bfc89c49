"""A table, its response, and how a kernel compares the features with it: where every method of this package starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from mfbench_relevance._kernel.views import INFORMATION, CodedView, NumericView, Pairwise, make_view
from mfbench_relevance.kernels import Kernel, Null, RowKernel, kernel_of, permuted, repaired

LARGEST_BINS = 4096  # a table of counts for a pair of features then takes 64 MB


@dataclass(frozen=True, kw_only=True)
class Task:
    """Checked data, and the parameters of the kernel with the preset filled in.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, or class codes.
    n_classes : int
        0 if y holds numbers.
    kernel, gamma, degree, coef0, bins, target_bins, binning, bias
        As in `feature_kernel`.
    repair : {"clip", "raise", "ignore"}
        As in `repaired`.
    quantile : float
        Quantile of the null that serves as a threshold.
    n_permutations : int
        Permutations that make up the null.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    n_classes: int
    kernel: str | Pairwise
    gamma: float | None
    degree: int
    coef0: float
    bins: int
    target_bins: int
    binning: str
    bias: str
    repair: str
    quantile: float
    n_permutations: int

    @property
    def settings(self) -> dict[str, Any]:
        """The parameters that a preset may set, with the values in use."""
        return {"bins": self.bins, "target_bins": self.target_bins, "binning": self.binning, "bias": self.bias}

    @property
    def informative(self) -> bool:
        """Whether the kernel is mutual information."""
        return self.kernel == INFORMATION

    def view(self, rows: NDArray[np.intp] | slice = slice(None)) -> CodedView | NumericView:
        """Return the view of some rows; bins and scales come from these rows alone."""
        return make_view(
            self.X[rows],
            self.y[rows],
            n_classes=self.n_classes,
            kernel=self.kernel,
            bins=self.bins,
            target_bins=self.target_bins,
            binning=self.binning,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
        )

    def compare(
        self,
        random: np.random.RandomState,
        rows: NDArray[np.intp] | slice = slice(None),
        *,
        with_null: bool = False,
    ) -> tuple[Kernel, Null | None]:
        """Return the kernel of some rows, corrected and repaired, and the null if the correction or the caller uses it.

        Parameters
        ----------
        random : RandomState
            Permutes the response.
        rows : ndarray of int or slice, default=slice(None)
            The rows to compare.
        with_null : bool, default=False
            Whether to compute the null even if the correction does not use it.
        """
        view = self.view(rows)
        null = permuted(view, self.n_permutations, random) if with_null or self.bias == "null" else None
        if (
            isinstance(view, NumericView)
            and view.linear
            and self.bias == "none"
            and view.rows.shape[1] < view.n_features
        ):
            return RowKernel(view), null
        return repaired(kernel_of(view, self.bias, null), self.repair), null

    def null_level(self, null: Null, unit: NDArray[np.float64]) -> float:
        """Return the quantile of the null, in units of `unit`; features of unit 0 do not count."""
        return null.level(self.quantile, centred=self.bias != "none", two_sided=not self.informative, unit=unit)


def make_task(
    X: NDArray[np.float64],
    y: NDArray[Any],
    *,
    preset: str,
    kernel: str | Pairwise,
    target: str,
    bins: int | None,
    target_bins: int | None,
    binning: str | None,
    bias: str | None,
    repair: str,
    **others: Any,
) -> Task:
    """Return the task of a selector with these parameters; the preset replaces those that are None.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    preset, kernel, target, bins, target_bins, binning, bias, repair
        Parameters of the selector.
    **others
        The parameters that `Task` takes as they are.

    Raises
    ------
    ValueError
        If y does not fit `target`, or there are more than 4096 bins.
    """
    y, n_classes = check_target(y, target)
    settings = preset_settings(preset, kernel, X.shape[1])
    own = {"bins": bins, "target_bins": target_bins, "binning": binning, "bias": bias}
    settings |= {name: value for name, value in own.items() if value is not None}
    task = Task(X=X, y=y, n_classes=n_classes, kernel=kernel, repair=repair, **settings, **others)
    if task.informative:
        check_bins(task)
    return task


def preset_settings(preset: str, kernel: str | Pairwise, n_features: int) -> dict[str, Any]:
    """Return the kernel settings of a preset.

    Examples
    --------
    >>> preset_settings("paper", "mutual-information", 100)
    {'bins': 7, 'target_bins': 7, 'binning': 'width', 'bias': 'none'}
    """
    if preset == "paper":
        bins = max(2, round(np.log2(n_features)))
        return {"bins": bins, "target_bins": bins, "binning": "width", "bias": "none"}
    bias = "none" if kernel == "linear" else "null"
    return {"bins": 16, "target_bins": 4, "binning": "frequency", "bias": bias}


def check_target(y: NDArray[Any], target: str) -> tuple[NDArray[Any], int]:
    """Return numbers and 0, or class codes and the number of classes.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    target : {"auto", "numbers", "classes"}
        "auto" treats whole numbers, booleans and text as classes, other numbers as numbers.

    Raises
    ------
    ValueError
        If y holds neither numbers nor classes, or if it holds text although `target` is "numbers".

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
            raise ValueError("y holds text, but target='numbers'; pass numbers, or set target='classes'") from None
    if kind not in ("binary", "multiclass", "continuous"):
        raise ValueError(f"Unknown label type: {kind}; y must hold one number or one class per row")
    classes, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int64), len(classes)


def check_bins(task: Task) -> None:
    """Raise an error if there are too many bins."""
    for name, value in (("bins", task.bins), ("target_bins", task.target_bins)):
        if value > LARGEST_BINS:
            raise ValueError(f"{name} must be at most {LARGEST_BINS}, got {value}")
