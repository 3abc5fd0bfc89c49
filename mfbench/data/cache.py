"""The cache: downloaded and imported datasets as Parquet files named by their content, each with a JSON card.

``cards/`` says what a key such as ``openml:61`` stands for, ``content/`` holds the tables, ``suites/`` the lists of
OpenML suites. Every file appears whole or not at all, and is verified whenever it is read. Listing the cache reads
cards only and loads no numeric library.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.data.sources import CACHE_VARIABLE
from mfbench.errors import DataError

if TYPE_CHECKING:
    from mfbench.models import Dataset

FORMAT = 1
_CARDS, _CONTENT, _SUITES, _LOCKS = "cards", "content", "suites", "locks"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


class CacheWarning(UserWarning):
    """A cached entry was damaged and has been replaced."""


@dataclass(frozen=True)
class Entry:
    """A cached dataset, as its card tells.

    Attributes
    ----------
    key : str
        Where it comes from: ``openml:61``, ``uci:53``, ``mirror:sonar``, ``import:mine``.
    card : dict
        What the source told of it: address, checksum, target and more.
    facts : dict
        What it is: ``n_samples``, ``n_features``, ``class_counts``, ``missing``, ``source``, ``license``, ``citation``.
    stored : str
        When it was written (UTC).
    """

    key: str
    card: dict[str, Any]
    facts: dict[str, Any]
    stored: str


class Cache:
    """A folder of datasets.

    Parameters
    ----------
    folder : Path
        Made when the first dataset is put.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __repr__(self) -> str:
        return f"Cache({str(self.folder)!r})"

    # -- reading ----------------------------------------------------------------------------------------------------

    def get(self, key: str) -> tuple[Dataset, dict[str, Any]] | None:
        """Return a dataset and what its source told of it.

        Parameters
        ----------
        key : str
            As it was put.

        Returns
        -------
        tuple of (Dataset, dict) or None
            None if there is no such entry. The dataset is, to the bit, what was put.

        Raises
        ------
        DataError
            If the entry is damaged, with the reason.
        """
        body = self._card(key)
        if body is None:
            return None
        return self._dataset(key, body), dict(body["card"])

    def fetch(self, key: str, bring: Callable[[], tuple[Dataset, Mapping[str, Any]]]) -> tuple[Dataset, dict[str, Any]]:
        """Return a dataset; if it is not there or damaged, bring it once, whoever else asks for it meanwhile.

        Parameters
        ----------
        key : str
            Its key.
        bring : callable
            Downloads it; called while the key is locked, and only if nobody else was faster.

        Returns
        -------
        tuple of (Dataset, dict)

        Raises
        ------
        DataError
            What `bring` raises, or if the cache cannot be written to.
        """
        found = self._get_or_warn(key, warn=False)
        if found is not None:
            return found
        with self._locked(_stem(key)):
            found = self._get_or_warn(key, warn=True)
            if found is not None:
                return found
            dataset, card = bring()
            self._write(key, dataset, card)
        return dataset, dict(card)

    def entries(self) -> list[Entry]:
        """Return what is cached, by key; entries whose card cannot be read are left to `verify`."""
        found = []
        for path in sorted(self.folder.glob(f"{_CARDS}/*.json")):
            with suppress(DataError):
                body = _read_card(path, path.name)
                found.append(Entry(body["key"], body["card"], body["facts"], body["stored"]))
        return sorted(found, key=lambda entry: entry.key)

    def is_empty(self) -> bool:
        """Tell whether there is nothing to clear, not even what a killed process left."""
        return not any(self.folder.glob("c*/*")) and not any(self.folder.glob(f"{_SUITES}/*"))

    def broken_cards(self) -> list[str]:
        """Return the file names of cards that cannot be read."""
        return [path.name for path in sorted(self.folder.glob(f"{_CARDS}/*.json")) if _key_of(path) == path.name]

    def verify(self) -> dict[str, str]:
        """Read and hash everything.

        Returns
        -------
        dict of str to str
            The damaged entries, each with the reason, by key or, where that cannot be read, by the card's file name.
        """
        damaged = {}
        for path in sorted(self.folder.glob(f"{_CARDS}/*.json")):
            key = path.name
            try:
                body = _read_card(path, key)
                key = body["key"]
                if path.stem != _stem(key):
                    raise DataError(f"its card belongs to another entry ({path.name})")
                self._dataset(key, body)
            except DataError as error:
                damaged[key] = str(error)
        for path in sorted(self.folder.glob(f"{_SUITES}/*.json")):
            try:
                _read_card(path, path.name)
            except DataError as error:
                damaged[path.name] = str(error)
        return damaged

    def suite(self, key: str) -> list[int] | None:
        """Return the list that was put under a key such as ``openml-suite:99``, None if there is none."""
        path = self._path(_SUITES, key)
        if not path.is_file():
            return None
        return [int(number) for number in _read_card(path, key)["datasets"]]

    # -- writing ----------------------------------------------------------------------------------------------------

    def put(self, key: str, dataset: Dataset, card: Mapping[str, Any]) -> None:
        """Store a dataset under a key, in place of what was there.

        Parameters
        ----------
        key : str
            Any text; it never becomes part of a path as it is.
        dataset : Dataset
        card : mapping
            What the source told of it: plain values.

        Raises
        ------
        DataError
            If the cache cannot be written to.
        """
        with self._locked(_stem(key)):
            self._write(key, dataset, card)

    def put_suite(self, key: str, datasets: Iterable[int]) -> None:
        """Store the dataset numbers of an OpenML suite."""
        with self._explained():
            _write_card(self._path(_SUITES, key), {"key": key, "datasets": [int(number) for number in datasets]})

    def clear(self, keys: Iterable[str] | None = None) -> list[str]:
        """Delete entries.

        Parameters
        ----------
        keys : iterable of str or None, default=None
            Which; None deletes everything, unfinished and damaged files included, and nothing that is not the cache's.

        Returns
        -------
        list of str
            The keys (or card files) that are gone.
        """
        gone = []
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
                    gone.append(_key_of(path))
                    path.unlink()
            if keys is None:
                for path in [*self.folder.glob(f"{_SUITES}/*.json"), *self.folder.glob("c*/.*.part")]:
                    path.unlink()
            used = {body["content"]["sha256"] for body in self._readable_cards()}
            for path in self.folder.glob(f"{_CONTENT}/*.parquet"):
                if path.stem not in used:
                    path.unlink()
        return gone

    # -- inner parts ------------------------------------------------------------------------------------------------

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
                yield _read_card(path, path.name)

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{_stem(key)}.json"

    def _card(self, key: str) -> dict[str, Any] | None:
        path = self._path(_CARDS, key)
        try:
            body = _read_card(path, key)
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
        found = hashlib.sha256(data).hexdigest()
        if found != expected:
            raise DataError(f"{fault}its table has the SHA-256 {found}, its card says {expected}")
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
        # Content before card: a card never names what is not there yet. The lock keeps `clear` from coming in between.
        with self._explained(), self._locked(".content"):
            _replace(self.folder / _CONTENT / f"{digest}.parquet", data)
            _write_card(self._path(_CARDS, key), body)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        import filelock

        with self._explained():
            place = self.folder / _LOCKS
            place.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(place / f"{name}.lock")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, NotImplementedError) as error:  # the latter: a file system without locks
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise DataError(
                f"cannot write to the cache {self.folder}: {reason}; make room, or name another folder with "
                f"{CACHE_VARIABLE}"
            ) from error


