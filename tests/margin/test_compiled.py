"""What makes numba's cache safe for compiled functions."""

import importlib
import inspect
import pkgutil

from in_turn import in_turn
from numba.core.caching import NullCache
from numba.core.registry import CPUDispatcher

import mfbench_margin

PACKAGE = pkgutil.walk_packages(mfbench_margin.__path__, "mfbench_margin.")
MODULES = [name for _, name, _ in PACKAGE if name != "mfbench_margin.plugin"]


@in_turn("name", MODULES)
def test_no_generator_is_cached(name):
    """Numba fails with a KeyError if a generator is in its cache but the function that calls it is not.

    That happens while another process is filling the cache, and whenever a caller is compiled for new types.
    """
    module = importlib.import_module(name)
    compiled = [thing for thing in vars(module).values() if isinstance(thing, CPUDispatcher)]
    cached = [f for f in compiled if inspect.isgeneratorfunction(f.py_func) and not isinstance(f._cache, NullCache)]
    assert [f.py_func.__name__ for f in cached] == []
