"""Downloading the datasets of suites, collections and references into the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from mfbench.data.catalog import check_reference, find
from mfbench.data.collections import collection_names, in_collection
from mfbench.data.lookup import OPENML_SUITE, PREFIXES, Found, Lookup
from mfbench.data.upkeep import DatasetStatus
from mfbench.errors import MfbenchError, UnknownNameError
from mfbench.host.registry import Registry


def pull(words: Sequence[str], registry: Registry, lookup: Lookup) -> Iterator[DatasetStatus]:
    """Download datasets into the cache.

    Parameters
    ----------
    words : sequence of str
        Suites (names or files), collections, datasets, and references such as ``openml:61`` and ``openml-suite:99``.
    registry : Registry
        The registered datasets and suites.
    lookup : Lookup
        Mirror, cache and network.

    Yields
    ------
    DatasetStatus
        One for each dataset, as soon as it is available or has failed.

    Raises
    ------
    UsageError
        If a word names nothing; raised before any download starts.
    """
    for name, load in _requests(words, registry, lookup).items():
        try:
            loaded = load()
        except MfbenchError as error:
            yield DatasetStatus(name, "failed", str(error))
            continue
        shape = f"{loaded.data.n_samples} rows, {loaded.data.n_features} features, {loaded.data.n_classes} classes"
        yield DatasetStatus(name, loaded.place, shape if loaded.place in ("cache", "network") else "")


def _requests(words: Sequence[str], registry: Registry, lookup: Lookup) -> dict[str, Callable[[], Found]]:
    requests: dict[str, Callable[[], Found]] = {}
    for word in words:
        if word.endswith(".toml") or word in registry.suites():
            from mfbench.suite.loading import load_suite
            from mfbench.suite.resolve import resolve_datasets

            for label, item in resolve_datasets(load_suite(word, registry), registry, lookup).items():
                options = {"folder": item.folder, "target": item.target, "categorical": item.categorical}
                requests[label] = partial(find, item.text, registry, lookup, **options)  # type: ignore[arg-type]
            continue
        if word in collection_names(registry):
            names = [spec.name for spec in in_collection(registry, word)]
        elif word.startswith(OPENML_SUITE):
            names = lookup.suite(word)
        else:
            _check_word(word, registry)
            check_reference(word, registry)
            names = [word]
        for name in names:
            requests[name] = partial(find, name, registry, lookup)
    return requests


def _check_word(word: str, registry: Registry) -> None:
    if not word.startswith((*PREFIXES, "file:")) and "(" not in word and word not in registry.datasets:
        names = [*registry.datasets, *registry.suites(), *collection_names(registry)]
        raise UnknownNameError("dataset, suite or collection", word, names, "see 'mfbench datasets list'")
