"""The cache: downloaded and imported datasets as Parquet files named by their content, each with a JSON card.

``cards/`` describes the dataset behind a key such as ``openml:61``, ``content/`` holds the tables, ``suites/`` the
lists of OpenML suites. Every file is complete or absent, and is verified whenever it is read. Listing the cache reads
cards only and imports no numeric library.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.base.whole_files import write_whole
from mfbench.data.cards import key_of, read_card, stem_of, write_card
from mfbench.data.sources import CACHE_VARIABLE
from mfbench.errors import DataError, explained

if TYPE_CHECKING:
    from mfbench.model.specs import Dataset

_CARDS, _CONTENT, _SUITES, _LOCKS = "cards", "content", "suites", "locks"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


class CacheWarning(UserWarning):
    """A cached entry was damaged and has been replaced."""


@dataclass(frozen=True)
class Entry:
    """A cached dataset, as its card describes it."""

    key: str  # where it comes from: `openml:61`, `uci:53`, `mirror:sonar`, `import:mine`
    card: dict[str, Any]  # description by the source: address, checksum, target and more
    # Its properties: `n_samples`, `n_features`, `class_counts`, `missing`, `source`, `license` and `citation`.
    facts: dict[str, Any]
    stored: str  # when it was written (UTC)


class Cache:
    """A folder of datasets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"Cache({str(self.folder)!r})"

    # -- reading ----------------------------------------------------------------------------------------------------

    def get(self, key: str) -> tuple[Dataset, dict[str, Any]] | None:
        """Return a dataset and the description by its source."""
        body = self._card(key)
        if body is None:
            return None
        return self._dataset(key, body), dict(body["card"])

    def fetch(
        self, key: str, download: Callable[[], tuple[Dataset, Mapping[str, Any]]]
    ) -> tuple[Dataset, dict[str, Any]]:
        """Return a dataset; if it is missing or damaged, download it once, even if several processes need it."""
        cached = self._get_or_warn(key, warn=False)
        if cached is not None:
            return cached
        with self._locked(stem_of(key)):
            cached = self._get_or_warn(key, warn=True)
            if cached is not None:
                return cached
            dataset, card = download()
            self._write(key, dataset, card)
        return dataset, dict(card)

    def entries(self) -> list[Entry]:
        """Return the cached datasets by key; entries with an unreadable card are skipped, and reported by `verify`."""
        entries = []
        for path in sorted(self.folder.glob(f"{_CARDS}/*.json")):
            with suppress(DataError):
                body = read_card(path, path.name)
                entries.append(Entry(body["key"], body["card"], body["facts"], body["stored"]))
        return sorted(entries, key=lambda entry: entry.key)

    def is_empty(self) -> bool:
        """Tell whether there is nothing to clear, not even files that a killed process left."""
        return not any(self.folder.glob("c*/*")) and not any(self.folder.glob(f"{_SUITES}/*"))

    def broken_cards(self) -> list[str]:
        """Return the file names of cards that cannot be read."""
        return [path.name for path in sorted(self.folder.glob(f"{_CARDS}/*.json")) if key_of(path) == path.name]

    def verify(self) -> dict[str, str]:
        """Read and hash everything."""
        damaged = {}
        for path in sorted(self.folder.glob(f"{_CARDS}/*.json")):
            key = path.name
            try:
                body = read_card(path, key)
                key = body["key"]
                if path.stem != stem_of(key):
                    raise DataError(f"its card belongs to another entry ({path.name})")
                self._dataset(key, body)
            except DataError as error:
                damaged[key] = str(error)
        for path in sorted(self.folder.glob(f"{_SUITES}/*.json")):
            try:
                read_card(path, path.name)
            except DataError as error:
                damaged[path.name] = str(error)
        return damaged

    def suite(self, key: str) -> list[int] | None:
        """Return the list stored under a key such as ``openml-suite:99``, or None if there is no such list."""
        path = self._path(_SUITES, key)
        if not path.is_file():
            return None
        return [int(number) for number in read_card(path, key)["datasets"]]

    # -- writing ----------------------------------------------------------------------------------------------------

    def put(self, key: str, dataset: Dataset, card: Mapping[str, Any]) -> None:
        """Store a dataset under a key, replacing an earlier one."""
        with self._locked(stem_of(key)):
            self._write(key, dataset, card)

    def put_suite(self, key: str, datasets: Iterable[int]) -> None:
        """Store the dataset numbers of an OpenML suite."""
        with self._explained():
            write_card(self._path(_SUITES, key), {"key": key, "datasets": [int(number) for number in datasets]})

    def clear(self, keys: Iterable[str] | None = None) -> list[str]:
        """Delete entries."""
        deleted = []
        with self._explained(), self._locked(".content"):
            cards = self.folder.glob(f"{_CARDS}/*.json")
            broken = set(self.broken_cards())
            paths = (
                sorted(cards)
                if keys is None
                else [self.folder / _CARDS / key if key in broken else self._path(_CARDS, key) for key in keys]
            )
            for path in paths:
                if path.is_file():
                    deleted.append(key_of(path))
                    path.unlink()
            if keys is None:
                for path in [*self.folder.glob(f"{_SUITES}/*.json"), *self.folder.glob("c*/.*.part")]:
                    path.unlink()
            used = {body["content"]["sha256"] for body in self._readable_cards()}
            for path in self.folder.glob(f"{_CONTENT}/*.parquet"):
                if path.stem not in used:
                    path.unlink()
        return deleted

    # -- internals --------------------------------------------------------------------------------------------------

    def _get_or_warn(self, key: str, *, warn: bool) -> tuple[Dataset, dict[str, Any]] | None:
        try:
            return self.get(key)
        except DataError as error:
            if warn:
                warnings.warn(f"{error}; it is fetched again", CacheWarning, stacklevel=4)
            return None

    def _readable_cards(self) -> Iterator[dict[str, Any]]:
        for path in self.folder.glob(f"{_CARDS}/*.json"):
            with suppress(DataError):
                yield read_card(path, path.name)

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{stem_of(key)}.json"

    def _card(self, key: str) -> dict[str, Any] | None:
        path = self._path(_CARDS, key)
        try:
            body = read_card(path, key)
        except FileNotFoundError:
            return None
        if body["key"] != key:
            raise DataError(f"cached dataset {key!r} is damaged: its card is that of {body['key']!r}")
        return body

    def _dataset(self, key: str, body: Mapping[str, Any]) -> Dataset:
        from mfbench.data.parquet import from_parquet

        expected = body["content"]["sha256"]
        fault = f"cached dataset {key!r} is damaged: "
        if not _SHA256.fullmatch(expected):
            raise DataError(f"{fault}its card has no valid checksum")
        try:
            data = (self.folder / _CONTENT / f"{expected}.parquet").read_bytes()
        except OSError as error:
            raise DataError(f"{fault}its table cannot be read: {error.strerror or error}") from error
        actual = hashlib.sha256(data).hexdigest()
        if actual != expected:
            raise DataError(f"{fault}its table has the SHA-256 {actual}, but its card says {expected}")
        try:
            return from_parquet(data, body["dataset"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{fault}{str(error).splitlines()[0]}") from error

    def _write(self, key: str, dataset: Dataset, card: Mapping[str, Any]) -> None:
        from mfbench.data.conform import class_counts
        from mfbench.data.parquet import to_parquet

        data, described = to_parquet(dataset)
        digest = hashlib.sha256(data).hexdigest()
        facts = {
            "n_samples": dataset.n_samples,
            "n_features": dataset.n_features,
            "class_counts": class_counts(dataset),
            "categorical": int(dataset.categorical.sum()),
            "missing": int((dataset.X != dataset.X).sum()),
            **{name: getattr(dataset, name) for name in ("source", "license", "citation")},
        }
        body = {
            "key": key,
            "stored": datetime.now(UTC).isoformat(timespec="seconds"),
            "content": {"sha256": digest, "bytes": len(data)},
            "facts": facts,
            "card": json.loads(json.dumps(dict(card), default=str)),
            "dataset": described,
        }
        # Content first: a card must not refer to a file that does not exist yet. The lock keeps `clear` out.
        with self._explained(), self._locked(".content"):
            write_whole(self.folder / _CONTENT / f"{digest}.parquet", data, on_disk=True)
            write_card(self._path(_CARDS, key), body)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        import filelock

        with self._explained():
            folder = self.folder / _LOCKS
            folder.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(folder / f"{name}.lock")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _explained(self) -> AbstractContextManager[None]:
        def sentence(reason: str) -> str:
            return (
                f"cannot write to the cache {self.folder}: {reason}; free some space, or set another folder with "
                f"{CACHE_VARIABLE}"
            )

        # NotImplementedError: a file system without locks.
        return explained(DataError, sentence, OSError, NotImplementedError)
