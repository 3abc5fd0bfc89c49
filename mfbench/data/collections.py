"""Collections: named groups of registered datasets, such as those of one paper."""

from __future__ import annotations

from mfbench.errors import UnknownNameError
from mfbench.host.registry import Registry
from mfbench.model.specs import DatasetSpec


def collection_names(registry: Registry) -> list[str]:
    """Return the names of the collections that registered datasets belong to."""
    return sorted({name for entry in registry.datasets.values() for name in entry.spec.collections})


def in_collection(registry: Registry, name: str) -> dict[str, DatasetSpec]:
    """Return the datasets of a collection by name, or raise `UnknownNameError`."""
    names = collection_names(registry)
    if name not in names:
        raise UnknownNameError("collection", name, names, "see 'mfbench datasets list'")
    return {key: entry.spec for key, entry in sorted(registry.datasets.items()) if name in entry.spec.collections}
