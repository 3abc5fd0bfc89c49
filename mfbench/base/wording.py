"""Small parts of sentences that several rooms share."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    number : int
    noun : str
        Singular; its plural ends in "s".

    Examples
    --------
    >>> counted(1, "dataset"), counted(20000, "dataset")
    ('1 dataset', '20,000 datasets')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listing(values: Iterable[object]) -> str:
    """Return values as a part of a sentence.

    Parameters
    ----------
    values : iterable of object
        At least one.

    Examples
    --------
    >>> listing([1]), listing([1, 2, 3])
    ('1', '1, 2 and 3')
    """
    words = [str(value) for value in values]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
