"""Bundles as somebody might change them: other rows or documents, with checksums that fit."""

import hashlib
import json
import zipfile
from pathlib import Path


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_zip(members: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def sealed(members: dict[str, bytes], **manifest) -> dict[str, bytes]:
    """Return members with a manifest whose checksums, sizes and numbers of rows are those of the others."""
    content = json.loads(members["manifest.json"])
    for name, member in content["members"].items():
        data = members[name]
        rows = data.count(b"\n") if name.endswith(".jsonl") else 0
        member |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "rows": rows}
    counts = {
        "planned": content["members"]["plan.jsonl"]["rows"],
        "results": content["members"]["trials.jsonl"]["rows"],
    }
    return {**members, "manifest.json": json.dumps({**content, **counts, **manifest}).encode()}


def forged(claim: Path, target: Path, **tables) -> Path:
    """Write a bundle in which a function has changed the rows of tables, or the metadata; its checksums fit.

    The function gets a list of rows, each with its values by column, or the metadata, and changes it in place.
    """
    from mfbench.bundles.form import COLUMNS

    members = members_of(claim)
    for table, change in tables.items():
        if table == "metadata":
            document = json.loads(members["metadata.json"])
            change(document)
            members["metadata.json"] = json.dumps(document).encode()
            continue
        name = f"{table}.jsonl"
        rows = [dict(zip(COLUMNS[table], json.loads(line), strict=True)) for line in members[name].splitlines()]
        change(rows)
        members[name] = b"".join(json.dumps(list(row.values())).encode() + b"\n" for row in rows)
    return write_zip(sealed(members), target)
