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
    """Refuse a list of datasets that is too long.

    Parameters
    ----------
    number : int
        Datasets with their replicates.
    location : str
        File and key, for the message.

    Raises
    ------
    SuiteError
    """
    if number > MOST_ENTRIES:
        raise SuiteError(f"{location}: {number:,} datasets with their replicates; a suite has at most {MOST_ENTRIES:,}")


def check_points(points: int, location: str) -> None:
    """Refuse a grid that is too large.

    Parameters
    ----------
    points : int
        Combinations of the values to try.
    location : str
        File and key, for the message.

    Raises
    ------
    SuiteError
    """
    if points > MOST_POINTS:
        raise SuiteError(f"{location}: {points:,} combinations of values; a method tries at most {MOST_POINTS:,}")


def check_trials(datasets: int, methods: int, folds: int, repeats: int, location: str) -> None:
    """Refuse a plan that is too large.

    Parameters
    ----------
    datasets, methods, folds, repeats : int
        The trials are all combinations of these.
    location : str
        The file, for the message.

    Raises
    ------
    SuiteError

    Examples
    --------
    >>> check_trials(100, 50, 10, 1000, "own.toml")
    Traceback (most recent call last):
    ...
    mfbench.errors.SuiteError: own.toml: 100 datasets × 50 methods × 10,000 folds are 50,000,000 trials; a plan has at \
most 2,000,000: use fewer folds or repeats, or select a part with --only
    """
    trials = datasets * methods * folds * repeats
    if trials > MOST_TRIALS:
        raise SuiteError(
            f"{location}: {datasets:,} datasets × {methods:,} methods × {folds * repeats:,} folds are {trials:,} "
            f"trials; a plan has at most {MOST_TRIALS:,}: use fewer folds or repeats, or select a part with --only"
        )
