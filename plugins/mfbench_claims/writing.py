"""Write a bundle: the results of a run as one zip file, byte-identical on every write."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbench.base.text import counted, plain_text
from mfbench.data.reference import FileReference
from mfbench.errors import MfbenchError, RunError, UsageError, explained
from mfbench.run.store.metadata import VERSION, RecordedSuite, Reused, RunMetadata
from mfbench.run.store.store import Store
from mfbench_claims.archive import REFUSED
from mfbench_claims.crate import crate_of, last_day
from mfbench_claims.form import COLUMNS, CRATE, FREE_TEXT, LARGEST_TEXT, MANIFEST, METADATA, Manifest
from mfbench_claims.reading import opened_bundles

HIDDEN = "…"
_SEPARATOR = r"[\\/]+"


def paths_of_this_machine(*folders: Path) -> re.Pattern[str]:
    """Return a pattern for paths below the home, working and other own folders, without the last component."""
    own = (Path.home(), Path.cwd(), Path(tempfile.gettempdir()), *folders)
    return paths_below(str(spelling) for folder in own for spelling in (folder.absolute(), folder.resolve()))


def paths_below(folders: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for paths below some folders, up to the file name."""
    parts = [re.split(_SEPARATOR, folder.rstrip("\\/")) for folder in set(folders)]
    own = sorted((_SEPARATOR.join(map(re.escape, each)) for each in parts if any(each)), key=len, reverse=True)
    # Not within a URL. Everything below the folders is private too, so rather remove too much than too little.
    below = r"(?:(?:(?!\s[\\/])[^\n\"'<>|:;*?,])*(?=[\\/]))?"
    return re.compile(rf"(?<![a-z0-9.])(?:{'|'.join(own)})(?![\w-]){below}")


_DIGEST = re.compile(r" \(sha256 [0-9a-f]+\)$")


def public_metadata(meta: RunMetadata) -> RunMetadata:
    """Return the metadata without private information."""
    return meta.model_copy(
        update={
            "suite": public_suite(meta.suite),
            "environment": meta.environment.model_copy(update={"command": []}),
            "other_environments": [each.model_copy(update={"command": []}) for each in meta.other_environments],
            # Not the original command: readers of the bundle may have neither its files nor its folders.
            "command": ["mfbench", "suite", meta.name, "--profile", meta.profile],
            "out": "",
            "reused": _reused(meta.reused),
            "machines": {f"machine {number}": kind for number, kind in enumerate(meta.machines.values(), 1)},
        }
    )


def _reused(reused: Reused) -> Reused:
    """Return which results were reused, without the names of folders and files chosen by their owner."""
    names = {}
    for number, name in enumerate(reused.keys, 1):
        digest = _DIGEST.search(name) if name in reused.bundles else None
        names[name] = f"run {number}" if digest is None else f"bundle {number}{digest[0]}"
    return Reused(
        keys={names[name]: keys for name, keys in reused.keys.items()},
        differences={names[name]: text for name, text in reused.differences.items() if name in names},
        bundles=[names[name] for name in reused.bundles if name in names],
    )


def public_suite(suite: RecordedSuite) -> RecordedSuite:
    """Return a suite with its files reduced to names; its published figures are recorded separately."""
    content = suite.model_dump(mode="json")
    for group in content.get("datasets", []):
        group["use"] = [_reference(text) for text in group["use"]]
    content["report"]["published"] = []
    return RecordedSuite.model_validate(content)


def _reference(text: str) -> str:
    """Return a dataset's reference, with files reduced to their names."""
    prefix = FileReference.prefix
    return prefix + re.split(r"[\\/]", text)[-1].removeprefix(prefix) if text.startswith(prefix) else text


_ROWS = {
    "trials": "WHERE key IN (SELECT key FROM plan) ORDER BY key",
    "splits": "WHERE sha256 IN (SELECT sha256 FROM datasets) ORDER BY sha256, protocol, repeat, fold",
}
"""Selection and order of rows for tables that do not include all rows ordered by the first column."""


