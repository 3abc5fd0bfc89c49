"""The cache: downloaded and imported datasets as Parquet files named by their content, each with a JSON card.

``cards/`` describes the dataset behind each key (``openml:61``), ``content/`` holds the tables, and ``suites/`` the
lists of OpenML suites. Files are written atomically and verified on every read. Listing the cache reads only the cards
and imports no numeric library.
"""

import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedIOBase
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mfbench.base.files import write_whole
from mfbench.errors import DataError, UsageError, explained
from mfbench.model.specs import Dataset

if TYPE_CHECKING:
    from pyarrow.parquet import FileMetaData

DATA_VARIABLE = "MFBENCH_DATA_DIR"
CACHE_VARIABLE = "MFBENCH_CACHE"
PULL = "mfbench datasets pull {}"


def default_cache() -> Path:
    """Return the cache folder: ``MFBENCH_CACHE``, or a folder of mfbench in the platform's cache folder."""
    import platformdirs

    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("mfbench", appauthor=False))


def default_mirror() -> Path | None:
    """Return the mirror folder set in ``MFBENCH_DATA_DIR``, or None if it is unset or empty."""
    return Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None


@dataclass(frozen=True)
class DataOptions:
    """Where to search for datasets."""

    # A folder with `index.toml` and `NAME.csv.gz` files; defaults to `MFBENCH_DATA_DIR`.
    mirror: Path | None = field(default_factory=default_mirror)
    cache: Path = field(default_factory=default_cache)  # folder of downloaded datasets; see `default_cache`
    offline: bool = False  # do not use the network

    @classmethod
    def of(cls, data_dir: str | os.PathLike[str] | None = None, offline: bool = False) -> Self:
        """Return the options of a request; its mirror takes precedence over the environment's."""
        return cls(default_mirror() if data_dir is None else Path(data_dir), offline=offline)


Loaded = tuple[Dataset, dict[str, Any]]

_CARDS, _CONTENT, _SUITES, _LOCKS = "cards", "content", "suites", "locks"


class CacheWarning(UserWarning):
    """A cached entry was damaged and has been replaced."""


class Cache:
    """A folder of datasets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> Loaded | None:
        """Return a dataset and its source's description."""
        path = self._path(_CARDS, key)
        body = read_card(path, key) if path.is_file() else None
        return None if body is None else (self._dataset(body), dict(body["card"]))

    def fetch(self, key: str, download: Callable[[], tuple[Dataset, Mapping[str, Any]]]) -> Loaded:
        """Return a dataset; download it if it is missing or damaged, only once even if several processes need it."""
        with suppress(DataError):  # a damaged entry is replaced below
            if cached := self.get(key):
                return cached
        with self._locked(key):
            try:
                if cached := self.get(key):
                    return cached
            except DataError as error:
                warnings.warn(f"{error}; it is fetched again", CacheWarning, stacklevel=3)
            dataset, card = download()
            self._write(key, dataset, card)
            return dataset, dict(card)

    def entries(self) -> dict[str, dict[str, Any]]:
        """Return the facts about each dataset by its key (`openml:61`), skipping unreadable cards (see `verify`)."""
        bodies = [body for _, body in self._cards() if not isinstance(body, DataError)]
        return {body["key"]: body["facts"] for body in sorted(bodies, key=itemgetter("key"))}

    def is_empty(self) -> bool:
        """Return whether there is nothing to clear, not even files left by a killed process."""
        return not any(self.folder.glob("c*/*")) and not any(self.folder.glob(f"{_SUITES}/*"))

    def broken_cards(self) -> list[str]:
        """Return the file names of cards that cannot be read."""
        return [path.name for path, body in self._cards() if isinstance(body, DataError)]

    def verify(self) -> dict[str, str]:
        """Read every entry and verify its checksum."""
        damaged = {}
        for path, body in [*self._cards(), *self._cards(_SUITES)]:
            if isinstance(body, DataError):
                damaged[path.name] = str(body)
            elif "content" in body:
                try:
                    self._dataset(body)
                except DataError as error:
                    damaged[body["key"]] = str(error)
        return damaged

    def suite(self, key: str) -> list[int] | None:
        """Return the list stored under a key (``openml-suite:99``), or None if there is none."""
        path = self._path(_SUITES, key)
        return [int(number) for number in read_card(path, key)["datasets"]] if path.is_file() else None

    def put(self, key: str, dataset: Dataset, card: Mapping[str, Any]) -> None:
        """Store a dataset under a key, replacing an earlier one."""
        with self._locked(key):
            self._write(key, dataset, card)

    def put_suite(self, key: str, datasets: Iterable[int]) -> None:
        """Store the dataset numbers of an OpenML suite."""
        with self._explained():
            write_card(self._path(_SUITES, key), {"key": key, "datasets": [int(number) for number in datasets]})

    def clear(self, keys: Iterable[str] | None = None) -> list[str]:
        """Delete entries."""
        names = None if keys is None else {*keys}
        deleted = []
        with self._explained():
            for path, body in self._cards():
                name = path.name if isinstance(body, DataError) else str(body["key"])
                if names is None or name in names:
                    path.unlink()
                    for table in self.folder.glob(f"{_CONTENT}/{path.stem}-*.parquet"):
                        table.unlink()
                    deleted.append(name)
            if names is None:
                for pattern in (f"{_SUITES}/*.json", f"{_CONTENT}/*.parquet", "c*/.*.part"):
                    for path in self.folder.glob(pattern):
                        path.unlink()
        return deleted

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{stem_of(key)}.json"

    def _cards(self, kind: str = _CARDS) -> Iterator[tuple[Path, dict[str, Any] | DataError]]:
        """Yield each card's file with its content, or with the error if the card cannot be read."""
        for path in sorted(self.folder.glob(f"{kind}/*.json")):
            try:
                yield path, read_card(path, path.name)
            except DataError as error:
                yield path, error

    def _table(self, key: str, sha256: str) -> Path:
        return self.folder / _CONTENT / f"{stem_of(key)}-{sha256[:16]}.parquet"

    def _dataset(self, body: Mapping[str, Any]) -> Dataset:
        from mfbench.data.files import from_parquet

        key, expected = body["key"], body["content"]["sha256"]
        fault = f"cached dataset {key!r} is damaged: its table"
        with explained(DataError, lambda reason: f"{fault} cannot be read: {reason}", OSError):
            data = self._table(key, expected).read_bytes()
        actual = hashlib.sha256(data).hexdigest()
        if actual != expected:
            raise DataError(f"{fault} has the SHA-256 {actual}, but its card says {expected}")
        return from_parquet(data, body["dataset"])

    def _write(self, key: str, dataset: Dataset, card: Mapping[str, Any]) -> None:
        from mfbench.data.columns import class_counts
        from mfbench.data.files import to_parquet

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
        # Write the content first, so that a card never refers to a missing file.
        with self._explained():
            write_whole(self._table(key, digest), data, on_disk=True)
            write_card(self._path(_CARDS, key), body)

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        import filelock

        path = self.folder / _LOCKS / f"{stem_of(key)}.lock"
        with self._explained():
            lock = filelock.FileLock(path).acquire()
        with lock:
            yield

    def _explained(self) -> AbstractContextManager[None]:
        def sentence(reason: str) -> str:
            remedy = f"free some space, or set another folder with {CACHE_VARIABLE}"
            return f"cannot write to the cache {self.folder}: {reason}; {remedy}"

        # NotImplementedError: the file system does not support locks.
        return explained(DataError, sentence, OSError, NotImplementedError)


