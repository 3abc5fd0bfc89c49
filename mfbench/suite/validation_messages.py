"""From errors to sentences about a suite file: the key in the file, the actual value and the allowed values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from mfbench.errors import MfbenchError, SuiteError, UsageError, explained, suggestion


def at(place: str, *kinds: type[MfbenchError]) -> AbstractContextManager[None]:
    """Return a context that turns errors, by default `UsageError`, into a `SuiteError` that starts with a place."""
    return explained(SuiteError, lambda reason: f"{place}: {reason}", *(kinds or (UsageError,)))


def describe(error: ValidationError, model: type[BaseModel], data: Any) -> list[str]:
    """Return one sentence per pydantic error: key path, actual value, allowed values."""
    by_key: dict[str, list[Any]] = {}
    for detail in error.errors(include_url=False):
        fields, inner = _follow(model, data, detail["loc"], detail["type"] == "missing")
        by_key.setdefault(_path(fields), []).append((detail, inner))
    # An error in a nested key is more precise: "tune.k is empty" makes "tune is not a string" redundant.
    outer = {key[:place] for key in by_key for place, mark in enumerate(key) if mark in ".["}
    return [f"{key}: {_sentence(details)}" for key, details in by_key.items() if key not in outer]


def _path(parts: Sequence[str | int]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the file"


def _follow(
    model: type[BaseModel], data: Any, location: Sequence[str | int], is_missing: bool
) -> tuple[list[str | int], type[BaseModel]]:
    """Return the path of an error in the data, and the model of its table."""
    # Of a location's parts, the data lack the names that pydantic adds for the branches of a union, and a missing key.
    kept: list[str | int] = []
    owner = model
    for position, part in enumerate(location):
        is_present = part in data if isinstance(data, dict) else isinstance(data, list) and isinstance(part, int)
        if is_present or (is_missing and position == len(location) - 1):
            kept.append(part)
            data = data[part] if is_present else None
            field = owner.model_fields.get(str(part))
            owner = next(_models(field.annotation), owner) if field is not None else owner
    return kept, owner


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for arm in get_args(annotation):
        yield from _models(arm)


def _sentence(details: Iterable[tuple[Any, type[BaseModel]]]) -> str:
    allowed: list[str] = []
    actual = ""
    for detail, owner in details:
        kind, context = detail["type"], detail.get("ctx", {})
        name = str(detail["loc"][-1])
        if kind == "extra_forbidden":
            return f"unknown key{suggestion(name, owner.model_fields)}"
        if kind == "missing":
            table = f"; a suite needs at least one [[{name}]] table" if name in ("datasets", "methods") else ""
            return f"missing{table or '; add ' + name + ' = …'}"
        if kind == "too_short" and context.get("min_length") == 1:
            return "found an empty list, expected at least one item"
        actual = f"found {_shown(detail['input'])}"
        allowed.append(_allowed(detail))
    return f"{actual}, expected {' or '.join(dict.fromkeys(allowed))}"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of more than 4,300 digits
        text = "a number of thousands of digits"
    return f"{text if len(text) <= 60 else text[:57] + '…'} ({_type_name(value)})"


def _type_name(value: Any) -> str:
    names = {
        bool: "true/false",
        int: "a whole number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def _allowed(detail: Any) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    plain = {
        "string_type": "a string",
        "int_type": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "list_type": "a list",
        "dict_type": "a table",
        "model_type": "a table",
    }
    if kind in plain:
        return plain[kind]
    if kind == "literal_error":
        return str(context["expected"])
    if kind == "string_pattern_mismatch":
        if "a-z0-9" in str(context.get("pattern")):
            return "lower-case letters, digits and single hyphens"
        return "a string without blanks at its ends"
    if kind in ("string_too_short", "too_short"):
        return f"at least {context['min_length']} {'character' if 'string' in kind else 'entry'}"
    if kind in ("string_too_long", "too_long"):
        return f"at most {context['max_length']:,} {'characters' if 'string' in kind else 'entries'}"
    message = str(detail["msg"])
    return message.removeprefix("Input should be ").removeprefix("Value error, ")
