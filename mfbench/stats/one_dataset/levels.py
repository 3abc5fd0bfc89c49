"""The measured levels of the rules, for the footers of reports: how often each rejects when nothing differs."""

from __future__ import annotations

from dataclasses import dataclass

from mfbench.suite.forms import KINDS

LEVEL = 0.05
"""The nominal level of all figures below."""


@dataclass(frozen=True)
class Held:
    """The actual level of a rule at a nominal 5 %, over four simulations."""

    # Each simulation compares two copies of a learner on two views that are equal by construction. The learner is the
    # nearest class mean or the nearest neighbour, with 100 or 300 rows of five Gaussian features; 1000 datasets each.

    low: float  # low, high: smallest and largest share of datasets on which the rule found a difference
    high: float
    design: str  # the resampling design of the simulation


_RANDOM = ("thirds", "splits")
_REPEATED, _ONCE, _THIRDS = "10 × 10 folds", "10 folds", "10 random thirds"
_POOLED = "5 pooled folds"
_HELD: dict[tuple[str, str], Held] = {
    ("paired-t", _REPEATED): Held(0.555, 0.634, _REPEATED),
    ("wilcoxon", _REPEATED): Held(0.536, 0.625, _REPEATED),
    ("corrected-t", _REPEATED): Held(0.036, 0.117, _REPEATED),
    ("paired-t", _ONCE): Held(0.053, 0.138, _ONCE),
    ("corrected-t", _ONCE): Held(0.008, 0.047, _ONCE),
    ("paired-t", _THIRDS): Held(0.266, 0.353, _THIRDS),
    ("corrected-t", _THIRDS): Held(0.005, 0.007, _THIRDS),
}
_DECISIONS: dict[str, Held] = {
    "s-test": Held(0.101, 0.224, _POOLED),
    "s-test-exact": Held(0.084, 0.197, _POOLED),
}
# Worse than the best of 2, 5 or 20 equal methods, 100 rows: the suite's profile `many` (60 datasets) for folds that are
# not repeated, tests/stats/one_dataset/test_best.py (300 datasets) for repeated ones.
_BEST: dict[str, Held] = {_ONCE: Held(0.0, 0.033, _ONCE), _REPEATED: Held(0.0, 0.037, _REPEATED)}


def design_name(kind: str, folds: int, repeats: int) -> str:
    """Return the name of a resampling design, in the words of `Held.design`."""
    if KINDS[kind].resampling in _RANDOM:
        return f"{repeats} random {KINDS[kind].resampling}"
    return f"{repeats} × {folds} folds" if repeats > 1 else f"{folds} folds"


def best_level_held(rule: str, kind: str, repeats: int) -> Held | None:
    """Return how often any of up to 20 equal methods is called worse than the best; None if it was not measured."""
    if rule != "corrected-t" or KINDS[kind].resampling != "folds":
        return None
    return _BEST[_REPEATED if repeats > 1 else _ONCE]


def level_held(rule: str, kind: str, repeats: int) -> Held | None:
    """Return the measured level of a rule in the design closest to a protocol; None if it was not measured."""
    if KINDS[kind].resampling in _RANDOM:
        return _HELD.get((rule, _THIRDS))
    return _DECISIONS.get(rule) or _HELD.get((rule, _REPEATED if repeats > 1 else _ONCE))
