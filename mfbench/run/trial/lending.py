"""Rows that many estimators share: zero-copy and read-only for those known not to write; any other gets a copy."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.host.registry import GROUP, HOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

# scikit-learn tests its estimators with read-only arrays, and mfbench its own (the checks `read-only` and
# `inputs-unchanged`). Other classes may write to their input, and trying does not tell: compiled Fortran code writes
# into a read-only array without any error, and the next method would be measured on other rows.
_LIBRARIES = ("sklearn", "xgboost")


def shared(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an array in C order that estimators can share: its owner and all views of it are read-only."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    # A view of it cannot be made writeable again; the owner of the memory could be, by an estimator.
    return array.view()


def rows_for(estimator: Any, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows that an estimator is given: zero-copy if it is known not to write to them, otherwise a copy."""
    # A copy of a large dataset costs more than all else that mfbench does for a trial. It is made for classes from
    # outside scikit-learn, XGBoost and the built-in plugins, and for estimators with such a part.
    return rows if rows.flags.writeable or _reads_only(estimator) else rows.copy()


@cache
def _readers() -> frozenset[str]:
    """Return the import names of the packages whose estimators are known to read only."""
    points = metadata.entry_points(group=GROUP)
    own = (point.module.partition(".")[0] for point in points if point.dist is not None and point.dist.name == HOST)
    return frozenset((*_LIBRARIES, *own))


def _reads_only(part: Any) -> bool:
    """Return whether a parameter of an estimator, or the estimator, and all of its parts are known to read only."""
    if part is None or isinstance(part, (bool, int, float, str, bytes, np.generic, np.ndarray)):
        return True
    if isinstance(part, (list, tuple, set, frozenset)):
        return all(map(_reads_only, part))
    if isinstance(part, dict):
        return all(map(_reads_only, part.values()))
    if isinstance(part, np.random.RandomState | np.random.Generator):
        return True
    kind = part if isinstance(part, type) else type(part)
    if kind.__module__.partition(".")[0] not in _readers() or not hasattr(part, "get_params"):
        return False  # such as a function, which a FunctionTransformer calls with the rows
    return all(map(_reads_only, part.get_params(deep=False).values()))
