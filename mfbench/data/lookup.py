"""Find datasets that no plugin generates: in the mirror, then the cache, then (unless offline) the network.

Locating a dataset reads only the mirror's index and the cache's cards, and imports no numeric library.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mfbench.data.cache import PULL, Cache, DataOptions, stem_of
from mfbench.data.mirror import Mirror
from mfbench.data.reference import (
    ImportReference,
    MirrorReference,
    OpenMLReference,
    OpenMLSuiteReference,
    RepositoryReference,
    StoredReference,
    UCIReference,
    parse_reference,
)
from mfbench.errors import DataError, DataUnavailableError, MfbenchError, UnknownNameError, UsageError
from mfbench.host.registry import Registry
from mfbench.model.specs import CLASSIFICATION, Dataset, DatasetSpec

T = TypeVar("T")
R = TypeVar("R")


class Follower(Protocol):
    """Displays the progress of downloads."""

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        """Start following a download; call the result with the bytes received and, if known, the total."""


@dataclass(frozen=True)
class LoadedDataset:
    """A dataset and its origin."""

    data: Dataset
    location: str
    key: str = ""  # its key there, for example `openml:61`
    card: Mapping[str, Any] | None = None  # the source's description


class Lookup:
    """The mirror, cache and network, each opened on first use."""

    def __init__(self, options: DataOptions | None = None, follower: Follower | None = None) -> None:
        self.options = options or DataOptions()
        self.cache = Cache(self.options.cache)
        self._follower = follower
        self._out_of_reach: set[str] = set()

    @cached_property
    def mirror(self) -> Mirror | None:
        """The mirror, or None if there is none; raises `UsageError` if the folder is not a mirror."""
        return None if self.options.mirror is None else Mirror(self.options.mirror)

    @cached_property
    def cached_keys(self) -> frozenset[str]:
        """The keys in the cache, read once."""
        return frozenset(self.cache.entries())

    def location(self, spec: DatasetSpec) -> str:
        """Return "embedded", "mirror", "cached" or "missing", without loading anything."""
        if spec.embedded:
            return "embedded"
        if self.mirror is not None and mirror_name(spec) in self.mirror:
            return "mirror"
        return "cached" if self.cached_keys.intersection(keys_of(spec)) else "missing"

    def registered(self, spec: DatasetSpec) -> LoadedDataset:
        """Load a registered dataset without a loader, and prepare it as its description requires."""
        from mfbench.data.columns import conform
        from mfbench.data.structure import with_columns_of

        _ = self.mirror  # an invalid mirror folder is the user's mistake, unlike the errors below
        try:
            loaded = self._find(spec.name, candidates_of(spec))
        except UsageError as error:  # the description names a missing column: the plugin's mistake
            raise DataError(f"dataset {spec.name!r} cannot be loaded: {error}") from error
        return replace(loaded, data=conform(with_columns_of(loaded.data, spec), spec, loaded.key))

    def stored(self, reference: StoredReference) -> LoadedDataset:
        """Load a dataset from a mirror, the cache or a repository; errors as for `registered`."""
        loaded = self._find(reference.text, [reference])
        return replace(loaded, data=replace(loaded.data, name=reference.text))

    def suite(self, reference: OpenMLSuiteReference) -> list[OpenMLReference]:
        """Return the datasets of an OpenML suite, from the cache or the network."""
        try:
            numbers = self.cache.suite(reference.key)
        except DataError:
            if self.options.offline:
                raise
            numbers = None
        if numbers is None:
            if self.options.offline:
                reason = f"{reference.text} is not in the cache, and the network is off"
                raise DataUnavailableError(reason, f"to download it, run: {PULL.format(reference.text)}", can_pull=True)
            from mfbench.data.repositories import openml_suite

            numbers = self._ask(OpenMLReference.repository, openml_suite, reference.name)
            self.cache.put_suite(reference.key, numbers)
        return [OpenMLReference(str(number)) for number in numbers]

    def _find(self, name: str, candidates: Sequence[StoredReference]) -> LoadedDataset:
        """Return the first of several equivalent references that loads."""
        in_mirror = next((item.name for item in candidates if isinstance(item, MirrorReference)), "")
        if self.mirror is not None and in_mirror in self.mirror:
            data, card = self.mirror.load(in_mirror), self.mirror.card(in_mirror)
            return LoadedDataset(data, "mirror", MirrorReference(in_mirror).key, card)
        for item in candidates:
            loaded = self._cached(item)
            if loaded is not None:
                return loaded
        remote = [item for item in candidates if isinstance(item, RepositoryReference)]
        failures = []
        for item in [] if self.options.offline else remote:
            try:
                return self._fetched(item)
            except DataUnavailableError as error:
                failures.append(error)
        raise self._unavailable(name, candidates, failures)

    def _fetched(self, item: RepositoryReference) -> LoadedDataset:
        """Return a dataset that is downloaded, unless another process downloads it at the same time."""
        location = "cache"

        def download() -> tuple[Dataset, dict[str, Any]]:
            nonlocal location
            location = "network"
            return self._ask(item.repository, self._download, item)

        data, card = self.cache.fetch(item.key, download)
        return LoadedDataset(data, location, item.key, card)

    def _cached(self, item: StoredReference) -> LoadedDataset | None:
        """Return a dataset from the cache; a damaged one that can be downloaded again counts as missing."""
        try:
            cached = self.cache.get(item.key)
        except DataError as error:
            remote = isinstance(item, RepositoryReference)
            if remote and not self.options.offline:
                return None
            remedy = "download it again without --offline" if remote else "import it again"
            raise DataError(f"{error}; {remedy}") from error
        return None if cached is None else LoadedDataset(cached[0], "cache", item.key, cached[1])

    def _unavailable(
        self, name: str, candidates: Sequence[StoredReference], failures: Sequence[DataUnavailableError]
    ) -> DataUnavailableError:
        """Return the error that lists the locations searched and how to obtain the dataset."""
        remote = any(isinstance(item, RepositoryReference) for item in candidates)
        mirrored = any(isinstance(item, MirrorReference) for item in candidates)
        where = "not in the mirror, not in the cache" if self.mirror is not None and mirrored else "not in the cache"
        if failures:
            where += f", and {failures[0].reason}"
        elif remote:
            where += ", and the network is off"
        if remote:
            purpose = "to try again" if failures else "to download it"
            remedy = f"{purpose}, run: {PULL.format(name)}" + (", or name a mirror with --data-dir" if mirrored else "")
        elif mirrored:
            remedy = "no known repository has it: name a mirror that does with --data-dir"
        else:
            imported = next(item.name for item in candidates if isinstance(item, ImportReference))
            remedy = f"to import it, run: mfbench datasets import FILE --name {imported}"
        attempt = next((error.attempt for error in failures if error.attempt), "")
        reason = f"dataset {name!r} is unavailable: {where}"
        return DataUnavailableError(reason, remedy, can_pull=remote, attempt=attempt)

    def _ask(self, repository: str, call: Callable[[R], T], reference: R) -> T:
        """Call a server, unless it has already proved unreachable."""
        if repository in self._out_of_reach:
            raise DataUnavailableError(f"{repository} could not be reached a moment ago and was not tried again")
        try:
            return call(reference)
        except DataUnavailableError:
            self._out_of_reach.add(repository)
            raise

    def _download(self, reference: RepositoryReference) -> tuple[Dataset, dict[str, Any]]:
        from mfbench.data import repositories

        load = getattr(repositories, reference.loader)
        progress = None if self._follower is None else self._follower.fetching(reference.text)
        options: dict[str, Any] = {**reference.options(), "progress": progress}
        loaded: tuple[Dataset, dict[str, Any]] = load(reference.name, **options)
        return loaded


def mirror_name(spec: DatasetSpec) -> str:
    """Return the name under which mirrors store a registered dataset."""
    return spec.mirror_name or spec.name.replace("-", "_")


def candidates_of(spec: DatasetSpec) -> list[StoredReference]:
    """Return the references to try, in order, for a registered dataset without a loader."""
    categorical = None if spec.categorical is None else tuple(spec.categorical)
    candidates: list[StoredReference] = [MirrorReference(mirror_name(spec))]
    for kind, number in ((OpenMLReference, spec.openml_id), (UCIReference, spec.uci_id)):
        if number is not None:
            candidates.append(kind(str(number), spec.target or None, categorical, tuple(spec.drop)))
    return candidates


def keys_of(spec: DatasetSpec) -> list[str]:
    """Return the cache keys of a registered dataset."""
    return [item.key for item in candidates_of(spec)]


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
    detail: str = ""  # its shape, or the reason for the failure

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
    # The datasets of a mirror become `mirror:NAME`, and stand in for every registered dataset with that mirror name; a
    # file becomes `import:NAME`.
    if path.is_dir():
        if name is not None or target is not None or categorical:
            raise UsageError("--name, --target and --categorical are for a file; the index of a mirror defines them")
        yield from _import_mirror(Mirror(path), lookup.cache)
        return
    from mfbench.data.files import read_file

    dataset = read_file(path, target=target, categorical=categorical)
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", dataset.name).strip("-")
    reference = parse_reference(ImportReference(name or stem).text).text
    if dataset.is_sparse:
        raise UsageError(f"{path} is sparse, and the cache holds dense tables: use the file itself, as file:{path}")
    lookup.cache.put(reference, replace(dataset, name=reference), {"file": path.name, "target": target or ""})
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
    """Read everything in the cache, and in the mirror if there is one, and verify its checksums."""
    damaged = lookup.cache.verify()
    count = len({*damaged, *lookup.cache.entries()})
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
    keys = list(cache.entries())
    # `verify` refers to an entry with an unreadable card by its file name, so that name can be used to delete it.
    broken = cache.broken_cards()
    matches: dict[str, None] = {}
    for name in names:
        aliases = keys_of(registry.entry("dataset", name).spec) if registry.table("dataset").has(name) else [name]
        files = [name, *(f"{stem_of(alias)}.json" for alias in aliases)]
        entries = [key for key in keys if key in aliases or key.partition(" ")[0] == name]
        entries += [file for file in broken if file in files]
        if not entries:
            raise UnknownNameError("cached dataset", name, keys, "see 'mfbench datasets list'")
        matches |= dict.fromkeys(entries)
    return list(matches)


_VERSION = b"mfbench-dataset-1"


def content_hash(dataset: Dataset) -> str:
    """Return a hash of everything that determines results: values, labels, names, kinds of columns, encoding."""
    # A response is included if there is one. The name, provenance, category labels and ground truth are excluded: no
    # trial depends on them. For a platform-independent hash, numbers are hashed row by row as little-endian 64-bit
    # values with a canonical NaN and zero, and every part is preceded by its length. Adding 0.0 makes a copy and turns
    # -0.0 into 0.0.
    import numpy as np  # not to tell where a dataset is

    X = dataset.X
    if dataset.is_sparse:  # canonical already: sorted, without zeros and NaN
        values = np.concatenate([X.data, X.indices, X.indptr], dtype=np.float64)
    else:
        values = np.asarray(X, dtype=np.float64) + 0.0
        values[np.isnan(values)] = np.nan
    form = "sparse" if dataset.is_sparse else dataset.encoding
    words = [list(dataset.class_names), list(dataset.feature_names), form, list(X.shape)]
    parts = [
        _VERSION,
        json.dumps(words, ensure_ascii=True, separators=(",", ":")).encode("ascii"),
        np.ascontiguousarray(values, dtype="<f8").tobytes(),
        np.ascontiguousarray(dataset.y, dtype="<i8" if dataset.n_classes else "<f8").tobytes(),
        np.ascontiguousarray(dataset.categorical, dtype=np.uint8).tobytes(),
    ]
    if dataset.task != CLASSIFICATION:
        parts.append(dataset.task.encode())
    if dataset.response is not None:
        parts.append(np.ascontiguousarray(np.asarray(dataset.response, dtype=np.float64) + 0.0, dtype="<f8").tobytes())
    for name in ("groups", "time", "split", "weights"):
        if getattr(dataset, name) is not None:
            parts += [name.encode(), np.ascontiguousarray(getattr(dataset, name), dtype="<f8").tobytes()]
    if dataset.feature_groups:
        from mfbench.data.columns import units_of

        parts += [b"feature_groups", np.ascontiguousarray(units_of(dataset), dtype="<i8").tobytes()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
