"""Texts that identify callables and other objects, the same in every process: parts of trial keys."""

from __future__ import annotations

import functools
import inspect
import re
from types import FunctionType, MethodType
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def identity(value: Any) -> str:
    """Return a text that differs between callables that do different things, and contains no memory address."""
    if isinstance(value, functools.partial):
        keywords = "{" + ", ".join(f"{name!r}: {_part(item)}" for name, item in sorted(value.keywords.items())) + "}"
        arguments = "(" + ", ".join(map(_part, value.args)) + ")"
        return f"{_name(type(value))}({identity(value.func)}; {arguments}; {keywords})"
    if isinstance(value, MethodType):
        return f"{identity(value.__func__)} of {_part(value.__self__)}"
    if isinstance(value, FunctionType):
        held = [f"{name}={_part(item)}" for name, item in sorted(inspect.getclosurevars(value).nonlocals.items())]
        return _name(value) + (f"[{', '.join(held)}]" if held else "")
    if hasattr(value, "__qualname__"):
        return _name(value)
    return _object(value)


def _part(value: Any) -> str:
    """Return the identity of something that a callable holds: what callables hold in turn counts by its name."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, list | tuple | set | frozenset):
        parts = [_part(item) for item in value]
        return f"{type(value).__name__}({', '.join(sorted(parts) if isinstance(value, set | frozenset) else parts)})"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{_part(key)}: {_part(item)}" for key, item in value.items())) + "}"
    return _name(value) if hasattr(value, "__qualname__") else _object(value)


def _object(value: Any) -> str:
    has_text = "__repr__" in {name for base in type(value).__mro__[:-1] for name in vars(base)}
    if has_text and type(value).__module__ != "builtins":
        text = _ADDRESS.sub("", repr(value))
    else:
        plain = {name: item for name, item in getattr(value, "__dict__", {}).items() if isinstance(item, _PLAIN)}
        text = repr(dict(sorted(plain.items())))
    return f"{_name(type(value))}({text})"


def _name(value: Any) -> str:
    return f"{value.__module__}:{value.__qualname__}"