@dataclass(frozen=True)
class Written:
    """A written bundle."""

    path: Path
    planned: int  # planned, results: trials in the plan, and those with a result
    results: int
    remarks: list[str]  # one sentence on each thing missing from the bundle


def write_bundle(run: Path, target: Path, license_id: str = "") -> Written:
    """Write the bundle of a run."""
    if not re.fullmatch(r"[A-Za-z0-9.+-]*", license_id):
        raise UsageError(f"{license_id!r} is not an SPDX identifier of a license, such as CC-BY-4.0")
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
                with zipfile.ZipFile(work, "w") as archive:
                    manifest = _write_members(run, store, archive, license_id)
                _check_readable(run, work)
                work.replace(target)
            finally:
                work.unlink(missing_ok=True)
        damaged = list(store.damaged)
    remarks = [f"Not in the bundle: {counted(len(damaged), 'damaged result')}."] if damaged else []
    return Written(target, manifest.planned, manifest.results, remarks)


def _check_readable(run: Path, bundle: Path) -> None:
    """Read a bundle as any recipient will, since one that is rejected must not be published."""
    try:
        with opened_bundles([bundle]):
            pass
    except UsageError as error:
        reason = str(error).partition(REFUSED)[2]
        raise RunError(f"{run} cannot be bundled, because its bundle would be refused: {reason}") from error


def _write_members(run: Path, store: Store, archive: zipfile.ZipFile, license_id: str) -> Manifest:
    """Write the metadata and tables of a run, then the manifest."""
    meta = public_metadata(store.meta())
    private = paths_of_this_machine(run)
    # Preserve the key order: in a grid, the order of parameters determines the grid points.
    content = json.dumps(meta.to_columns(), indent=1, ensure_ascii=False)
    if leak := private.search(content):
        raise RunError(f"{run}: its suite contains the private path {leak[0]!r}; change it there, and run it again")
    members = {METADATA: _write(archive, METADATA, [content.encode() + b"\n"])[0]}
    counts = {}
    for table in COLUMNS:
        name = f"{table}.jsonl"
        members[name], counts[table] = _write(archive, name, _lines(store, table, private))
    if last_day(meta):
        sizes = {member.filename: member.file_size for member in archive.infolist()}
        members[CRATE], _ = _write(
            archive, CRATE, [crate_of(meta, counts["plan"], counts["trials"], sizes, license_id)]
        )
    manifest = Manifest(
        mfbench=VERSION,
        suite=meta.name,
        profile=meta.profile,
        planned=counts["plan"],
        results=counts["trials"],
        members=dict(sorted(members.items())),
    )
    _write(archive, MANIFEST, [manifest.model_dump_json(indent=1).encode() + b"\n"])
    return manifest


def _write(archive: zipfile.ZipFile, name: str, lines: Iterable[bytes]) -> tuple[str, int]:
    """Write a member; return its checksum and number of lines."""
    about = zipfile.ZipInfo(name)  # its default timestamp is the earliest that zip files support
    about.compress_type = zipfile.ZIP_DEFLATED
    about.create_system = 3
    about.external_attr = (stat.S_IFREG | 0o644) << 16
    digest, number = hashlib.sha256(), 0
    with archive.open(about, "w", force_zip64=True) as member:
        for line in lines:
            member.write(line)
            digest.update(line)
            number += 1
    return digest.hexdigest(), number


def _lines(store: Store, table: str, private: re.Pattern[str]) -> Iterator[bytes]:
    """Yield the rows of a table as JSON lines, without private paths."""
    query = f"SELECT {', '.join(COLUMNS[table])} FROM {table} {_ROWS.get(table, 'ORDER BY 1')}"
    for row in store.raw(query):
        values: list[Any] = []
        for name, value in zip(COLUMNS[table], row, strict=True):
            if isinstance(value, bytes):
                value = base64.b64encode(value).decode("ascii")
            elif name in FREE_TEXT and value is not None:
                value = plain_text(private.sub(HIDDEN, value), LARGEST_TEXT)
            values.append(value)
        yield json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
