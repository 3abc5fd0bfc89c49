"""Looking for data that no plugin makes: in the mirror, then in the cache, then on the network unless that is off.

Asking where a dataset is reads the mirror's index and the cache's cards only, and loads no numeric library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol

from mfbench.data.cache import Cache
from mfbench.data.mirror import NAME, Mirror
from mfbench.data.sources import PULL, DataOptions
from mfbench.errors import DataError, DataUnavailableError, UsageError

if TYPE_CHECKING:
    from mfbench.models import Dataset, DatasetSpec

OPENML, UCI, MIRROR, IMPORT, OPENML_SUITE = "openml:", "uci:", "mirror:", "import:", "openml-suite:"
PREFIXES = (OPENML, UCI, MIRROR, IMPORT, OPENML_SUITE)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_FORMS = {
    OPENML: (re.compile(r"[A-Za-z0-9_.(),-]{1,128}(@[1-9][0-9]{0,5})?", re.ASCII), "openml:61 or openml:iris@1"),
    UCI: (_NUMBER, "uci:53"),
    MIRROR: (NAME, "mirror:sonar"),
    IMPORT: (NAME, "import:patients"),
    OPENML_SUITE: (re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII), "openml-suite:99 or openml-suite:OpenML-CC18"),
}
_HOSTS = {OPENML: "OpenML", UCI: "the UCI repository"}
_WITH_MIRROR = "or name a mirror with --data-dir"


class Follower(Protocol):
    """Told of downloads."""

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        """Follow the start of a download; what is returned is called with the bytes so far and, if known, of all."""


class _Unseen:
    """Follows without a word."""

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        return lambda done, total: None


@dataclass(frozen=True)
class Found:
    """A dataset and where it was.

    Attributes
    ----------
    data : Dataset
    place : str
        "mirror", "cache" or "network"; "embedded" or "file" for what needs no looking.
    key : str
        What it is called there, such as ``openml:61``.
    card : mapping
        What the source told of it.
    """

    data: Dataset
    place: str
    key: str = ""
    card: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Wanted:
    """A dataset of a repository, and how its table is to be read.

    Attributes
    ----------
    reference : str
        Such as ``openml:61``.
    target : str or None
    categorical : tuple of str or None
    drop : tuple of str
    """

    reference: str
    target: str | None = None
    categorical: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The cache's key: tables that were read differently are different entries.

        Examples
        --------
        >>> Wanted("uci:53").key, Wanted("uci:53", target="kind").key
        ('uci:53', 'uci:53 {"target": "kind"}')
        """
        parts = {"target": self.target, "categorical": self.categorical, "drop": self.drop or None}
        told = {name: value for name, value in parts.items() if value is not None}
        return f"{self.reference} {json.dumps(told, sort_keys=True)}" if told else self.reference


