"""Arrays that many estimators share: lent without a right to write, and copied for an estimator that writes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Made = TypeVar("Made")
REFUSED_WRITES = (ValueError, TypeError, BufferError)
"""What NumPy and compiled code raise if they may not write into an array; see `is_refused_write`."""
_REFUSALS = ("read-only", "readonly", "writeable", "writable")
# Classes that have written into an array that was lent to them. From then on they are given copies.
_writers: set[type] = set()


def shared(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an array in C order that can be lent: its owner and all views of it are read-only.

    Examples
    --------
    >>> import numpy as np
    >>> rows = shared(np.zeros((2, 2)))
    >>> rows[0, 0] = 1.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    # Of a view nobody can change that again; the owner of the memory could be made writeable by an estimator.
    return array.view()


def lend(rows: NDArray[np.float64], borrower: type, work: Callable[[NDArray[np.float64]], Made]) -> Made:
    """Return ``work(rows)``, or of a copy of the rows if the borrower turns out to write into them.

    A copy of a large dataset costs more than all else that a trial needs, and hardly any estimator writes into its
    input. One that does is refused by NumPy and does its work again on a copy; its class is given copies at once from
    then on. Warnings, random numbers and times are the same either way.

    Parameters
    ----------
    rows : ndarray
        Lent if it is read-only; otherwise it belongs to the borrower already.
    borrower : type
        The class of the estimator.
    work : callable
        Called with the rows, a second time if the first was refused: it must not depend on what the first has left.

    Returns
    -------
    object
        What `work` returned.

    Examples
    --------
    >>> import numpy as np
    >>> class Centring:
    ...     def fit(self, X):
    ...         X -= X.mean(axis=0)
    ...         return self
    >>> rows = shared(np.array([[1.0], [3.0]]))
    >>> fitted = lend(rows, Centring, lambda X: Centring().fit(X))
    >>> rows.ravel()
    array([1., 3.])
    """
    if rows.flags.writeable:
        return work(rows)
    if borrower not in _writers:
        draw_again = _random_states()
        try:
            return work(rows)
        except REFUSED_WRITES as error:
            if not is_refused_write(error):
                raise
        draw_again()
        _writers.add(borrower)
    return work(rows.copy())


def _random_states() -> Callable[[], None]:
    """Return a function that sets the global random states back to what they are now."""
    # A method that draws from them must draw the same numbers, whichever trial was the first to be refused.
    python, numbers = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global state is the subject

    def set_back() -> None:
        random.setstate(python)
        np.random.set_state(numbers)  # noqa: NPY002

    return set_back


def is_refused_write(error: BaseException | None) -> bool:
    """Return whether an exception, or one that led to it, says that an array may not be written into."""
    while error is not None:
        if any(word in str(error).lower() for word in _REFUSALS):
            return True
        error = error.__cause__ or error.__context__
    return False
