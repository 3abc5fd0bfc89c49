"""Managing the cache: importing mirrors and files, verifying entries, and finding entries to delete."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfbench.data.cache import Cache, stem_of
from mfbench.data.lookup import Lookup, keys_of
from mfbench.data.mirror import Mirror
from mfbench.data.reference import ImportReference, MirrorReference, parse_reference
from mfbench.errors import MfbenchError, UnknownNameError, UsageError
from mfbench.host.registry import Registry
from mfbench.model.specs import Dataset

_MEANINGS = {
    "embedded": "made by a plugin, nothing to fetch",
    "file": "a file of your own, nothing to fetch",
    "mirror": "in the mirror, nothing to fetch",
    "cache": "already in the cache",
    "network": "fetched",
    "imported": "imported",
    "failed": "failed",
}


@dataclass(frozen=True)
class DatasetStatus:
    """What happened to one dataset."""

    name: str  # as the user wrote it
    state: str
    detail: str = ""  # its shape, or why it failed

    @property
    def failed(self) -> bool:
        """Whether the dataset is still unavailable."""
        return self.state == "failed"

    def __str__(self) -> str:
        return f"{self.name}: {_MEANINGS[self.state]}" + (f": {self.detail}" if self.detail else "")


def import_path(
    path: Path,
    lookup: Lookup,
    *,
    name: str | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Iterator[DatasetStatus]:
    """Copy a mirror or a file into the cache."""
    # The datasets of a mirror become `mirror:NAME` and are used for every registered dataset that has this name in
    # mirrors; a file becomes `import:NAME`.
    if path.is_dir():
        if name is not None or target is not None or categorical:
            raise UsageError("--name, --target and --categorical are for a file; the index of a mirror defines them")
        yield from _import_mirror(Mirror(path), lookup.cache)
        return
    from mfbench.data.files import EXTENSIONS, read_file

    extension = next((ending for ending in EXTENSIONS if path.name.lower().endswith(ending)), "")
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name[: len(path.name) - len(extension)]).strip("-")
    reference = parse_reference(ImportReference(name or stem).text).text
    dataset = read_file(path, name=reference, target=target, categorical=categorical)
    lookup.cache.put(reference, dataset, {"file": path.name, "target": target or ""})
    yield DatasetStatus(reference, "imported", _shape(dataset))


def _import_mirror(mirror: Mirror, cache: Cache) -> Iterator[DatasetStatus]:
    for name in mirror.names():
        reference = MirrorReference(name).text
        try:
            dataset = mirror.load(name)
        except MfbenchError as error:
            yield DatasetStatus(reference, "failed", str(error))
            continue
        cache.put(reference, dataset, mirror.card(name))
        yield DatasetStatus(reference, "imported", _shape(dataset))


def _shape(dataset: Dataset) -> str:
    return f"{dataset.n_samples} rows, {dataset.n_features} features"


def verify(lookup: Lookup) -> tuple[int, dict[str, str]]:
    """Read and hash everything in the cache, and in the mirror if there is one."""
    damaged = lookup.cache.verify()
    count = len({*damaged, *(entry.key for entry in lookup.cache.entries())})
    if lookup.mirror is not None:
        for name in lookup.mirror.names():
            count += 1
            try:
                lookup.mirror.load(name)
            except MfbenchError as error:
                damaged[f"{MirrorReference(name).text} (mirror)"] = str(error)
    return count, damaged


def cached_keys(names: Iterable[str], registry: Registry, cache: Cache) -> list[str]:
    """Return the cache keys of datasets and references."""
    keys = [entry.key for entry in cache.entries()]
    # `verify` names an entry by its file if the card cannot be read; such an entry can be deleted by that name.
    broken = cache.broken_cards()
    matches: dict[str, None] = {}
    for name in names:
        aliases = keys_of(registry.dataset(name).spec) if registry.dataset_names.has(name) else [name]
        files = [name, *(f"{stem_of(alias)}.json" for alias in aliases)]
        entries = [key for key in keys if key in aliases or key.partition(" ")[0] == name]
        entries += [file for file in broken if file in files]
        if not entries:
            raise UnknownNameError("cached dataset", name, keys, "see 'mfbench datasets list'")
        matches |= dict.fromkeys(entries)
    return list(matches)
