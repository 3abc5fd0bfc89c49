"""Datasets of third parties, loaded in a child process."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mfbench.errors import DataError
from mfbench.host.factories import build
from mfbench.host.probes import SHARED, memory_limit
from mfbench.host.registered import Plugin, Registered
from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset
from mfbench.processes.call import ChildError, call

SECONDS = 600.0


def load_isolated(registered: Registered, params: Mapping[str, Any]) -> object:
    """Load a dataset of a third party without running its code in this process; it is not checked."""
    plugin, name = registered.plugin, registered.spec.name
    try:
        return call(
            f"{__name__}:load",
            *(plugin, name, dict(params)),
            timeout=SECONDS,
            memory=memory_limit(),
            path=sys.path,
            preload=SHARED,
        )
    except ChildError as error:
        raise DataError(f"dataset {name!r} of {plugin} cannot be loaded: {error}") from error


def load(plugin: Plugin, name: str, params: Mapping[str, Any]) -> Dataset:
    """Load a dataset; called in the child."""
    data = build(load_registry(exactly=[plugin]).dataset(name), params)
    if not isinstance(data, Dataset):
        raise TypeError(f"it is a {type(data).__name__}, expected mfbench.Dataset")
    relevant, pairs = data.relevant, data.interactions
    return replace(
        data,
        relevant=None if relevant is None else tuple(map(int, relevant)),
        interactions=None if pairs is None else tuple((int(a), int(b)) for a, b in pairs),
    )
