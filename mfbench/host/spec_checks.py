"""The check of a spec when it is collected: a field with a wrong value would otherwise fail far from its cause."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

from mfbench.model.specs import check_name

Check = Callable[[Any], bool]


def spec_problem(spec: object) -> str:
    """Return what is wrong with a spec: field, value and what is expected; "" if it is valid."""
    for name, value in vars(spec).items():
        if name in _FIELDS:
            check, expected = _FIELDS[name]
            if not check(value):
                return f"{name} is {shown(value)}, expected {expected}"
    return ""


def shown(value: object) -> str:
    """Return a short text for a value of a plugin, whatever its class does when it is printed."""
    try:
        return reprlib.repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - __repr__ is code of the plugin
        return f"an object of class {type(value).__name__}"


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate: no terminal and no file accepts it
        return False
    return True


def _is_name(value: object) -> bool:
    try:
        check_name(value)  # type: ignore[arg-type]
    except (ValueError, AttributeError, TypeError):
        return False
    return True


def _is_target(value: object) -> bool:
    """Tell whether a value is a factory: a callable, or the text ``package.module:attribute``."""
    if not isinstance(value, str):
        return callable(value)
    module, colon, attribute = value.partition(":")
    parts = [*module.split("."), *(attribute.split(".") if colon else ())]
    return all(part.isidentifier() for part in parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_list(value: object, is_item: Check) -> bool:
    """Tell whether a value is a list of such items: sized and in order, NumPy arrays included."""
    if isinstance(value, str | bytes | Mapping | Set) or not hasattr(type(value), "__len__"):
        return False
    return hasattr(type(value), "__iter__") and all(map(is_item, value))  # type: ignore[call-overload]


def _is_mapping(value: object, is_value: Check) -> bool:
    return isinstance(value, Mapping) and all(_is_text(key) and is_value(item) for key, item in value.items())


def _is_anything(value: object) -> bool:
    return True


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_path(value: object) -> bool:
    return value is None or (isinstance(value, Sequence) and len(value) == 2 and _is_list(value, _is_text))


def _is_module(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _texts(value: object) -> bool:
    return _is_list(value, _is_text)


_TEXT = (_is_text, "a text")
_TEXTS = (_texts, "a list of texts")
_SIZE = (_optional(_is_number), "a whole number or None")
# A field that is not listed here belongs to the plugin's own subclass.
_FIELDS: dict[str, tuple[Check, str]] = {
    "name": (_is_name, "lower-case letters, digits and single hyphens, such as 'svm-rbf'"),
    "summary": _TEXT,
    "factory": (_is_target, "'package.module:Class' or a callable"),
    "paper": _TEXT,
    "defaults": (lambda value: _is_mapping(value, _is_anything), "a mapping from parameters to values"),
    "grid": (
        lambda value: _is_mapping(value, lambda item: _is_list(item, _is_anything) and len(item) > 0),
        "a mapping from parameters to lists of values",
    ),
    "tags": _TEXTS,
    "warm_up": (_is_flag, "True or False"),
    "complexity": _TEXT,
    "check_parameters": (lambda value: _is_mapping(value, _is_anything), "a mapping from parameters to values"),
    "expected_failures": (lambda value: _is_mapping(value, _is_text), "a mapping from checks to reasons"),
    "requires": (lambda value: _is_list(value, _is_module), "a list of modules, such as ('skrebate',)"),
    "install": _TEXT,
    "invariance": (lambda value: value in ("none", "affine", "monotone"), "'none', 'affine' or 'monotone'"),
    "targets": (lambda value: value in ("", "classes", "numbers"), "'classes', 'numbers' or ''"),
    "raw_input": (_is_flag, "True or False"),
    "path": (_is_path, "a parameter and the name of a method, or None"),
    "loader": (_optional(_is_target), "'package.module:function', a callable or None"),
    "source": _TEXT,
    "license": _TEXT,
    "citation": _TEXT,
    "n_samples": _SIZE,
    "n_features": _SIZE,
    "n_classes": _SIZE,
    "class_counts": (lambda value: _is_mapping(value, _is_number), "a mapping from classes to numbers of rows"),
    "openml_id": _SIZE,
    "uci_id": _SIZE,
    "mirror_name": _TEXT,
    "target": _TEXT,
    "categorical": (_optional(_texts), "a list of columns or None"),
    "drop": _TEXTS,
    "keep_classes": _TEXTS,
    "collections": (lambda value: _is_mapping(value, _is_text), "a mapping from collections to labels"),
    "note": _TEXT,
}
