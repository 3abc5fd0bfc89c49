"""How large a suite and its plan may be: the numbers are checked before anything of that size is built."""

from __future__ import annotations

from mfbench.errors import SuiteError

LARGEST_FILE = 16 * 2**20
"""Bytes of a suite file."""
MOST_ENTRIES = 10_000
"""Datasets of a suite, with their replicates; its methods; values of a parameter to try."""
MOST_TABLES = 100
"""Tables of published figures."""
MOST_POINTS = 1_000_000
"""Points of a method's grid."""
MOST_SIZES = 200
"""Numbers of features in a curve."""
FEWEST_ROWS = 10
"""Training rows to which a suite may restrict a fold."""
MOST_TRIALS = 2_000_000
"""Trials of a plan."""


def check_datasets(number: int, location: str) -> None:
    """Refuse a list of datasets that is too long."""
    if number > MOST_ENTRIES:
        raise SuiteError(f"{location}: {number:,} datasets with their replicates; a suite has at most {MOST_ENTRIES:,}")


def check_points(points: int, location: str) -> None:
    """Refuse a grid that is too large."""
    if points > MOST_POINTS:
        raise SuiteError(f"{location}: {points:,} combinations of values; a method tries at most {MOST_POINTS:,}")


def check_trials(datasets: int, methods: int, folds: int, repeats: int, location: str) -> None:
    """Refuse a plan that is too large."""
    trials = datasets * methods * folds * repeats
    if trials > MOST_TRIALS:
        raise SuiteError(
            f"{location}: {datasets:,} datasets × {methods:,} methods × {folds * repeats:,} folds are {trials:,} "
            f"trials; a plan has at most {MOST_TRIALS:,}: use fewer folds or repeats, or select a part with --only"
        )
