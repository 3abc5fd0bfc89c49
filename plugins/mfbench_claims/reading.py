"""Reading a bundle, whoever made it: every row is checked, and written to a store that mfbench itself creates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from mfbench.base.untrusted import plain_text
from mfbench.errors import MfbenchError
from mfbench.model.earlier import EarlierRun
from mfbench.processes.temporary import temporary_folder
from mfbench.run.merge.joined_store import changed_store, insert
from mfbench.run.store.metadata import RunMetadata
from mfbench_claims.archive import Archive, RefusedError, refusals
from mfbench_claims.checked_rows import CheckedRows
from mfbench_claims.form import COLUMNS, MANIFEST, METADATA, Manifest


@dataclass(frozen=True)
class OpenedBundle:
    """A bundle whose content is in a private folder."""

    path: Path  # the file
    sha256: str  # the hash of the file
    manifest: Manifest
    meta: RunMetadata
    folder: Path  # A run folder with its results, of this process alone

    @property
    def name(self) -> str:
        """What messages and records call it: the name of the file, and the start of its hash."""
        return f"{plain_text(self.path.name, 100)} (sha256 {self.sha256[:12]})"

    @property
    def results(self) -> EarlierRun:
        """Its results, for a run that uses them: whoever made it wrote its keys, and where its results are from."""
        return EarlierRun(self.name, self.folder, is_verified=False, is_requested=True, has_origins=False)


@contextmanager
def opened_bundles(paths: Sequence[Path]) -> Iterator[list[OpenedBundle]]:
    """Open bundles for as long as the context lasts."""
    with ExitStack() as stack:
        opened = []
        for path in paths:
            folder = stack.enter_context(temporary_folder("bundle"))
            opened.append(_read(path, folder / "run"))
        yield opened


def _read(path: Path, folder: Path) -> OpenedBundle:
    with refusals(path), Archive(path) as archive:
        manifest = _manifest(archive)
        meta = _metadata(archive, manifest, path)
        rows = CheckedRows(archive, manifest, meta)
        with changed_store(folder) as db:
            columns = meta.to_columns().items()
            insert(db, "meta", ((name, json.dumps(value)) for name, value in columns))
            for table, names in COLUMNS.items():
                # The last column of the store, a checksum, is filled in when all rows are there.
                fill = (None,) if table == "trials" else ()
                insert(db, table, ((*row, *fill) for row in rows.of(table)))
                (stored,) = db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
                if stored != manifest.members[f"{table}.jsonl"].rows:
                    raise RefusedError(f"its member {table}.jsonl has the same {names[0]} twice")
            datasets = dict(db.execute("SELECT label, sha256 FROM datasets"))
        if (manifest.planned, manifest.results) != tuple(
            manifest.members[f"{table}.jsonl"].rows for table in ("plan", "trials")
        ):
            raise RefusedError("the numbers of trials and of results in its manifest are wrong")
        if datasets != manifest.datasets:
            raise RefusedError("the datasets in its manifest are not those of its results")
        return OpenedBundle(path, archive.sha256, manifest, meta, folder)


def _manifest(archive: Archive) -> Manifest:
    content = archive.document(MANIFEST)
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        if error.errors()[0]["loc"] == ("format",):
            raise RefusedError("its manifest has a format that this mfbench does not read; use a later one") from None
        raise RefusedError(f"its manifest is not valid: {_mistake(error)}") from None


def _metadata(archive: Archive, manifest: Manifest, path: Path) -> RunMetadata:
    content = archive.document(METADATA, manifest.members.get(METADATA))
    try:
        meta = RunMetadata.model_validate_json(content)
        columns = json.loads(json.dumps(meta.to_columns(), allow_nan=False))
        meta = RunMetadata.from_columns(columns, path)
    except ValidationError as error:
        raise RefusedError(f"its metadata are not valid: {_mistake(error)}") from None
    except (ValueError, RecursionError, MfbenchError):
        raise RefusedError("its metadata are not valid: they are nested too deeply, or a number has no value") from None
    if (manifest.suite, manifest.profile) != (meta.name, meta.profile):
        raise RefusedError("its manifest names another suite or profile than its metadata")
    if not all(label.isprintable() for label in (*manifest.datasets, *meta.methods)):
        raise RefusedError("the label of a dataset or method has signs that cannot be printed")
    return meta


def _mistake(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return plain_text(f"{place}: {first['msg']}" if place else first["msg"], 300).replace("\n", " ")
