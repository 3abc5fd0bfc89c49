"""SODA's stepwise search: add main effects, add pairs, remove single terms.

A term is a tuple of features: ``(i,)`` is the feature itself, ``(i, j)`` with i < j a product, ``(i, i)`` a square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mfbench_baselines._multinomial import Fit, Removals, log_probabilities, maximise
from mfbench_baselines._newton import RIDGE

Term = tuple[int, ...]

# Number of additions made even if the criterion rises: a pair may be useless until both of its features are in.
FORCED = 3
# Criteria that agree to this number of decimals are ties, which go to the candidate that comes first.
DIGITS = 5
# Memory for the new columns of each block of candidates, about what fits in a processor's cache.
BLOCK_BYTES = 4 * 2**20


def values(X: NDArray[np.float64], term: Term) -> NDArray[np.float64]:
    """Return a term's column."""
    return X[:, term[0]] if len(term) == 1 else X[:, term[0]] * X[:, term[1]]


class Search:
    """A search from the empty model to the final one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Candidates.
    members : ndarray of shape (n_samples, n_classes)
        1.0 where a sample belongs to a class, else 0.0.
    cost : float
        Cost of a term in the criterion.
    n_refits : int
        Number of candidates for addition that each step fits: those with the largest score statistics.
    """

    def __init__(self, X: NDArray[np.float64], members: NDArray[np.float64], cost: float, n_refits: int) -> None:
        self.X = np.asfortranarray(X)  # a feature's numbers are contiguous
        self.members, self.cost, self.n_refits = members, cost, n_refits
        self.codes = members.argmax(axis=1).astype(np.int64)
        self.columns: dict[Term, NDArray[np.float64]] = {}
        self.moments: dict[Term, tuple[float, float]] = {}
        self.terms: list[Term] = []
        self.path: list[tuple[str, Term, float]] = []
        self.fit = self._refit([], {})

    def run(self) -> None:
        """Run the three passes."""
        while best := self._best_addition(lambda j: [*self.terms, (j,)], self.criterion):
            self._move("main", *best)
        mains = list(self.terms)
        paired: list[int] = []
        while best := self._best_addition(
            lambda j: _with_pairs(mains, [*paired, j]), np.inf if len(paired) < FORCED else self.criterion, paired
        ):
            paired.append(best[0][0])
            self._move("interaction", *best)
        while best := self._best_removal():
            self._move("backward", *best)
        if not self.terms:
            self.fit = self._refit([], {})  # without the rounding errors of the path: equal classes stay equal

    @property
    def criterion(self) -> float:
        """The criterion of the current model."""
        return self._criterion(self.fit, self.terms)

    def without(self, terms: Sequence[Term]) -> list[Fit]:
        """Return, for each of the terms, the fit of the model without it."""
        removals = Removals(self._design(self.terms), self.codes, self.fit)
        return [removals.without(1 + self.terms.index(term)) for term in terms]

    def _criterion(self, fit: Fit, terms: Sequence[Term]) -> float:
        return fit.deviance + self.cost * (1 + len(terms))

    @staticmethod
    def _lower(score: float, than: float) -> bool:
        return round(float(score - than), DIGITS) < 0

    def _move(self, stage: str, term: Term, terms: list[Term], fit: Fit) -> None:
        self.terms, self.fit = terms, fit
        self.path.append((stage, term, float(self.criterion)))

    def _best_addition(
        self, extend: Callable[[int], list[Term]], ceiling: float, paired: Sequence[int] | None = None
    ) -> tuple[Term, list[Term], Fit] | None:
        """Return the feature whose model, `extend` of it, has the lowest criterion, with that model's terms and fit.

        Candidates are the features without a term of their own; if `paired` is given, those not in it, and each brings
        its square and its products with `paired`. None if no criterion is below the ceiling.
        """
        mains = np.zeros(self.X.shape[1], dtype=bool)
        mains[[term[0] for term in self.terms if len(term) == 1]] = True
        candidate = ~mains
        if paired is not None:
            candidate[:] = True
            candidate[paired] = False
        names = np.flatnonzero(candidate)
        order = np.arange(len(names))
        if len(names) > self.n_refits:
            fitted = Extensions(self._design(self.terms), self.members, self.fit.coefficients)
            gains = np.empty(len(names))
            for new in (True, False):
                group = mains[names] != new
                if group.any():
                    gains[group] = self._gains(fitted, names[group], new, paired)
            likely = np.argsort(-gains, kind="stable")[: self.n_refits]
            order = np.argsort(likely)  # sorted by name
            names, order = names[likely[order]], np.argsort(order)
        models = [extend(int(name)) for name in names]
        coefficients = self._coefficients()

        def refit(at: int, limit: float) -> Fit:
            return self._refit(models[at], coefficients, limit)

        best = self._lowest([len(model) for model in models], order, refit, ceiling)
        return None if best is None else ((int(names[best[0]]),), models[best[0]], best[1])

    def _best_removal(self) -> tuple[Term, list[Term], Fit] | None:
        """Return the term without which the criterion is lowest, with the other terms and their fit.

        None if no criterion is below that of the current model.
        """
        if not self.terms:
            return None
        removals = Removals(self._design(self.terms), self.codes, self.fit)
        order = np.argsort(np.round(removals.rises[1:], DIGITS), kind="stable")

        def refit(at: int, limit: float) -> Fit:
            return removals.without(at + 1, limit=limit)

        best = self._lowest([len(self.terms) - 1] * len(self.terms), order, refit, self.criterion)
        if best is None:
            return None
        term = self.terms[best[0]]
        return term, [other for other in self.terms if other != term], best[1]

    def _lowest(
        self, sizes: Sequence[int], order: NDArray[np.intp], refit: Callable[[int, float], Fit], ceiling: float
    ) -> tuple[int, Fit] | None:
        """Return the candidate with the lowest criterion below the ceiling, the first of several, and its fit.

        The candidates, with models of the given sizes, are fitted in the given order, each only until its deviance is
        certain to be too large; a deviance is at least 0.
        """
        best, lowest, index = None, np.inf, -1
        for at in order.tolist():
            fixed = self.cost * (1 + sizes[at])
            least = round(float(fixed), DIGITS)
            if least > lowest or (least == lowest and at > index):
                continue
            fit = refit(at, min(lowest, ceiling) - fixed + 10.0**-DIGITS)
            reached = round(float(fit.deviance + fixed), DIGITS)
            if reached < lowest or (reached == lowest and at < index):
                best, lowest, index = fit, reached, at
        if best is None or not self._lower(best.deviance + self.cost * (1 + sizes[index]), ceiling):
            return None
        return index, best

    def _gains(
        self, fitted: Extensions, features: NDArray[np.intp], single: bool, paired: Sequence[int] | None
    ) -> NDArray[np.float64]:
        """Return by how much Newton's step expects the new terms of each feature to lower the criterion.

        The terms are the feature itself if `single`, and its square and products with `paired` unless that is None.
        """
        n_new = int(single) + (0 if paired is None else 1 + len(paired))
        gains = [np.empty(0)]
        for block in blocks(features, self.X.itemsize * len(self.X) * max(1, n_new)):
            rows = self.X.T[block]
            columns = [rows] if single else []
            if paired is not None:
                columns += [rows * rows, *(rows * self.X[:, k] for k in paired)]
            statistics = fitted.statistics(standardise(np.stack(columns, axis=1))[0])
            gains.append(significant(statistics) - self.cost * n_new)
        return np.concatenate(gains)

    def _coefficients(self) -> dict[Term, NDArray[np.float64]]:
        """Return the current coefficients by term; the term of the constant is the empty tuple."""
        return dict(zip([(), *self.terms], self.fit.coefficients, strict=True))

    def _start(self, terms: Sequence[Term], coefficients: dict[Term, NDArray[np.float64]]) -> NDArray[np.float64]:
        zero = np.zeros(self.members.shape[1] - 1)
        return np.array([coefficients.get(term, zero) for term in [(), *terms]])

    def _refit(
        self, terms: Sequence[Term], coefficients: dict[Term, NDArray[np.float64]], limit: float = np.inf
    ) -> Fit:
        return maximise(self._design(terms), self.codes, self._start(terms, coefficients), limit=limit)

    def _design(self, terms: Sequence[Term]) -> NDArray[np.float64]:
        rows = np.empty((1 + len(terms), len(self.X)))
        rows[0] = 1.0
        for row, term in zip(rows[1:], terms, strict=True):
            row[:] = self._column(term)
        return rows.T

    def _column(self, term: Term) -> NDArray[np.float64]:
        """Return a term's column, standardised, which matters to Newton's steps but not to the likelihood."""
        if term not in self.columns:
            column, centre, spread = standardise(values(self.X, term))
            self.columns[term], self.moments[term] = column, (float(centre), float(spread))
        return self.columns[term]


