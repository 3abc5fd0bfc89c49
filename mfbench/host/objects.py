"""Estimators of Python code as text: a class or an object becomes a name with parameters, which any process can read.

Nothing is pickled. A worker imports the class by its place, such as ``my_module:MyClass``, and builds it with the
parameters; what a fitted object has learnt is left behind.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
from collections.abc import Mapping
from typing import Any

from mfbench.errors import UsageError
from mfbench.host import imports, notebooks
from mfbench.host.expressions import Expression
from mfbench.host.registered import Registered
from mfbench.host.spec_checks import shown

_MOVE = notebooks.REMEDY


def reference_of(target: Any) -> str:
    """Return the place from which a class or function can be imported."""
    # What a notebook or the main script defines is saved as a module first, with all that it uses.
    return next(iter(_places(target)))


def _places(target: Any) -> list[str]:
    """Return all places of a class or function, from the shortest module to the one that defines it."""
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if not (isinstance(target, type) or inspect.isroutine(target)) or not isinstance(name, str):
        raise UsageError(f"cannot add {shown(target)}: expected a class, an estimator, or an expression such as 'knn'")
    if name.endswith("<lambda>"):
        raise UsageError(f"cannot add a lambda, which has no name to import: write a function or a class; {_MOVE}")
    if "<locals>" in name:
        raise UsageError(
            f"cannot add {name.rpartition('.')[2]!r}: it is defined inside of the function "
            f"{name.partition('.<locals>')[0]!r}, from which it cannot be imported; {_MOVE}"
        )
    if module == notebooks.MAIN:
        return [notebooks.saved(name, reference_of)]
    words = module.split(".") if isinstance(module, str) else []
    parents = [".".join(words[:length]) for length in range(1, len(words) + 1)]
    places = [f"{parent}:{name}" for parent in parents if _attribute(parent, name) is target]
    if not places or imports.locate(words[0]) is None:
        raise UsageError(
            f"cannot add {name!r}: it cannot be imported from {module!r}, the module that it names as its own; {_MOVE}"
        )
    return places


def _attribute(module: str, name: str) -> Any:
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = inspect.getattr_static(value, part, None) if isinstance(value, type) else getattr(value, part, None)
    return value


def expression_of(value: Any, registered: Mapping[str, Registered] | None = None) -> Expression:
    """Return the expression of an estimator: a name, and the parameters that differ from their defaults."""
    is_object = not (isinstance(value, type) or inspect.isroutine(value))
    target = type(value) if is_object else value
    if is_object and not callable(getattr(value, "get_params", None)):
        raise UsageError(
            f"cannot add {shown(value)}: expected a class, an expression such as 'knn', or an object with the method "
            "get_params, as sklearn.base.BaseEstimator provides it"
        )
    places = _places(target)
    params = value.get_params(deep=False) if is_object else {}
    own = Expression(places[0], _changed(params, _defaults(target), target))
    names = [
        Expression(name, _changed(params, {**_defaults(target), **entry.spec.defaults}, target))
        for name, entry in (registered or {}).items()
        if (entry.spec.factory is target or entry.spec.factory in places) and (is_object or not entry.spec.defaults)
    ]
    # Plugins may register a class several times, with other defaults: the name is that with the nearest ones.
    nearest = min(names, key=lambda expression: len(expression.params), default=own)
    return nearest if len(nearest.params) <= len(own.params) else own


def _defaults(target: Any) -> dict[str, Any]:
    try:
        parameters = inspect.signature(target).parameters
    except (ValueError, TypeError):  # a class of a compiled module
        return {}
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if isinstance(target, type) and takes_any and hasattr(target, "get_params"):  # most are not in the signature
        with contextlib.suppress(Exception):  # it may have required parameters
            return dict(target().get_params(deep=False)) | defaults
    return defaults


def _changed(params: Mapping[str, Any], defaults: Mapping[str, Any], target: Any) -> dict[str, Any]:
    changed = {}
    for name, value in params.items():
        if name in defaults and (value is defaults[name] or _equal(value, defaults[name])):
            continue
        changed[str(name)] = _literal(value, f"{target.__qualname__}({name}=…)")
    return changed


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default) and " at 0x" not in repr(value)


def _literal(value: Any, what: str) -> Any:
    """Return a value that its text gives again: NumPy's numbers become Python's, objects and functions expressions."""
    if callable(getattr(value, "get_params", None)) or isinstance(value, type) or inspect.isroutine(value):
        return expression_of(value)
    if type(value) in (list, tuple):
        return type(value)(_literal(item, what) for item in value)
    if isinstance(value, dict):
        return {key: _literal(item, what) for key, item in value.items()}
    plain = value.item() if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () else value
    try:
        if _equal(ast.literal_eval(repr(plain)), plain):
            return plain
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    raise UsageError(
        f"cannot add {what} with {shown(value)}: a parameter must be a literal (a number, a text, True, None, or a "
        "list of these), an estimator or a function, because workers read it as text; write a class or a function that "
        "builds the estimator in a module, and add that"
    )
