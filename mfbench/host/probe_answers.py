"""The side of a child process that learns facts about factories; see `mfbench.host.probes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mfbench.errors import MfbenchError
from mfbench.host.factories import is_for_two_classes, parameter_names, takes_numbers
from mfbench.host.registered import Plugin
from mfbench.host.registry import load_registry
from mfbench.host.trying import tried
from mfbench.model.specs import ClassifierSpec, SelectorSpec

Answer = tuple[list[str], bool, bool, str]


def answer(plugin: Plugin, requests: Sequence[tuple[str, str]]) -> list[Answer]:
    """Return each factory's parameters, whether it takes numbers or only two classes, and why it cannot be used."""
    registry = load_registry(exactly=[plugin])
    lookups = {"selector": registry.selector, "classifier": registry.classifier, "dataset": registry.dataset}
    answers: list[Answer] = []
    for kind, name in requests:
        try:
            registered = lookups[kind](name)
            names = parameter_names(registered)
            # A class that a user names may need parameters to be built at all; see `try_out`.
            is_selector = isinstance(registered.spec, SelectorSpec) and plugin.declared is None
            numbers = is_selector and takes_numbers(registered)
            two = isinstance(registered.spec, ClassifierSpec) and is_for_two_classes(registered)
            answers.append((names, numbers, two, ""))
        except MfbenchError as error:
            answers.append(([], False, False, str(error)))
    return answers


def try_out(plugin: Plugin, kind: str, name: str, params: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether a class that a user names takes numbers, and why it cannot be used; see `tried`."""
    registry = load_registry(exactly=[plugin])
    return tried(registry.selector(name) if kind == "selector" else registry.classifier(name), params)