def _with_pairs(mains: Sequence[Term], features: Iterable[int]) -> list[Term]:
    """Return the selected main effects, and all main effects, squares and products of some features."""
    ordered = sorted(features)
    singles = [term for term in ((j,) for j in ordered) if term not in mains]
    return [*mains, *singles, *((j, k) for at, j in enumerate(ordered) for k in ordered[at:])]


def standardise(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Centre and scale rows.

    Parameters
    ----------
    values : ndarray of shape (..., n_samples)
        Rows of numbers.

    Returns
    -------
    standardised : ndarray of shape (..., n_samples)
        Rows of mean 0 and standard deviation 1; zeros for a constant row.
    centres, spreads : ndarray of shape (...)
        Mean and standard deviation of each row; 1 for that of a constant row.
    """
    centres = values.mean(axis=-1)
    varies = values.max(axis=-1) > values.min(axis=-1)
    standardised = values - centres[..., None]
    spreads = np.sqrt(np.einsum("...i,...i->...", standardised, standardised) / values.shape[-1])
    spreads = np.where(varies & (spreads > 0), spreads, 1.0)
    standardised /= spreads[..., None]
    standardised[~varies] = 0.0
    return standardised, centres, spreads


class Extensions:
    """The score statistics of models that extend a fitted one, each relative to the fitted one's coefficients.

    The statistic is that of `newton_step` at these coefficients, with 0 for the new columns. What depends on the
    fitted model alone is computed once; Schur's complement of its part in the information leaves a small system for
    the new columns of each candidate.

    Parameters
    ----------
    design : ndarray of shape (n_samples, n_columns)
        Columns of the fitted model, including the constant.
    members : ndarray of shape (n_samples, n_classes)
        1.0 where a sample belongs to a class, else 0.0.
    coefficients : ndarray of shape (n_columns, n_classes - 1)
        Its coefficients.
    """

    def __init__(
        self, design: NDArray[np.float64], members: NDArray[np.float64], coefficients: NDArray[np.float64]
    ) -> None:
        width, free = coefficients.shape
        shares = np.exp(log_probabilities(design, coefficients))[:, 1:]
        self.residual = members[:, 1:] - shares
        self.weights = {(a, b): shares[:, a] * ((a == b) - shares[:, b]) for a in range(free) for b in range(a, free)}
        weighted = np.empty((free, free, *design.shape))
        information = np.empty((free, width, free, width))
        for (a, b), weight in self.weights.items():
            weighted[a, b] = weighted[b, a] = design * weight[:, None]
            information[a, :, b] = weighted[a, b].T @ design
            information[b, :, a] = information[a, :, b].T
        flat = information.reshape(free * width, free * width)
        flat[np.diag_indices_from(flat)] += RIDGE
        factor = np.linalg.cholesky(flat)
        gradient = design.T @ self.residual - RIDGE * coefficients
        self.score = solve_triangular(factor, gradient.T.ravel(), lower=True)
        # Multiplied by new columns, this gives their part of the information, in coordinates in which that of the
        # fitted model is the identity: one block of columns for each class.
        stacked = weighted.transpose(0, 2, 1, 3).reshape(free * len(design), free * width)
        whitened = solve_triangular(factor, stacked.T, lower=True).T
        self.whitened = np.hstack(list(whitened.reshape(free, len(design), free * width)))

    def statistics(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic of each candidate.

        Parameters
        ----------
        columns : ndarray of shape (n_candidates, n_new, n_samples)
            The columns that each candidate adds.

        Returns
        -------
        statistics : ndarray of shape (n_candidates,)
            Twice the predicted gain in log-likelihood.
        """
        count, new, n = columns.shape
        free = self.residual.shape[1]
        flat = columns.reshape(count * new, n)
        cross = (flat @ self.whitened).reshape(count, new, free, -1).swapaxes(1, 2).reshape(count, free * new, -1)
        score = (flat @ self.residual).reshape(count, new, free).swapaxes(1, 2).reshape(count, free * new)
        information = np.empty((count, free, new, free, new))
        for (a, b), weight in self.weights.items():
            information[:, a, :, b] = np.matmul(columns * weight, columns.swapaxes(1, 2))
            information[:, b, :, a] = information[:, a, :, b].swapaxes(1, 2)
        complement = information.reshape(count, free * new, free * new) - np.matmul(cross, cross.swapaxes(1, 2))
        complement[:, np.arange(free * new), np.arange(free * new)] += RIDGE
        score -= cross @ self.score
        steps = np.linalg.solve(complement, score[..., None])[..., 0]
        statistics: NDArray[np.float64] = self.score @ self.score + np.einsum("ij,ij->i", score, steps)
        return statistics


def significant(values: NDArray[np.float64], digits: int = 9) -> NDArray[np.float64]:
    """Round to significant digits, so that rounding errors do not break ties."""
    sizes = np.abs(values)
    units = 10.0 ** (np.floor(np.log10(np.where(sizes > 0, sizes, 1.0))) - digits + 1)
    return np.asarray(np.round(values / units) * units)


def blocks(features: NDArray[np.intp], bytes_each: int) -> Iterator[NDArray[np.intp]]:
    """Split features into blocks that need at most `BLOCK_BYTES` each, or consist of a single feature."""
    step = max(1, BLOCK_BYTES // bytes_each)
    for begin in range(0, len(features), step):
        yield features[begin : begin + step]
