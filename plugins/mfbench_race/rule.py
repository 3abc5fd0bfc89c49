"""When a race drops a method: planned looks, and a test against the leader whose level holds over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import special

PLAN, TRUTH = "plan", "truth"
TARGETS = (PLAN, TRUTH)
ALPHA = 0.05
_LOOKS = (2, 3, 5, 10, 15, 20, 30, 40, 60, 80)
_ROUNDING = 1e-9  # a smaller standard deviation, in units of the scores, is that of rounding
_LATEST = 0.8  # share of the folds after which dropping saves too little


@dataclass(frozen=True)
class Drop:
    """A method that a race has dropped."""

    method: str
    look: int  # folds of each dataset after which it was dropped
    leader: str
    gap: float  # mean over datasets of the leader's score minus its own
    p_value: float


@dataclass
class Race:
    """The state of a race between methods on several datasets.

    With the target ``plan``, the winner is the method with the best mean over all planned folds: the folds that have
    not run are the only uncertainty, and it ends with them. With ``truth``, it is the method with the best expected
    score on tables like these, whose variance is that of Nadeau and Bengio (2003).

    Each look tests the leader against each method that remains, by the mean of their paired differences over datasets,
    with a variance per dataset and Welch's degrees of freedom. A method is dropped if its one-sided p-value is below
    .05 / (looks x (methods at the start - 1)), a bound over all looks and all potential leaders.
    """

    methods: Sequence[str]
    folds: Mapping[str, int]  # planned folds of each dataset
    ratios: Mapping[str, float]  # test rows over training rows of each dataset's folds
    target: str
    drops: list[Drop] = field(default_factory=list)

    @property
    def looks(self) -> list[int]:
        """Numbers of folds of each dataset after which methods may be dropped."""
        most = max(self.folds.values(), default=0)
        return [look for look in (_LOOKS if most > 5 else (2, 3, 4)) if look <= _LATEST * most]

    @property
    def alive(self) -> list[str]:
        """The methods that remain."""
        gone = {drop.method for drop in self.drops}
        return [method for method in self.methods if method not in gone]

    def look(self, look: int, scores: Mapping[str, NDArray[np.float64]]) -> list[Drop]:
        """Drop methods after so many folds of each dataset, and return them.

        Parameters
        ----------
        look : int
            A number of `looks`.
        scores : mapping of str to ndarray of shape (n_alive, n_folds)
            For each dataset the scores of the methods that remain, larger is better. A method with a missing score
            neither leads nor is dropped.
        """
        alive = self.alive
        complete = np.all([np.isfinite(own).all(axis=1) for own in scores.values()], axis=0)
        if complete.sum() < 2:
            return []
        means = np.mean([own.mean(axis=1) for own in scores.values()], axis=0)
        leader = int(np.argmax(np.where(complete, means, -np.inf)))
        gaps, variances, freedoms = means[leader] - means, [], []
        for dataset, own in scores.items():
            count = own.shape[1]
            spread = (own[leader] - own).var(axis=1, ddof=1) if count > 1 else np.zeros(len(alive))
            spread[spread <= (_ROUNDING * np.nanmax(np.abs(own))) ** 2] = 0.0
            rest = -1.0 / self.folds[dataset] if self.target == PLAN else self.ratios[dataset]
            variances.append(spread * (1.0 / count + rest) / len(scores) ** 2)
            freedoms.append(max(1, count - 1))
        level = ALPHA / (len(self.looks) * (len(self.methods) - 1))
        total = np.sum(variances, axis=0)
        new = []
        for place in np.flatnonzero(complete & (total > 0.0) & (gaps > 0.0)):  # without spread nothing is known
            own = np.array([variance[place] for variance in variances])
            freedom = total[place] ** 2 / np.sum(own**2 / freedoms)
            p_value = float(special.stdtr(freedom, -gaps[place] / np.sqrt(total[place])))
            if p_value < level:
                new.append(Drop(alive[place], look, alive[leader], float(gaps[place]), p_value))
        self.drops += new
        return new
