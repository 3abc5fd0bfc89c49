"""Compiled functions of the built-in plugins: numba's ``njit`` with a cache that neither fails nor is out of date."""

from mfbench_compiled.functions import njit

__all__ = ["njit"]
