"""Read an untrusted bundle: every row is checked, and written to a store that mfbench itself creates."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mfbench.base.text import plain_text
from mfbench.errors import MfbenchError
from mfbench.model.earlier import EarlierRun
from mfbench.processes.temporary import temporary_folder
from mfbench.run.merging import changed_store, insert
from mfbench.run.store.checksums import TRIAL_COLUMNS
from mfbench.run.store.metadata import RunMetadata
from mfbench_claims.archive import RefusedBundleError, document, opened_archive, sha256_of
from mfbench_claims.checked_rows import CheckedRows
from mfbench_claims.form import COLUMNS, MANIFEST, METADATA, Manifest


@dataclass(frozen=True)
class OpenedBundle:
    """A bundle unpacked into a private folder."""

    path: Path  # the file
    sha256: str  # SHA-256 checksum of the file
    manifest: Manifest
    meta: RunMetadata
    datasets: dict[str, str]  # content hash of each dataset
    folder: Path  # run folder with the results, private to this process

    @property
    def name(self) -> str:
        """The bundle's name in messages and records: the file name and the start of its checksum."""
        return f"{plain_text(self.path.name, 100)} (sha256 {self.sha256[:12]})"

    @property
    def results(self) -> EarlierRun:
        """The results as a source for other runs; the bundle's author controls its keys and the recorded origins."""
        return EarlierRun(self.name, self.folder, is_verified=False, is_requested=True, has_origins=False)


@contextmanager
def opened_bundles(paths: Sequence[Path]) -> Iterator[list[OpenedBundle]]:
    """Open bundles for the duration of the context."""
    with ExitStack() as stack:
        opened = []
        for path in paths:
            folder = stack.enter_context(temporary_folder("bundle"))
            opened.append(_read(path, folder / "run"))
        yield opened


def _read(path: Path, folder: Path) -> OpenedBundle:
    """Check a bundle, and write its content to a store."""
    with opened_archive(path) as archive:
        manifest = _manifest(archive)
        meta = _metadata(archive, path)
        rows = CheckedRows(archive, meta)
        with changed_store(folder) as db:
            insert(db, "meta", ((name, json.dumps(value)) for name, value in meta.to_columns().items()))
            for table in COLUMNS:
                insert(db, table, (_stored(table, row) for row in rows.of(table)))
            counts = [db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in COLUMNS]
            datasets = dict(db.execute("SELECT label, sha256 FROM datasets"))
        if counts != list(rows.counts.values()):
            raise RefusedBundleError("a row of one of its tables is there twice, or incomplete")
        of_rows = (meta.name, meta.profile, rows.counts["plan"], rows.counts["trials"])
        if (manifest.suite, manifest.profile, manifest.planned, manifest.results) != of_rows:
            raise RefusedBundleError(
                "its manifest names another suite, profile, or number of trials than its other members"
            )
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return OpenedBundle(path, sha256, manifest, meta, datasets, folder)


def _stored(table: str, row: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row for the store: without a traceback, and with a checksum that is filled in at the end."""
    if table != "trials":
        return tuple(row.values())
    return (*(row.get(name) for name in TRIAL_COLUMNS), None)


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    """Return the manifest after verifying its checksums of all other members."""
    try:
        manifest = Manifest.model_validate_json(document(archive, MANIFEST))
    except ValidationError as error:
        raise RefusedBundleError(f"this version of mfbench cannot read its manifest: {_mistake(error)}") from None
    for name in archive.namelist():
        if name != MANIFEST and manifest.members.get(name) != sha256_of(archive, name):
            raise RefusedBundleError(f"the content of its member {name} differs from the checksum in its manifest")
    return manifest


def _metadata(archive: zipfile.ZipFile, path: Path) -> RunMetadata:
    """Return the run's metadata after a round trip through the store's format."""
    try:
        meta = RunMetadata.model_validate_json(document(archive, METADATA))
        meta = RunMetadata.from_columns(json.loads(json.dumps(meta.to_columns(), allow_nan=False)), path)
    except ValidationError as error:
        raise RefusedBundleError(f"its metadata are not valid: {_mistake(error)}") from None
    except (ValueError, RecursionError, MfbenchError):
        raise RefusedBundleError(
            "its metadata are not valid: they are nested too deeply, or a number has no value"
        ) from None
    if not all(label.isprintable() for label in meta.methods):
        raise RefusedBundleError("the label of a method has signs that cannot be printed")
    return meta


def _mistake(error: ValidationError) -> str:
    """Return the first validation error with its location."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return plain_text(f"{place}: {first['msg']}" if place else first["msg"], 300)