class Lookup:
    """The places where datasets may be, opened when they are needed.

    Parameters
    ----------
    options : DataOptions or None, default=None
        The places; the defaults if None.
    follower : Follower or None, default=None
        Told of downloads.
    """

    def __init__(self, options: DataOptions | None = None, follower: Follower | None = None) -> None:
        self.options = options or DataOptions()
        self.cache = Cache(self.options.cache)
        self._follower = follower or _Unseen()
        self._out_of_reach: set[str] = set()

    @cached_property
    def mirror(self) -> Mirror | None:
        """The mirror, None if none is named; raises `UsageError` if the folder is none."""
        return None if self.options.mirror is None else Mirror(self.options.mirror)

    @cached_property
    def cached_keys(self) -> frozenset[str]:
        """The keys in the cache when first asked."""
        return frozenset(entry.key for entry in self.cache.entries())

    def place(self, spec: DatasetSpec) -> str:
        """Return "embedded", "mirror", "cached" or "missing", without loading anything."""
        if spec.embedded:
            return "embedded"
        if self.mirror is not None and mirror_name(spec) in self.mirror:
            return "mirror"
        return "cached" if self.cached_keys.intersection(keys_of(spec)) else "missing"

    def spec(self, spec: DatasetSpec) -> Found:
        """Load a registered dataset that has no loader, prepared as its description says.

        Raises
        ------
        DataUnavailableError
            If it is nowhere at hand; the sentence ends with the command that brings it.
        DataError
            If it is damaged or not what its description says.
        """
        from mfbench.data.conform import conform

        _ = self.mirror  # a folder that is none is the user's mistake, unlike what follows
        try:
            found = self._find(spec.name, mirror_name(spec), wanted_of(spec), PULL.format(spec.name))
        except UsageError as error:  # a plugin's description names a column that is not there: not the user's mistake
            raise DataError(f"dataset {spec.name!r} cannot be loaded: {error}") from error
        return replace(found, data=conform(found.data, spec, found.key))

    def reference(
        self, reference: str, *, target: str | None = None, categorical: Sequence[str] | None = None
    ) -> Found:
        """Load ``openml:…``, ``uci:…``, ``mirror:…`` or ``import:…``; parameters and errors as for `spec`."""
        check_form(reference)
        prefix, name = split(reference)
        if prefix == OPENML_SUITE:
            self.suite(reference)
            raise UsageError(f"{reference} is not a dataset but a list of them: use it in a suite, or pull it")
        if prefix in (MIRROR, IMPORT):
            advice = _advice(prefix, name)
            found = self._find(reference, name if prefix == MIRROR else "", [Wanted(reference)], advice)
        else:
            listed = (categorical,) if isinstance(categorical, str) else categorical
            wanted = Wanted(reference, target, None if listed is None else tuple(listed))
            found = self._find(reference, "", [wanted], PULL.format(reference))
        return replace(found, data=replace(found.data, name=reference))

    def suite(self, reference: str) -> list[str]:
        """Return the references of the datasets of an OpenML suite, from the cache or the network."""
        check_form(reference)
        _, name = split(reference)
        try:
            numbers = self.cache.suite(reference)
        except DataError:
            if self.options.offline:
                raise
            numbers = None
        if numbers is None:
            if self.options.offline:
                raise DataUnavailableError(
                    f"{reference} is not in the cache, and the network is off; bring it with: {PULL.format(reference)}"
                )
            from mfbench.data.openml_source import openml_suite

            numbers = self._ask(OPENML, partial(openml_suite, name))
            self.cache.put_suite(reference, numbers)
        return [f"{OPENML}{number}" for number in numbers]

    def fetch(self, wanted: Wanted) -> Found:
        """Return a dataset of a repository from the cache, or bring it; two processes bring it once."""
        place = "cache"

        def bring() -> tuple[Dataset, dict[str, Any]]:
            nonlocal place
            place = "network"
            brought: tuple[Dataset, dict[str, Any]]
            brought = self._ask(split(wanted.reference)[0], lambda: _load(wanted, self._follower))
            return brought

        data, card = self.cache.fetch(wanted.key, bring)
        return Found(data, place, wanted.key, card)

    def _find(self, name: str, in_mirror: str, wanted: Iterable[Wanted], advice: str) -> Found:
        wanted = list(wanted)
        if self.mirror is not None and in_mirror in self.mirror:
            return Found(self.mirror.load(in_mirror), "mirror", f"{MIRROR}{in_mirror}", self.mirror.card(in_mirror))
        remote = [item for item in wanted if item.reference.startswith((OPENML, UCI))]
        for item in wanted:
            try:
                cached = self.cache.get(item.key)
            except DataError as error:
                if self.options.offline or item not in remote:
                    again = "fetch it again without --offline" if item in remote else "import it again"
                    raise DataError(f"{error}; {again}") from error
                continue
            if cached is not None:
                return Found(cached[0], "cache", item.key, cached[1])
        reasons = []
        for item in [] if self.options.offline else remote:
            try:
                return self.fetch(item)
            except DataUnavailableError as error:
                reasons.append(str(error))
        where = "not in the mirror, not in the cache" if self.mirror is not None and in_mirror else "not in the cache"
        if reasons:
            where += f", and {reasons[0].partition('; ')[0]}"
        elif remote:
            where += ", and the network is off"
        how = _how(remote, in_mirror, advice)
        if reasons:
            how = how.replace("bring it with", "try again with")
        raise DataUnavailableError(f"dataset {name!r} is not at hand: {where}; {how}")

    def _ask(self, host: str, call: Callable[[], Any]) -> Any:
        """Ask a server; after one that is out of reach was waited for once, the others' turn comes at once."""
        if host in self._out_of_reach:
            raise DataUnavailableError(f"{_HOSTS[host]} was out of reach a moment ago and was not asked again")
        try:
            return call()
        except DataUnavailableError:
            self._out_of_reach.add(host)
            raise


def split(reference: str) -> tuple[str, str]:
    """Return prefix and rest of a reference, ("", reference) if it has no prefix of a source."""
    prefix = next((known for known in PREFIXES if reference.startswith(known)), "")
    return prefix, reference[len(prefix) :]


def check_form(reference: str) -> None:
    """Raise `UsageError` unless what follows the prefix has the right form: it may end up in a path or an address."""
    prefix, rest = split(reference)
    form, example = _FORMS[prefix]
    if not form.fullmatch(rest) or (prefix in (MIRROR, IMPORT) and ".." in rest):
        raise UsageError(f"cannot read {reference!r}: write it like {example}")


def mirror_name(spec: DatasetSpec) -> str:
    """Return the name of a registered dataset in mirrors."""
    return spec.mirror_name or spec.name.replace("-", "_")


def wanted_of(spec: DatasetSpec) -> list[Wanted]:
    """Return where a registered dataset may be cached or fetched, in the order in which that is tried."""
    found = [Wanted(f"{MIRROR}{mirror_name(spec)}")]
    for prefix, number in ((OPENML, spec.openml_id), (UCI, spec.uci_id)):
        if number is not None:
            categorical = None if spec.categorical is None else tuple(spec.categorical)
            found.append(Wanted(f"{prefix}{number}", spec.target or None, categorical, tuple(spec.drop)))
    return found


def keys_of(spec: DatasetSpec) -> list[str]:
    """Return the cache keys that stand for a registered dataset."""
    return [wanted.key for wanted in wanted_of(spec)]


def _load(wanted: Wanted, follower: Follower) -> tuple[Dataset, dict[str, Any]]:
    prefix, name = split(wanted.reference)
    load: Callable[..., tuple[Dataset, dict[str, Any]]]
    if prefix == OPENML:
        from mfbench.data.openml_source import load_openml as load
    else:
        from mfbench.data.uci_source import load_uci as load
    options = {"target": wanted.target, "categorical": wanted.categorical, "drop": wanted.drop or None}
    given = {name: value for name, value in options.items() if value is not None}
    return load(name, **given, progress=follower.fetching(wanted.reference))


def _advice(prefix: str, name: str) -> str:
    return f"mfbench datasets import {'MIRROR' if prefix == MIRROR else f'FILE --name {name}'}"


def _how(remote: Sequence[Wanted], in_mirror: str, advice: str) -> str:
    if remote:
        return f"bring it with: {advice}" + (f", {_WITH_MIRROR}" if in_mirror else "")
    if in_mirror:
        return "no repository is known to have it: name a mirror that does with --data-dir"
    return f"bring it with: {advice}"
