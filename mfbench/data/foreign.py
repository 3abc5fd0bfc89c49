"""Datasets of third parties, loaded in a child process: arrays come back in files, everything else as plain values."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mfbench.errors import DataError
from mfbench.host.factories import build
from mfbench.host.probes import SHARED, memory_limit
from mfbench.host.registered import Plugin, Registered
from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset
from mfbench.processes.call import ChildError, call
from mfbench.processes.temporary import temporary_folder

SECONDS = 600.0
_ARRAYS = ("X", "y", "categorical", "response")


@dataclass(frozen=True)
class OtherClass:
    """The class of an object that is not a dataset."""

    name: str


def load_isolated(registered: Registered, params: Mapping[str, Any], seconds: float = SECONDS) -> Dataset | OtherClass:
    """Load a dataset of a third party without running its code in this process."""
    plugin, name = registered.plugin, registered.spec.name
    with temporary_folder("dataset") as folder:
        try:
            described = call(
                f"{__name__}:write",
                *(plugin, name, dict(params), str(folder)),
                timeout=seconds,
                memory=memory_limit(),
                path=sys.path,
                preload=SHARED,
            )
            if isinstance(described, str):
                return OtherClass(described)
            arrays = {field: _read(folder, field) for field in _ARRAYS}
            return Dataset(**arrays, **described)
        except (ChildError, OSError, ValueError, TypeError) as error:  # the last ones: the plugin took over the child
            raise DataError(f"dataset {name!r} of {plugin} cannot be loaded: {error}") from error


def _read(folder: Path, field: str) -> Any:
    path = folder / f"{field}.npy"
    return np.load(path, allow_pickle=False) if path.exists() else None


def _plain(names: Iterable[Any]) -> tuple[Any, ...]:
    """Return texts as such, NumPy's included; the reader refuses anything else."""
    return tuple(str(name) if isinstance(name, str) else name for name in names)


def write(plugin: Plugin, name: str, params: Mapping[str, Any], folder: str) -> dict[str, Any] | str:
    """Load a dataset, write its arrays to a folder and return the rest of it; called in the child."""
    # An array that is not one is not written, and is refused by the reader.
    data = build(load_registry(exactly=[plugin]).dataset(name), params)
    if not isinstance(data, Dataset):
        return type(data).__name__
    for field in _ARRAYS:
        value = getattr(data, field)
        if isinstance(value, np.ndarray):
            np.save(Path(folder) / f"{field}.npy", value, allow_pickle=False)
    return {
        "name": str(data.name),
        "class_names": _plain(data.class_names),
        "feature_names": _plain(data.feature_names),
        "categories": {str(feature): _plain(labels) for feature, labels in data.categories.items()},
        "encoding": str(data.encoding),
        "relevant": None if data.relevant is None else tuple(int(index) for index in data.relevant),
        "interactions": None if data.interactions is None else tuple((int(a), int(b)) for a, b in data.interactions),
        "source": str(data.source),
        "license": str(data.license),
        "citation": str(data.citation),
    }
