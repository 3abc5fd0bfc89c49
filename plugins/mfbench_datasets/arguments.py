"""Checks of the arguments of dataset generators: one error message for each kind of argument."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np

from mfbench.errors import UsageError


def check_whole(name: str, parameter: str, value: object, low: int, high: int | None = None) -> int:
    """Return a whole number as int, or raise `UsageError` if it is not a whole number or out of range.

    Examples
    --------
    >>> check_whole("xor", "n_noise", 3, 0)
    3
    >>> check_whole("xor", "n_noise", 2.5, 0)
    Traceback (most recent call last):
    ...
    mfbench.errors.UsageError: 'n_noise' of dataset 'xor' must be a whole number at least 0, got 2.5
    """
    number = int(value) if not isinstance(value, bool) and isinstance(value, Integral) else None
    if number is None or number < low or (high is not None and number > high):
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        raise UsageError(f"{parameter!r} of dataset {name!r} must be a whole number {limits}, got {value!r}")
    return number


def check_real(
    name: str, parameter: str, value: object, low: float, high: float = math.inf, *, without: Sequence[float] = ()
) -> float:
    """Return a number as float, or raise `UsageError` if it is not a finite number, out of range or an excluded end.

    Examples
    --------
    >>> check_real("xor", "flip", 0.1, 0, 0.5)
    0.1
    >>> check_real("gametes-like", "maf", 0, 0, 0.5, without=[0])
    Traceback (most recent call last):
    ...
    mfbench.errors.UsageError: 'maf' of dataset 'gametes-like' must be a number from 0 to 0.5 (0 excluded), got 0
    """
    number = float(value) if not isinstance(value, bool) and isinstance(value, Real) else math.nan
    if not math.isfinite(number) or not low <= number <= high or number in without:
        limits = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
        ends = f" ({' and '.join(f'{end:g}' for end in without)} excluded)" if without else ""
        raise UsageError(f"{parameter!r} of dataset {name!r} must be a number {limits}{ends}, got {value!r}")
    return number


def check_flag(name: str, parameter: str, value: object) -> bool:
    """Return True or False, or raise `UsageError` if `value` is neither.

    Examples
    --------
    >>> check_flag("xor", "shuffle", True)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise UsageError(f"{parameter!r} of dataset {name!r} must be True or False, got {value!r}")
    return bool(value)
