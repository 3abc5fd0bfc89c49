"""Writing a bundle: the results of a run as one zip file, the same bytes whenever it is written."""

from __future__ import annotations

import base64
import hashlib
import json
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbench.base.wording import counted
from mfbench.errors import MfbenchError, RunError, UsageError, explained
from mfbench.run.fingerprint import VERSION
from mfbench.run.store.store import Store
from mfbench_claims.archive import REFUSED
from mfbench_claims.form import (
    COLUMNS,
    DOCUMENTS,
    FREE_TEXT,
    LARGEST_CONTENT,
    LARGEST_DOCUMENT,
    LARGEST_LINE,
    MANIFEST,
    METADATA,
    PLACES,
    Manifest,
    Member,
)
from mfbench_claims.private_text import PrivateText
from mfbench_claims.public_metadata import public_metadata
from mfbench_claims.reading import opened_bundles

# What a dataset's author wrote is public as the data are.
_PUBLISHED = ("class_names", "feature_names")
_WHICH = {
    "trials": "WHERE key IN (SELECT key FROM plan) ",
    "splits": "WHERE sha256 IN (SELECT sha256 FROM datasets) ",
}


@dataclass(frozen=True)
class Written:
    """What was written."""

    path: Path
    planned: int  # planned, results: trials of the plan, and those with a result
    results: int
    remarks: list[str]  # what a reader of the bundle will not find in it; a sentence each


def write_bundle(run: Path, target: Path) -> Written:
    """Write the bundle of a run."""
    in_the_way = next((each for each in target.parents if each.exists() and not each.is_dir()), None)
    if in_the_way is not None:
        raise UsageError(f"cannot write {target}: {in_the_way} is not a folder")
    if not target.name or target.is_dir():
        raise UsageError(f"{str(target)!r} is a folder: name the file that the bundle is written to, such as claim.zip")
    work = target.with_name(f".{target.name}.part")
    with Store(run, read_only=True) as store:
        store.freeze()
        if not store.has_plan():
            raise RunError(f"{run} has no trials: nothing of its suite could be run")
        with explained(MfbenchError, lambda reason: f"cannot write {target}: {reason}", OSError):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with zipfile.ZipFile(work, "w", allowZip64=False) as archive:
                    manifest = _Writer(run, store, archive).write()
                _check_readable(run, work)
                work.replace(target)
            except zipfile.LargeZipFile:
                raise RunError(f"{run} is too large for a bundle") from None
            finally:
                work.unlink(missing_ok=True)
        damaged = list(store.damaged)
    is_or_are = "is" if len(damaged) == 1 else "are"
    remarks = [f"{counted(len(damaged), 'damaged result')} {is_or_are} not in the bundle."] if damaged else []
    return Written(target, manifest.planned, manifest.results, remarks)


def _check_readable(run: Path, bundle: Path) -> None:
    """Read a bundle as anybody will: one that is refused must not be published."""
    try:
        with opened_bundles([bundle]):
            pass
    except UsageError as error:
        reason = str(error).partition(REFUSED)[2]
        raise RunError(f"{run} cannot be bundled, because its bundle would be refused: {reason}") from error


class _Writer:
    """Writes the members of one bundle."""

    def __init__(self, run: Path, store: Store, archive: zipfile.ZipFile) -> None:
        self.run, self.store, self.archive = run, store, archive
        self.private = PrivateText.of_this_machine(run)
        self.members: dict[str, Member] = {}

    def write(self) -> Manifest:
        meta = public_metadata(self.store.meta())
        # Keys stay in their order, because that of a grid's parameters determines the grid.
        columns = meta.to_columns()
        words = columns["suite"]["suite"]
        words |= {name: self.private.removed(words[name]) for name in _PROSE}
        for place, text in _texts(columns, ""):
            self._check(text, f"the metadata of the run ({place})")
        content = json.dumps(columns, indent=1, ensure_ascii=False)
        if len(content.encode()) > LARGEST_DOCUMENT:
            raise RunError(f"{self.run} is too large for a bundle: its metadata are")
        self._add(METADATA, iter([content.encode() + b"\n"]), rows=0)
        for table in COLUMNS:
            self._add(f"{table}.jsonl", self._lines(table))
        self.members = dict(sorted(self.members.items()))
        manifest = Manifest(
            mfbench=VERSION,
            suite=meta.name,
            # Not the folder's name, which is anybody's choice.
            run=f"{meta.profile}-{meta.protocol_key[:8]}",
            profile=meta.profile,
            planned=self.members["plan.jsonl"].rows,
            results=self.members["trials.jsonl"].rows,
            datasets=dict(sorted(self.store.raw("SELECT label, sha256 FROM datasets"))),
            members=self.members,
        )
        self._add(MANIFEST, iter([manifest.model_dump_json(indent=1).encode() + b"\n"]), rows=0)
        return manifest

    def _add(self, name: str, chunks: Iterator[bytes], rows: int | None = None) -> None:
        about = zipfile.ZipInfo(name)  # whose time is the first that a zip file can have
        about.compress_type = zipfile.ZIP_DEFLATED
        about.create_system = 3
        about.external_attr = (stat.S_IFREG | 0o644) << 16
        digest, size, number = hashlib.sha256(), 0, 0
        with self.archive.open(about, "w") as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                number += 1
        self.members[name] = Member(sha256=digest.hexdigest(), size=size, rows=number if rows is None else rows)
        if sum(each.size for each in self.members.values()) > LARGEST_CONTENT:
            raise RunError(f"{self.run} is too large for a bundle: more than {LARGEST_CONTENT // 2**30} GiB")

    def _lines(self, table: str) -> Iterator[bytes]:
        columns = COLUMNS[table]
        query = f"SELECT {', '.join(columns)} FROM {table} {_WHICH.get(table, '')}ORDER BY {_ORDER.get(table, '1')}"
        for row in self.store.raw(query):
            line = json.dumps(self._public(table, columns, row), ensure_ascii=False, separators=(",", ":")).encode()
            if len(line) >= LARGEST_LINE:
                raise RunError(f"{self.run} is too large for a bundle: a row of {table} has {len(line):,} bytes")
            yield line + b"\n"

    def _public(self, table: str, columns: tuple[str, ...], row: tuple[Any, ...]) -> list[Any]:
        """Return the values of a row as JSON has them, without what is private."""
        values: list[Any] = []
        for place, (name, value) in enumerate(zip(columns, row, strict=True)):
            if value is not None and place in PLACES[table]:
                if name in DOCUMENTS:
                    self._check(zlib.decompress(value).decode(), f"a result ({name})")
                value = base64.b64encode(value).decode("ascii")
            elif isinstance(value, str) and name in FREE_TEXT:
                value = self.private.removed(value)
            elif isinstance(value, str) and name not in _PUBLISHED:
                self._check(value, f"{table}.{name}")
            values.append(value)
        return values

    def _check(self, text: str, place: str) -> None:
        leak = self.private.leak(text)
        if leak is not None:
            raise RunError(
                f"{self.run}: {place} contains {leak!r}, which is private, in a place where it cannot be left out; "
                "change that text in the suite, and run it again"
            )


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a document, keys included, with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield place, name
            yield from _texts(each, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, f"{place}[{number}]")


_PROSE = ("title", "description")
_ORDER = {"splits": "1, 2, 3, 4"}
