"""sRBS: the similarity with the fewest margins below zero, by gradient descent, and its semi-definite version."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_similarity._learner import SimilarityLearner, in_form, project_psd
from mfbench_similarity._nearest.lists import Pairs, differences
from mfbench_similarity._nearest.table import Matrix, Normalization, times

# With "auto", beta times the median absolute margin is this.
AUTO_WIDTH = 4.0
# If the slope of the sigmoid is below this for every sample, the gradient carries no information about margins.
FLAT = 1e-12


class SRBS(SimilarityLearner):
    r"""Learn a similarity with few negative margins.

    Instead of the sum of the margins :math:`m_i(A) = x_i^T A v_i` of RBS, sRBS uses a smooth count of the negative
    ones and minimises [1]_ (equation 4)

    .. math:: \varepsilon(A) = \sum_i \frac{1}{1 + e^{\beta m_i(A)}} + \lambda \|A\|_F^2, \qquad
       \frac{\partial \varepsilon}{\partial A} =
       -\beta \sum_i \sigma(\beta m_i) \, \sigma(-\beta m_i) \, x_i v_i^T + 2 \lambda A,

    with :math:`\sigma` the logistic function, by the steps :math:`A \leftarrow A - \frac{1}{t n} \, \partial
    \varepsilon / \partial A` for t = 1, 2, …, from A = I. Hits and misses are found once, with A = I.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number k of hits and of misses of a sample, and of neighbours used for prediction.
    beta : float or "auto", default="auto"
        Steepness of the sigmoid, per unit of margin. Margins of cosines are of the order of 0.01 to 0.1, times k.
        "auto" is 4 divided by the median absolute margin at A = I.
    l2 : float, default=0.01
        The penalty :math:`\lambda` on the squared norm of A; the other term is a sum over samples.
    matrix : {"square", "symmetric", "diagonal"}, default="square"
        Form of A.
    normalization : {"norms", "none"} or callable, default="norms"
        As for `RBS`.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        As for `RBS`.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        As for `RBS`.
    solver : {"published", "lbfgs"}, default="published"
        The steps above, or L-BFGS, which finds a local minimum; the problem is not convex.
    max_iter : int, default=500
        Largest number of steps, each over all samples (the paper's J), or of iterations of L-BFGS.
    tol : float, default=1e-4
        The steps end when the entries of A change by no more than this in total (the paper's :math:`\gamma`, between
        1e-3 and 1e-4); L-BFGS ends when no entry of the gradient exceeds it.

    Attributes
    ----------
    matrices_, matrix_, margins_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As for `RBS`.
    beta_ : list of float
        The steepness in use, one per problem.
    objective_traces_ : list of list of float
        :math:`\varepsilon` at the start and after each step, one list per problem.
    n_iter_ : int
        Number of steps, the largest among the problems.
    converged_ : bool
        False if a problem ended at `max_iter`.
    degenerate_ : bool
        True if A ended at zero. It is then the identity divided by its norm.

    Raises
    ------
    ValueError
        As for `RBS`.

    Warns
    -----
    ConvergenceWarning
        If `beta` is so large that the sigmoid is flat at every margin, so that only the penalty matters.
    RuntimeWarning
        If A ended at zero.

    Notes
    -----
    Time O(n² p) for the neighbours, as blocked matrix products, and O(n p²) per step and problem; memory O(n (k + p)),
    O(p²), and one block.

    Steps decrease as 1 / t and are divided by n, so A stays near the identity unless `beta` is large; predictions often
    equal those of the plain cosine, which any comparison should therefore include. The paper's condition for a
    stationary point has the wrong sign; the gradient above is correct.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section IV.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_similarity import SRBS
    >>> X, y = load_iris(return_X_y=True)
    >>> srbs = SRBS(5, beta=100.0, l2=0.1).fit(X, y)
    >>> srbs.objective_traces_[0][0] > srbs.objective_traces_[0][-1]
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SimilarityLearner._parameter_constraints,
        "beta": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "l2": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"published", "lbfgs"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        beta: float | str = "auto",
        l2: float = 0.01,
        matrix: str = "square",
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
        solver: str = "published",
        max_iter: int = 500,
        tol: float = 1e-4,
    ) -> None:
        super().__init__(n_neighbors, matrix, normalization, rule, mode)
        self.beta = beta
        self.l2 = l2
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol

    def _begin(self) -> None:
        self.beta_: list[float] = []
        self.objective_traces_: list[list[float]] = []
        self.n_iter_, self.converged_ = 1, True

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        cost = self._cost(pairs, problem)
        start = np.ones(cost.n_features) if self.matrix == "diagonal" else np.eye(cost.n_features)
        if cost.is_flat(start):
            warnings.warn(
                f"{type(self).__name__}{self._problem_name(problem)}: with beta = {cost.beta:.3g} the sigmoid is flat "
                "at every margin and only the penalty matters; use a smaller beta",
                ConvergenceWarning,
                stacklevel=3,
            )
        A, trace, converged = self._minimize(cost, start, problem)
        self.beta_.append(cost.beta)
        self.objective_traces_.append(trace)
        self.n_iter_ = max(self.n_iter_, len(trace) - 1)
        self.converged_ = self.converged_ and converged
        return self._or_identity(A, problem)

    def _shortfall(self) -> str | None:
        if self.converged_:
            return None
        return f"the cost had not settled to tol={self.tol:.2g} after {self.n_iter_} steps; increase max_iter or tol"

    def _cost(self, pairs: Pairs, problem: int) -> Cost:
        used = pairs.counts[problem] > 0
        rows, V = self._table.rows[used], differences(self._table, pairs, problem)[used]
        beta = _auto_beta(rows, V) if self.beta == "auto" else float(self.beta)
        return Cost(rows, V, beta, self.l2, self.matrix)

    def _minimize(self, cost: Cost, start: Matrix, problem: int) -> tuple[Matrix, list[float], bool]:
        if self.solver == "lbfgs":
            return _lbfgs(cost, start, self.max_iter, self.tol)
        A, trace, change = start, [], np.inf
        for t in range(1, self.max_iter + 1):
            value, gradient = cost.value_and_gradient(A)
            trace.append(value)
            further = self._feasible(A - gradient / (t * cost.n_samples), problem)
            change = float(np.abs(further - A).sum())
            A = further
            if change <= self.tol:
                break
        return A, [*trace, cost.value(A)], change <= self.tol

    def _feasible(self, A: Matrix, problem: int) -> Matrix:
        return A