def stem_of(key: str) -> str:
    """Return a file name for a key: readable, valid on every platform, and unique per key."""
    words = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:40].strip("-")
    return f"{words}-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}".lstrip("-")


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


def write_card(path: Path, body: Mapping[str, Any]) -> None:
    """Write a card with its checksum."""
    text = json.dumps({**body, "checksum": _digest(body)}, indent=1) + "\n"
    write_whole(path, text.encode("ascii"), on_disk=True)


def read_card(path: Path, key: str) -> dict[str, Any]:
    """Return a card; raise `DataError` if it cannot be read or is damaged."""
    fault = f"cached dataset {key!r} is damaged: its card {path.name}"
    with explained(DataError, lambda reason: f"{fault} cannot be read: {reason}", OSError):
        content = path.read_bytes()
    try:
        card: dict[str, Any] = json.loads(content)
        if card.pop("checksum") == _digest(card):
            return card
    except (ValueError, AttributeError, KeyError, TypeError):
        raise DataError(f"{fault} is not a card") from None
    raise DataError(f"{fault} does not match its checksum")


LIMIT_VARIABLE = "MFBENCH_TABLE_GB"
LIMIT_GB = 1.0

# Once loaded, every value takes eight bytes, regardless of its size in the file.
_VALUE_BYTES = 8
_BLOCK = 1 << 20


def table_limit() -> int:
    """Return the limit in bytes: ``MFBENCH_TABLE_GB`` in GiB, or 1 GiB."""
    text = os.environ.get(LIMIT_VARIABLE) or str(LIMIT_GB)
    try:
        limit = float(text)
    except ValueError:
        limit = 0.0
    if not limit > 0:
        raise UsageError(f"{LIMIT_VARIABLE} is {text!r}: set it to a number of GiB, such as 4")
    return int(min(limit, 1e9) * 2**30)


def check_text(path: Path, handle: BufferedIOBase, separator: bytes) -> None:
    """Raise `DataError` if a text file exceeds the limit once decompressed."""
    limit, size, n_values = table_limit(), 0, 0
    while block := handle.read(_BLOCK):
        size += len(block)
        # Separators within quotes are counted too: an upper bound, and a tight one for numeric tables.
        n_values += block.count(separator) + max(block.count(b"\n"), block.count(b"\r"))
        _check(path, size, n_values, limit)


def check_metadata(path: Path, metadata: "FileMetaData") -> None:
    """Raise `DataError` if a flat Parquet file exceeds the limit according to its metadata."""
    # Do not read per-column metadata: if it is damaged, pyarrow aborts the process.
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    n_rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    _check(path, sum(group.total_byte_size for group in groups), n_rows * metadata.num_columns, table_limit())


def _check(path: Path, size: int, n_values: int, limit: int) -> None:
    if size > limit:
        excess = f"more than {limit / 2**30:.4g} GiB of data when decompressed"
    elif n_values * _VALUE_BYTES > limit:
        excess = f"more than {limit // _VALUE_BYTES / 1e6:,.4g} million values"
    else:
        return
    raise DataError(f"{path} holds {excess}, the limit for a table: to read it, set {LIMIT_VARIABLE} to more")
