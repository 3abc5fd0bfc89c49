"""What the ``mfbench datasets`` commands do besides showing: pull, import, verify and clear, as functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mfbench.data.cache import card_file
from mfbench.data.lookup import IMPORT, MIRROR, OPENML_SUITE, PREFIXES, Lookup, check_form, keys_of
from mfbench.data.mirror import Mirror
from mfbench.errors import MfbenchError, UnknownNameError, UsageError
from mfbench.host.registry import Registry

if TYPE_CHECKING:
    from mfbench.data.lookup import Found
    from mfbench.models import DatasetSpec


@dataclass(frozen=True)
class Outcome:
    """What became of one dataset.

    Attributes
    ----------
    name : str
        As it was asked for.
    state : str
        "embedded", "file", "mirror", "cache", "network", "imported", "failed".
    detail : str
        Its shape, or why it failed.
    """

    name: str
    state: str
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is not at hand now."""
        return self.state == "failed"

    def __str__(self) -> str:
        words = {
            "embedded": "made by a plugin, nothing to fetch",
            "file": "a file of your own, nothing to fetch",
            "mirror": "in the mirror, nothing to fetch",
            "cache": "already in the cache",
            "network": "fetched",
            "imported": "imported",
            "failed": "failed",
        }
        return f"{self.name}: {words[self.state]}" + (f": {self.detail}" if self.detail else "")


def pull(words: Sequence[str], registry: Registry, lookup: Lookup) -> Iterator[Outcome]:
    """Bring datasets into the cache.

    Parameters
    ----------
    words : sequence of str
        Suites (names or files), collections, datasets, references such as ``openml:61`` and ``openml-suite:99``.
    registry : Registry
        Where names are looked up.
    lookup : Lookup
        The places.

    Yields
    ------
    Outcome
        One for each dataset, as it is dealt with.

    Raises
    ------
    UsageError
        If a word means nothing; found before anything is fetched.
    """
    for name, load in _all_wanted(words, registry, lookup).items():
        try:
            found = load()
        except MfbenchError as error:
            yield Outcome(name, "failed", str(error))
            continue
        shape = f"{found.data.n_samples} rows, {found.data.n_features} features, {found.data.n_classes} classes"
        yield Outcome(name, found.place, shape if found.place in ("cache", "network") else "")


def _all_wanted(words: Sequence[str], registry: Registry, lookup: Lookup) -> dict[str, Callable[[], Found]]:
    from functools import partial

    from mfbench.data.catalog import check_reference, find

    wanted: dict[str, Callable[[], Found]] = {}
    for word in words:
        if word.endswith(".toml") or word in registry.suites():
            from mfbench.suite.loading import load_suite
            from mfbench.suite.resolve import resolve_datasets

            references = resolve_datasets(load_suite(word, registry), registry, lookup)
            for label, item in references.items():
                wanted[label] = partial(
                    find,
                    item.text,
                    registry,
                    lookup,
                    folder=item.folder,
                    target=item.target,
                    categorical=item.categorical,
                )
            continue
        if word in collections(registry):
            names = [spec.name for spec in in_collection(registry, word)]
        elif word.startswith(OPENML_SUITE):
            names = lookup.suite(word)
        else:
            _check_word(word, registry)
            check_reference(word, registry)
            names = [word]
        for name in names:
            wanted[name] = partial(find, name, registry, lookup)
    return wanted


def _check_word(word: str, registry: Registry) -> None:
    if not word.startswith((*PREFIXES, "file:")) and "(" not in word and word not in registry.datasets:
        known = [*registry.datasets, *registry.suites(), *collections(registry)]
        raise UnknownNameError("dataset, suite or collection", word, known, "see 'mfbench datasets list'")


def collections(registry: Registry) -> list[str]:
    """Return the names of the collections that registered datasets belong to."""
    return sorted({name for entry in registry.datasets.values() for name in entry.spec.collections})