class SRBSPSD(SRBS):
    r"""sRBS with a projection on the positive semi-definite matrices after each step.

    Each iterate of `SRBS` is replaced by its symmetric part, with non-positive eigenvalues set to 0 [1]_.

    Parameters
    ----------
    n_neighbors, beta, l2, normalization, rule, mode, max_iter
        As for `SRBS`.
    matrix : {"symmetric", "diagonal"}, default="symmetric"
        Form of A.
    tol : float, default=1e-3
        As for `SRBS`.

    Attributes
    ----------
    matrices_, matrix_, margins_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As for `RBS`.
    beta_, objective_traces_, n_iter_, converged_, degenerate_
        As for `SRBS`.

    Raises
    ------
    ValueError
        As for `RBS`, and if an iterate has no positive eigenvalue; the paper does not define the method in this case.

    Warns
    -----
    ConvergenceWarning
        As for `SRBS`.

    Notes
    -----
    Time and memory as for `SRBS`, plus O(p³) per step. Starting from the identity, the published steps seldom reach a
    matrix with a negative eigenvalue; otherwise the projection only makes A symmetric.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section VI.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_similarity import SRBSPSD
    >>> X, y = load_iris(return_X_y=True)
    >>> A = SRBSPSD(5, beta=1000.0).fit(X - X.mean(axis=0), y).matrix_
    >>> bool(np.linalg.eigvalsh(A).min() >= -1e-12)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: value for name, value in SRBS._parameter_constraints.items() if name != "solver"},
        "matrix": [StrOptions({"symmetric", "diagonal"})],
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        beta: float | str = "auto",
        l2: float = 0.01,
        matrix: str = "symmetric",
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
        max_iter: int = 500,
        tol: float = 1e-3,
    ) -> None:
        super().__init__(n_neighbors, beta, l2, matrix, normalization, rule, mode, max_iter=max_iter, tol=tol)

    def _feasible(self, A: Matrix, problem: int) -> Matrix:
        return project_psd(A, f"{type(self).__name__}{self._problem_name(problem)}")


class Cost:
    """The cost of sRBS and its gradient, for rows (n, p) and differences V of hits and misses (n, p)."""

    def __init__(self, rows: Matrix, V: Matrix, beta: float, l2: float, form: str) -> None:
        self.rows, self.V, self.beta, self.l2, self.form = rows, V, beta, l2, form
        self.n_samples, self.n_features = rows.shape

    def margins(self, A: Matrix) -> Matrix:
        """Return the margins under A, shape (n,)."""
        values: Matrix = np.einsum("ij,ij->i", times(self.rows, A), self.V)
        return values

    def value(self, A: Matrix) -> float:
        """Return the cost."""
        return self._value(A, self.beta * self.margins(A))

    def gradient(self, A: Matrix) -> Matrix:
        """Return the gradient within the form of A: for a symmetric A, its symmetric part."""
        return self.value_and_gradient(A)[1]

    def value_and_gradient(self, A: Matrix) -> tuple[float, Matrix]:
        """Return the cost and its gradient, computing the margins once."""
        u = self.beta * self.margins(A)
        weighted = self.rows * _slopes(u)[:, None]
        if self.form == "diagonal":
            pull = np.einsum("ij,ij->j", weighted, self.V)
        else:
            pull = in_form(weighted.T @ self.V, self.form)
        return self._value(A, u), -self.beta * pull + 2 * self.l2 * A

    def is_flat(self, A: Matrix) -> bool:
        """Return whether the sigmoid is flat at every margin."""
        return bool(_slopes(self.beta * self.margins(A)).max() < FLAT)

    def _value(self, A: Matrix, u: Matrix) -> float:
        return float(expit(-u).sum() + self.l2 * np.square(A).sum())


def _slopes(u: Matrix) -> Matrix:
    """Return the derivative of the sigmoid, without overflow."""
    slopes: Matrix = expit(u) * expit(-u)
    return slopes


def _auto_beta(rows: Matrix, V: Matrix) -> float:
    """Return the steepness at which the sigmoid levels off at the median absolute margin of A = I."""
    median = float(np.median(np.abs(np.einsum("ij,ij->i", rows, V))))
    return AUTO_WIDTH / median if median > 0 else 1.0


def _lbfgs(cost: Cost, start: Matrix, max_iter: int, tol: float) -> tuple[Matrix, list[float], bool]:
    """Minimise the cost by L-BFGS, starting from a matrix of the same form."""
    trace = [cost.value(start)]

    def flat(a: Matrix) -> tuple[float, Matrix]:
        value, gradient = cost.value_and_gradient(a.reshape(start.shape))
        return value, gradient.ravel()

    result = minimize(
        flat,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0},
        callback=lambda a: trace.append(cost.value(a.reshape(start.shape))),
    )
    return result.x.reshape(start.shape), trace, bool(result.success)
