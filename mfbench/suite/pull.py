"""Downloading the datasets of suites, collections and references into the cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mfbench.data.catalog import check_exists, find, resolved_reference
from mfbench.data.collections import collection_names, in_collection
from mfbench.data.lookup import Lookup
from mfbench.data.reference import OpenMLSuiteReference, Reference, parse_reference
from mfbench.data.upkeep import DatasetStatus
from mfbench.errors import MfbenchError, UnknownNameError
from mfbench.host.registry import Registry
from mfbench.suite.loading import load_suite
from mfbench.suite.resolve import resolve_datasets


def pull(words: Sequence[str], registry: Registry, lookup: Lookup) -> Iterator[DatasetStatus]:
    """Download datasets into the cache."""
    for label, reference in _references(words, registry, lookup).items():
        try:
            loaded = find(reference, registry, lookup)
        except MfbenchError as error:
            yield DatasetStatus(label, "failed", str(error))
            continue
        shape = f"{loaded.data.n_samples} rows, {loaded.data.n_features} features, {loaded.data.n_classes} classes"
        yield DatasetStatus(label, loaded.location, shape if loaded.location in ("cache", "network") else "")


def _references(words: Sequence[str], registry: Registry, lookup: Lookup) -> dict[str, Reference]:
    """Return the datasets that the words stand for, by label."""
    references: dict[str, Reference] = {}
    for word in words:
        if word.endswith(".toml") or registry.suite_names.has(word):
            entries = resolve_datasets(load_suite(word, registry), registry, lookup)
            references |= {label: entry.reference for label, entry in entries.items()}
        elif word in collection_names(registry):
            references |= {name: parse_reference(name) for name in in_collection(registry, word)}
        else:
            references |= {reference.text: reference for reference in _datasets(word, registry, lookup)}
    return references


def _datasets(word: str, registry: Registry, lookup: Lookup) -> Sequence[Reference]:
    """Return the dataset that a word names, or those of an OpenML suite."""
    if not set(word) & set(":(@") and not registry.dataset_names.has(word):
        names = [*registry.datasets, *registry.suites(), *collection_names(registry)]
        raise UnknownNameError("dataset, suite or collection", word, names, "see 'mfbench datasets list'")
    reference = parse_reference(word)
    if isinstance(reference, OpenMLSuiteReference):
        return lookup.suite(reference)
    reference = resolved_reference(reference, registry)
    check_exists(reference, registry)
    return [reference]
