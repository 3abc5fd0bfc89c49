"""SODA's stepwise search: add main effects, add pairs, remove single terms.

A term is a tuple of features: ``(i,)`` is the feature itself, ``(i, j)`` with i < j a product, ``(i, i)`` a square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._multinomial import Fit, maximise
from mfbench_baselines._soda_screen import Extensions, blocks, significant, standardise

Term = tuple[int, ...]

# Number of additions made even if the criterion rises: a pair may be useless until both of its features are in.
FORCED = 3
# Criteria that agree to this number of decimals are ties, which go to the candidate that comes first.
DIGITS = 5


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
        self.columns: dict[Term, NDArray[np.float64]] = {}
        self.moments: dict[Term, tuple[float, float]] = {}
        self.terms: list[Term] = []
        self.path: list[tuple[str, Term, float]] = []
        self.fit = self._refit([], {})

    def run(self) -> None:
        """Run the three passes."""
        while best := self._best_addition(lambda j: [*self.terms, (j,)]):
            added, terms, fit = best
            if not self._lower(self._criterion(fit, terms), self.criterion):
                break
            self._move("main", (added,), terms, fit)
        mains = list(self.terms)
        paired: list[int] = []
        while best := self._best_addition(lambda j: _with_pairs(mains, [*paired, j]), paired):
            added, terms, fit = best
            forced = len(paired) < FORCED
            if not forced and not self._lower(self._criterion(fit, terms), self.criterion):
                break
            paired.append(added)
            self._move("interaction", (added,), terms, fit)
        while self.terms:
            smaller = [[other for other in self.terms if other != term] for term in self.terms]
            fits = self.without(self.terms)
            scores = [self._criterion(fit, terms) for fit, terms in zip(fits, smaller, strict=True)]
            best_index = int(np.argmin(np.round(scores, DIGITS)))
            if not self._lower(scores[best_index], self.criterion):
                break
            self._move("backward", self.terms[best_index], smaller[best_index], fits[best_index])

    @property
    def criterion(self) -> float:
        """The criterion of the current model."""
        return self._criterion(self.fit, self.terms)

    def without(self, terms: Sequence[Term]) -> list[Fit]:
        """Return, for each of the terms, the fit of the model without it."""
        coefficients = self._coefficients()
        return [self._refit([other for other in self.terms if other != term], coefficients) for term in terms]

    def _criterion(self, fit: Fit, terms: Sequence[Term]) -> float:
        return fit.deviance + self.cost * (1 + len(terms))

    @staticmethod
    def _lower(score: float, than: float) -> bool:
        return round(score - than, DIGITS) < 0

    def _move(self, stage: str, term: Term, terms: list[Term], fit: Fit) -> None:
        self.terms, self.fit = terms, fit
        self.path.append((stage, term, float(self.criterion)))

    def _best_addition(
        self, extend: Callable[[int], list[Term]], paired: Sequence[int] | None = None
    ) -> tuple[int, list[Term], Fit] | None:
        """Return the feature whose model, `extend` of it, has the lowest criterion, with that model's terms and fit.

        Candidates are the features without a term of their own; if `paired` is given, those not in it, and each brings
        its square and its products with `paired`.
        """
        mains = np.zeros(self.X.shape[1], dtype=bool)
        mains[[term[0] for term in self.terms if len(term) == 1]] = True
        names = np.setdiff1d(np.arange(len(mains)), np.flatnonzero(mains) if paired is None else paired)
        if len(names) == 0:
            return None
        if len(names) > self.n_refits:
            fitted = Extensions(self._design(self.terms), self.members, self.fit.coefficients)
            gains = np.empty(len(names))
            for new in (True, False):
                group = mains[names] != new
                gains[group] = self._gains(fitted, names[group], new, paired)
            names = names[np.sort(np.argsort(-gains, kind="stable")[: self.n_refits])]
        models = [extend(int(name)) for name in names]
        coefficients = self._coefficients()
        fits = [self._refit(terms, coefficients) for terms in models]
        scores = [self._criterion(fit, terms) for fit, terms in zip(fits, models, strict=True)]
        best = int(np.argmin(np.round(scores, DIGITS)))
        return int(names[best]), models[best], fits[best]

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

    def _refit(self, terms: Sequence[Term], coefficients: dict[Term, NDArray[np.float64]]) -> Fit:
        return maximise(self._design(terms), self.members, self._start(terms, coefficients))

    def _design(self, terms: Sequence[Term]) -> NDArray[np.float64]:
        return np.column_stack([np.ones(len(self.X)), *(self._column(term) for term in terms)])

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