def _stem(key: str) -> str:
    """Return a file name for a key: readable, safe on every system, different for different keys.

    Examples
    --------
    >>> _stem("openml:61")
    'openml-61-0f1eb2f017192d97'
    """
    words = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:40].strip("-")
    return f"{words}-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}".lstrip("-")


def card_file(key: str) -> str:
    """Return the name of a key's card file."""
    return f"{_stem(key)}.json"


def _key_of(path: Path) -> str:
    with suppress(DataError):
        return str(_read_card(path, path.name)["key"])
    return path.name


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode("ascii")).hexdigest()


def _write_card(path: Path, body: Mapping[str, Any]) -> None:
    card = {"format": FORMAT, **body}
    _replace(path, (json.dumps({**card, "checksum": _digest(card)}, indent=1) + "\n").encode("ascii"))


def _read_card(path: Path, key: str) -> dict[str, Any]:
    """Return a card; FileNotFoundError if there is none, `DataError` if it is damaged."""
    fault = f"cached dataset {key!r} is damaged: its card {path.name} "
    try:
        card = json.loads(path.read_bytes())
        checksum = card.pop("checksum")
    except FileNotFoundError:
        raise
    except NotADirectoryError:
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise DataError(f"{fault}cannot be read: {error.strerror or error}") from error
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise DataError(f"{fault}is not one") from None
    if card.get("format") != FORMAT:
        raise DataError(
            f"{fault}is of format {card.get('format')!r}, this mfbench reads {FORMAT}: clear it with "
            "'mfbench datasets clear'"
        )
    if checksum != _digest(card):
        raise DataError(f"{fault}does not have the checksum that it names")
    return dict(card)


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and have it on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
