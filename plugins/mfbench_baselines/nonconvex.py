"""Linear models with penalties of the package skglm, which is imported when a model is fitted."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_learners.selectors import NumberSelector, responses_of, standardised

Floats = NDArray[np.float64]


class PenalisedLinear(NumberSelector):
    r"""Linear least squares with a penalty that leaves large coefficients alone, or one for each rank, chosen by BIC.

    Features and responses are standardised; classes become indicators, of two classes one. On a path of penalties
    from the smallest with no feature to a hundredth of it, the coefficients :math:`\beta` minimise
    :math:`\|y - X \beta\|^2 / 2n` plus the minimax concave penalty [1]_, the smoothly clipped absolute deviation [2]_,
    or the sorted L1 norm (SLOPE, [3]_) with weights in proportion to :math:`\Phi^{-1}(1 - j q / 2p)`. Of the path,
    the point of the smallest :math:`n \log(\mathrm{RSS} / n) + k \log n` with *k* features is taken.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps; None keeps those with a coefficient.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    penalty : {"mcp", "scad", "slope"}, default="mcp"
        See above.
    gamma : float or None, default=None
        Where the penalty becomes flat, in units of its strength; above 1 for "mcp" (None: 3), above 2 for "scad" (None:
        3.7). "slope" does not have it.
    q : float, default=0.1
        Of "slope": how fast its weights decrease.
    n_penalties : int, default=30
        Length of the path.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Sum of the absolute coefficients of the standardised features over the responses.
    coef_ : ndarray of shape (n_responses, n_features)
        Of standardised features.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ModuleNotFoundError
        Without the package ``skglm``.
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Notes
    -----
    Takes O(n p) time per round of coordinate descent, or of proximal gradients for "slope". The first fit of a process
    compiles code, which takes several seconds. The penalties of "mcp" and "scad" are not convex: the path, which starts
    from the coefficients of the previous penalty, leads to a local minimum.

    References
    ----------
    .. [1] C.-H. Zhang, "Nearly unbiased variable selection under minimax concave penalty", Annals of Statistics 38(2),
       2010.
    .. [2] J. Fan, R. Li, "Variable selection via nonconcave penalized likelihood and its oracle properties", Journal
       of the American Statistical Association 96(456), 2001.
    .. [3] M. Bogdan, E. van den Berg, C. Sabatti, W. Su, E. J. Candès, "SLOPE: adaptive variable selection via convex
       optimization", Annals of Applied Statistics 9(3), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.nonconvex import PenalisedLinear
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> y = X[:, 3] + 0.5 * X[:, 8] + 0.3 * np.random.default_rng(1).normal(size=100)
    >>> PenalisedLinear().fit(X, y).get_support(indices=True).tolist()  # doctest: +SKIP
    [3, 8]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "penalty": [StrOptions({"mcp", "scad", "slope"})],
        "gamma": [Interval(Real, 1, None, closed="neither"), None],
        "q": [Interval(Real, 0, 1, closed="neither")],
        "n_penalties": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        penalty: str = "mcp",
        gamma: float | None = None,
        q: float = 0.1,
        n_penalties: int = 30,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.penalty = penalty
        self.gamma = gamma
        self.q = q
        self.n_penalties = n_penalties

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        if self.penalty == "scad" and self.gamma is not None and self.gamma <= 2:
            raise ValueError(f'gamma must be above 2 for penalty="scad"; got {self.gamma!r}')
        self._check_classes(y)
        responses = standardised(responses_of(y))[0] if len(X) > 1 else np.zeros((1, 1))
        Z, varies = standardised(X)
        self.coef_ = np.zeros((responses.shape[1], X.shape[1]))
        if varies.any():
            for k, response in enumerate(responses.T):
                self.coef_[k, varies] = self._chosen(np.asfortranarray(Z), response)
        return np.asarray(np.abs(self.coef_).sum(axis=0))

    def _chosen(self, Z: Floats, response: Floats) -> Floats:
        """Return the coefficients of the point of the path with the smallest criterion."""
        n, p = Z.shape
        largest = float(np.abs(Z.T @ response).max()) / n
        best, chosen = np.inf, np.zeros(p)
        if largest < 1e-12:
            return chosen
        coefficients = np.zeros(p)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the criterion judges what was reached
            for strength in largest * np.geomspace(1.0, 0.01, self.n_penalties):
                coefficients = self._solve(Z, response, float(strength), coefficients)
                k = np.count_nonzero(coefficients)
                if k >= min(n - 1, n / 2):  # too many for an estimate of the error
                    break
                error = max(float(((response - Z @ coefficients) ** 2).sum()), 1e-12 * n)
                criterion = n * np.log(error / n) + k * np.log(n)
                if criterion < best:
                    best, chosen = criterion, coefficients.copy()
        return chosen

    def _solve(self, Z: Floats, response: Floats, strength: float, start: Floats) -> Floats:
        # Imported here, since its import takes seconds and it is not installed with this package.
        from scipy.special import ndtri
        from skglm.datafits import Quadratic
        from skglm.penalties import SCAD, SLOPE, MCPenalty
        from skglm.solvers import FISTA, AndersonCD

        solver = AndersonCD(fit_intercept=False, tol=1e-6)
        if self.penalty == "slope":
            weights = ndtri(1.0 - self.q * np.arange(1, Z.shape[1] + 1) / (2.0 * Z.shape[1]))
            penalty = SLOPE(strength * weights / weights[0])
            solver = FISTA(tol=1e-6, max_iter=2000, opt_strategy="fixpoint")
        elif self.penalty == "scad":
            penalty = SCAD(strength, 3.7 if self.gamma is None else float(self.gamma))
        else:
            penalty = MCPenalty(strength, 3.0 if self.gamma is None else float(self.gamma))
        datafit = Quadratic()
        return np.asarray(solver.solve(Z, response, datafit, penalty, w_init=start.copy(), Xw_init=Z @ start)[0])
