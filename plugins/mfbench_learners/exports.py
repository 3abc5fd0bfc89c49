"""Names of a package that are imported on first use, so that registering a plugin loads no numeric library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    modules : mapping from str to str
        The names that each of its modules defines, separated by spaces.

    Examples
    --------
    >>> get, names, _ = lazy_names("mfbench_learners", {"exports": "lazy_names"})
    >>> get("lazy_names").__name__, names()
    ('lazy_names', ['lazy_names'])
    """
    homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)