def in_collection(registry: Registry, name: str) -> list[DatasetSpec]:
    """Return the datasets of a collection, or raise `UnknownNameError`."""
    known = collections(registry)
    if name not in known:
        raise UnknownNameError("collection", name, known, "see 'mfbench datasets list'")
    return [entry.spec for _, entry in sorted(registry.datasets.items()) if name in entry.spec.collections]


def import_path(
    path: Path,
    lookup: Lookup,
    *,
    name: str | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Iterator[Outcome]:
    """Copy a mirror or a file of your own into the cache.

    A mirror's datasets become ``mirror:NAME``, and are found by every registered dataset that has this name in mirrors;
    a file becomes ``import:NAME``.

    Parameters
    ----------
    path : Path
        A folder with ``index.toml``, or a CSV, TSV, ARFF or Parquet file.
    lookup : Lookup
        Its cache is written to.
    name : str or None, default=None
        For a file: its name; the file's without extension if None.
    target, categorical : optional
        For a file, as in `read_file`.

    Yields
    ------
    Outcome

    Raises
    ------
    UsageError
        If there is no such path, an option does not fit, or the folder is no mirror.
    DataError
        If a file cannot be read, or the cache cannot be written to.
    """
    if path.is_dir():
        if name is not None or target is not None or categorical:
            raise UsageError("--name, --target and --categorical are for a file; a mirror's index says them itself")
        yield from _import_mirror(Mirror(path), lookup)
        return
    from mfbench.data.files import EXTENSIONS, read_file

    extension = next((known for known in EXTENSIONS if path.name.lower().endswith(known)), "")
    chosen = name or re.sub(r"[^A-Za-z0-9_-]+", "-", path.name[: len(path.name) - len(extension)]).strip("-")
    reference = f"{IMPORT}{chosen}"
    check_form(reference)
    dataset = read_file(path, name=reference, target=target, categorical=categorical)
    lookup.cache.put(reference, dataset, {"file": path.name, "target": target or ""})
    yield Outcome(reference, "imported", f"{dataset.n_samples} rows, {dataset.n_features} features")


def _import_mirror(mirror: Mirror, lookup: Lookup) -> Iterator[Outcome]:
    for name in mirror.names():
        try:
            dataset = mirror.load(name)
        except MfbenchError as error:
            yield Outcome(f"{MIRROR}{name}", "failed", str(error))
            continue
        lookup.cache.put(f"{MIRROR}{name}", dataset, mirror.card(name))
        yield Outcome(f"{MIRROR}{name}", "imported", f"{dataset.n_samples} rows, {dataset.n_features} features")


def verify(lookup: Lookup) -> tuple[int, dict[str, str]]:
    """Read and hash everything in the cache, and in the mirror if one is named.

    Returns
    -------
    tuple of (int, dict of str to str)
        How many datasets there are, and the damaged ones with the reasons.
    """
    damaged = lookup.cache.verify()
    count = len({*damaged, *(entry.key for entry in lookup.cache.entries())})
    if lookup.mirror is not None:
        for name in lookup.mirror.names():
            count += 1
            try:
                lookup.mirror.load(name)
            except MfbenchError as error:
                damaged[f"{MIRROR}{name} (mirror)"] = str(error)
    return count, damaged


def cached_keys(names: Iterable[str], registry: Registry, lookup: Lookup) -> list[str]:
    """Return the cache's keys behind names of datasets and references.

    Raises
    ------
    UnknownNameError
        If nothing of that name is cached.
    """
    keys = [entry.key for entry in lookup.cache.entries()]
    # What `verify` names by a file, because its card cannot be read, must be possible to delete too.
    broken = lookup.cache.broken_cards()
    chosen: dict[str, None] = {}
    for name in names:
        spec = registry.datasets[name].spec if name in registry.datasets else None
        wanted = [name] if spec is None else keys_of(spec)
        found = [key for key in keys if key in wanted or key.partition(" ")[0] == name]
        found += [file for file in broken if file in [name, *map(card_file, wanted)]]
        if not found:
            raise UnknownNameError("cached dataset", name, keys, "see 'mfbench datasets list'")
        chosen |= dict.fromkeys(found)
    return list(chosen)
