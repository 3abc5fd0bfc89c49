"""From a method's ``tune`` to its grid: every key must be a parameter of one of its steps, every value allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mfbench.errors import SuiteError, UsageError, suggestion
from mfbench.host.expressions import parse
from mfbench.host.factories import check_parameters, parameter_names
from mfbench.host.registered import Registered
from mfbench.suite.methods import TOP, Grid
from mfbench.suite.schema import Method, Range, Top


def resolve_grid(method: Method, registered: Mapping[str, Registered], location: str) -> Grid:
    """Return the grid of a method; empty if it is not tuned."""
    if method.tune is None:
        return ()
    if method.tune == "default":
        fixed = {
            "classifier": parse(method.classifier or "none").params,
            "selector": parse(method.selector or "none").params,
        }
        return tuple(
            (target, name, tuple(values))
            for target in ("selector", "classifier")
            if target in registered
            for name, values in registered[target].spec.grid.items()
            if name not in fixed[target]  # a parameter that the suite sets is not tuned
        )
    grid: dict[tuple[str, str], tuple[Any, ...]] = {}
    names_so_far: set[tuple[str, str]] = set()
    for key, entry in method.tune.items():
        values: list[Any] = list(entry.values() if isinstance(entry, Range) else entry)
        target, names = _resolve_names(key, values, registered, location)
        for name in names:
            if (target, name) in names_so_far:
                raise SuiteError(f"{location}.{key}: {target}.{name} is tuned twice; name it once")
            names_so_far.add((target, name))
        together = len(names) > 1
        grid[target, ",".join(names)] = tuple(tuple(value) if together else value for value in values)
    return tuple((*owner, values) for owner, values in grid.items())


def thinned(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return at most `count` of the values: the first, the last, and some between them at about equal distances."""
    if len(values) <= count:
        return values
    if count == 1:
        return values[:1]
    return tuple(values[(2 * i * (len(values) - 1) + count - 1) // (2 * (count - 1))] for i in range(count))


def _resolve_names(
    key: str, values: Sequence[Any], registered: Mapping[str, Registered], location: str
) -> tuple[str, list[str]]:
    """Return the step and the parameters of a key; several, separated by commas, are tuned together."""
    parts = [part.strip() for part in key.split(",")]
    owners = [_resolve_key(part, values, registered, location) for part in parts]
    if len({target for target, _ in owners}) > 1:
        raise SuiteError(f"{location}.{key}: parameters that are tuned together must belong to one step")
    if len(parts) > 1:
        for value in values:
            if not isinstance(value, list) or len(value) != len(parts):
                raise SuiteError(f"{location}.{key}: found {value!r}, expected a list of {len(parts)} values")
    return owners[0][0], [name for _, name in owners]


def _resolve_key(
    key: str, values: Sequence[Any], registered: Mapping[str, Registered], location: str
) -> tuple[str, str]:
    if key == TOP:
        if "selector" not in registered:
            raise SuiteError(f"{location}.top: 'top' needs a selector")
        _check_top_values(values, location)
        return TOP, TOP
    target, dot, name = key.partition(".")
    if dot:
        if target not in registered:
            raise SuiteError(f"{location}.{key}: the method has no such step; write selector.NAME or classifier.NAME")
        try:
            check_parameters(registered[target], [name])
        except UsageError as error:
            raise SuiteError(f"{location}: {error}") from None
        return target, name
    owners = [target for target, spec in registered.items() if key in parameter_names(spec)]
    if len(owners) == 1:
        return owners[0], key
    if owners:
        raise SuiteError(
            f"{location}.{key}: both steps have a parameter {key!r}; write selector.{key} or classifier.{key}"
        )
    names = [name for spec in registered.values() for name in parameter_names(spec)]
    raise SuiteError(f"{location}.{key}: no step of this method has a parameter {key!r}{suggestion(key, names)}")


def _check_top_values(values: Sequence[Any], location: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    rule: TypeAdapter[Top] = TypeAdapter(Top)
    for value in values:
        try:
            rule.validate_python(value, strict=True)
        except ValidationError:
            raise SuiteError(
                f"{location}.top: found {value!r}, expected 'positive', 'all', 'all-weighted', a count of at least 1 "
                "or a fraction up to 1.0"
            ) from None
