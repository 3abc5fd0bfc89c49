"""Finding data that no plugin generates: in the mirror, then in the cache, then on the network unless it is off.

To tell where a dataset is, only the mirror's index and the cache's cards are read; no numeric library is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mfbench.data.cache import Cache
from mfbench.data.mirror import Mirror
from mfbench.data.reference import (
    ImportReference,
    MirrorReference,
    OpenMLReference,
    OpenMLSuiteReference,
    RepositoryReference,
    StoredReference,
    UCIReference,
)
from mfbench.data.sources import PULL, DataOptions
from mfbench.errors import DataError, DataUnavailableError, UsageError

if TYPE_CHECKING:
    from mfbench.model.specs import Dataset, DatasetSpec

T = TypeVar("T")
R = TypeVar("R")


class Follower(Protocol):
    """Shows the progress of downloads."""

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        """Start to follow a download; the function returned is called with the bytes so far and, if known, in all."""


@dataclass(frozen=True)
class LoadedDataset:
    """A dataset and where it came from."""

    data: Dataset
    location: str
    key: str = ""  # its name there, such as `openml:61`
    card: Mapping[str, Any] | None = None  # the description by its source


class Lookup:
    """Mirror, cache and network, each opened when it is first needed."""

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
        return frozenset(entry.key for entry in self.cache.entries())

    def location(self, spec: DatasetSpec) -> str:
        """Return "embedded", "mirror", "cached" or "missing", without loading anything."""
        if spec.embedded:
            return "embedded"
        if self.mirror is not None and mirror_name(spec) in self.mirror:
            return "mirror"
        return "cached" if self.cached_keys.intersection(keys_of(spec)) else "missing"

    def registered(self, spec: DatasetSpec) -> LoadedDataset:
        """Load a registered dataset that has no loader, prepared as its description says."""
        from mfbench.data.conform import conform

        _ = self.mirror  # a folder that is not a mirror is the user's mistake, unlike what follows
        try:
            loaded = self._find(spec.name, candidates_of(spec))
        except UsageError as error:  # the description names a column that does not exist: the plugin's mistake
            raise DataError(f"dataset {spec.name!r} cannot be loaded: {error}") from error
        return replace(loaded, data=conform(loaded.data, spec, loaded.key))

    def stored(self, reference: StoredReference) -> LoadedDataset:
        """Load a dataset of a mirror, of the cache or of a repository; errors as for `registered`."""
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
                raise DataUnavailableError(
                    f"{reference.text} is not in the cache, and the network is off",
                    f"to download it, run: {PULL.format(reference.text)}",
                    can_pull=True,
                )
            numbers = self._ask(OpenMLReference.repository, _download_suite, reference)
            self.cache.put_suite(reference.key, numbers)
        return [OpenMLReference(str(number)) for number in numbers]

    def _find(self, name: str, candidates: Sequence[StoredReference]) -> LoadedDataset:
        """Return the first of several equivalent references that can be loaded."""
        in_mirror = next((item.name for item in candidates if isinstance(item, MirrorReference)), "")
        if self.mirror is not None and in_mirror in self.mirror:
            return LoadedDataset(
                self.mirror.load(in_mirror), "mirror", MirrorReference(in_mirror).key, self.mirror.card(in_mirror)
            )
        for item in candidates:
            loaded = self._cached(item)
            if loaded is not None:
                return loaded
        remote = [item for item in candidates if isinstance(item, RepositoryReference)]
        failures = []
        for item in [] if self.options.offline else remote:
            try:
                data, card = self.cache.fetch(item.key, partial(self._ask, item.repository, self._download, item))
                return LoadedDataset(data, "network", item.key, card)
            except DataUnavailableError as error:
                failures.append(error)
        raise self._unavailable(name, candidates, failures)

    def _cached(self, item: StoredReference) -> LoadedDataset | None:
        """Return a dataset of the cache; a damaged one that can be downloaded again counts as missing."""
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
        """Return the error that lists the locations searched and the way to obtain the dataset."""
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
        return DataUnavailableError(
            f"dataset {name!r} is unavailable: {where}", remedy, can_pull=remote, attempt=attempt
        )

    def _ask(self, repository: str, call: Callable[[R], T], reference: R) -> T:
        """Call a server, but not a second time if it could not be reached."""
        if repository in self._out_of_reach:
            raise DataUnavailableError(f"{repository} could not be reached a moment ago and was not tried again")
        try:
            return call(reference)
        except DataUnavailableError:
            self._out_of_reach.add(repository)
            raise

    def _download(self, reference: RepositoryReference) -> tuple[Dataset, dict[str, Any]]:
        load: Callable[..., tuple[Dataset, dict[str, Any]]]
        if isinstance(reference, OpenMLReference):
            from mfbench.data.remote.openml import load_openml as load
        else:
            from mfbench.data.remote.uci import load_uci as load
        progress = None if self._follower is None else self._follower.fetching(reference.text)
        return load(reference.name, **reference.options(), progress=progress)


def mirror_name(spec: DatasetSpec) -> str:
    """Return the name of a registered dataset in mirrors."""
    return spec.mirror_name or spec.name.replace("-", "_")


def candidates_of(spec: DatasetSpec) -> list[StoredReference]:
    """Return the references behind a registered dataset without a loader, in the order in which they are tried."""
    categorical = None if spec.categorical is None else tuple(spec.categorical)
    candidates: list[StoredReference] = [MirrorReference(mirror_name(spec))]
    for kind, number in ((OpenMLReference, spec.openml_id), (UCIReference, spec.uci_id)):
        if number is not None:
            candidates.append(kind(str(number), spec.target or None, categorical, tuple(spec.drop)))
    return candidates


def keys_of(spec: DatasetSpec) -> list[str]:
    """Return the cache keys of a registered dataset."""
    return [item.key for item in candidates_of(spec)]


def _download_suite(reference: OpenMLSuiteReference) -> list[int]:
    from mfbench.data.remote.openml import openml_suite

    return openml_suite(reference.name)
