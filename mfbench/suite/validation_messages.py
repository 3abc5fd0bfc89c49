"""From pydantic's errors to sentences: the key in the file, the actual value and the allowed values."""

from __future__ import annotations

import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mfbench.errors import suggestion

UNIONS = (types.UnionType, Union)  # the type of "A | B" is one of these, depending on A and B


def describe(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return one sentence per pydantic error: key path, actual value, allowed values."""
    by_key: dict[str, list[Any]] = {}
    for detail in error.errors(include_url=False):
        fields, inner = _follow(model, detail["loc"])
        by_key.setdefault(_path(fields), []).append((detail, inner))
    # An error in a nested key is more precise: "tune.k is empty" makes "tune is not a string" redundant.
    outer = {key[:place] for key in by_key for place, mark in enumerate(key) if mark in ".["}
    return [f"{key}: {_sentence(details)}" for key, details in by_key.items() if key not in outer]


def _path(parts: Sequence[str | int]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the file"


def _follow(model: type[BaseModel], location: Sequence[str | int]) -> tuple[list[str | int], type[BaseModel]]:
    """Follow a location through the models, skipping the names that pydantic adds for branches of unions."""
    kept: list[str | int] = []
    annotation: Any = model
    owner: type[BaseModel] = model
    for position, part in enumerate(location):
        current = _model_in(annotation)
        if current is not None and isinstance(part, str):
            if current is not annotation and (part == current.__name__ or "[" in part):
                continue
            owner = current
            if part in current.model_fields:
                annotation = current.model_fields[part].annotation
            elif position < len(location) - 1:
                continue
        elif isinstance(part, str) and not _is_mapping(annotation):
            if part.startswith("dict["):
                annotation = next((arm for arm in get_args(annotation) if _is_mapping(arm)), annotation)
            continue
        elif _is_mapping(annotation) or _is_list(annotation):
            annotation = _item(annotation)
        kept.append(part)
    return kept, owner


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return a table's model, also if the annotation allows alternatives to the table."""
    arms = get_args(annotation) if get_origin(annotation) in UNIONS else [annotation]
    models = [arm for arm in arms if isinstance(arm, type) and issubclass(arm, BaseModel)]
    return models[0] if models else None


def _bare(annotation: Any) -> Any:
    """Return a type without its constraints."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _is_list(annotation: Any) -> bool:
    annotation = _bare(annotation)
    return get_origin(annotation) is list or any(get_origin(_bare(arm)) is list for arm in get_args(annotation))


def _is_mapping(annotation: Any) -> bool:
    return get_origin(_bare(annotation)) is dict


def _item(annotation: Any) -> Any:
    annotation = _bare(annotation)
    if get_origin(annotation) in UNIONS:
        annotation = _bare(next((arm for arm in get_args(annotation) if get_origin(_bare(arm)) is list), annotation))
    arguments = get_args(annotation)
    return arguments[-1] if arguments else Any


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
