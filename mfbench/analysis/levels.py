"""How often rules reject when nothing differs: what was measured, for the footers of reports."""

from __future__ import annotations

from dataclasses import dataclass

LEVEL = 0.05
"""The nominal level of all figures below."""


@dataclass(frozen=True)
class Held:
    """The level that a rule really holds at a nominal 5 %, over four simulations.

    Two learners that are equal by construction, the nearest class mean and the nearest neighbour, each on 100 and 300
    rows with five Gaussian features; 1000 datasets for each simulation.

    Attributes
    ----------
    low, high : float
        Smallest and largest share of datasets on which the rule found a difference.
    design : str
        The resampling it was measured with.
    """

    low: float
    high: float
    design: str


_REPEATED, _ONCE, _POOLED, _SINGLE = "10 × 10 folds", "10 folds", "5 pooled folds", "one test set of a fifth"
_FOLDS: dict[tuple[str, bool], Held] = {
    ("paired-t", True): Held(0.54, 0.65, _REPEATED),
    ("wilcoxon", True): Held(0.54, 0.65, _REPEATED),
    ("corrected-t", True): Held(0.036, 0.109, _REPEATED),
    ("paired-t", False): Held(0.049, 0.135, _ONCE),
    ("corrected-t", False): Held(0.008, 0.048, _ONCE),
}
_DECISIONS: dict[str, Held] = {
    "s-test": Held(0.097, 0.21, _POOLED),
    "s-test-exact": Held(0.036, 0.101, _SINGLE),
}


def level_held(rule: str, repeats: int) -> Held | None:
    """Return what was measured of a rule, for repeated or for single cross-validation; None if nothing was.

    Examples
    --------
    >>> level_held("paired-t", 10).high
    0.65
    """
    return _DECISIONS.get(rule) or _FOLDS.get((rule, repeats > 1))
