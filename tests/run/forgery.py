"""Bundles as somebody might change them: other rows or documents, with checksums that fit."""

import base64
import hashlib
import json
import zipfile
from pathlib import Path

import numpy as np
from sklearn.metrics import recall_score


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_zip(members: dict[str, bytes], path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def sealed(members: dict[str, bytes], **manifest) -> dict[str, bytes]:
    """Return members with a manifest whose checksums and numbers of trials are those of the others."""
    content = json.loads(members["manifest.json"])
    content["members"] = {name: hashlib.sha256(members[name]).hexdigest() for name in content["members"]}
    counts = {
        name: members[f"{table}.jsonl"].count(b"\n") for name, table in (("planned", "plan"), ("results", "trials"))
    }
    return {**members, "manifest.json": json.dumps({**content, **counts, **manifest}).encode()}


def forged(claim: Path, target: Path, **tables) -> Path:
    """Write a bundle in which a function has changed the rows of tables, or the metadata; its checksums fit.

    The function gets a list of rows, each with its values by column, or the metadata, and changes it in place.
    """
    members = members_of(claim)
    for table, change in tables.items():
        if table == "metadata":
            document = json.loads(members["metadata.json"])
            change(document)
            members["metadata.json"] = json.dumps(document).encode()
            continue
        rows = _rows(members, table)
        change(rows)
        members[f"{table}.jsonl"] = b"".join(json.dumps(list(row.values())).encode() + b"\n" for row in rows)
    return write_zip(sealed(members), target)


def labels_by_key(members: dict[str, bytes]) -> dict[str, np.ndarray]:
    """Return the class codes of the test rows of each planned trial, by its key."""
    tables = {table: _rows(members, table) for table in ("datasets", "splits", "plan")}
    truth = {row["label"]: _numbers(row["truth"]) for row in tables["datasets"]}
    rows = {(s["protocol"].rpartition(":")[2], s["repeat"], s["fold"]): _numbers(s["test"]) for s in tables["splits"]}
    return {p["key"]: truth[p["dataset"]][rows[p["dataset"], p["repeat"], p["fold"]]] for p in tables["plan"]}


def perfected(claim: Path) -> dict[str, dict]:
    """Return, by key, perfect predictions and the scores that follow from them: a forgery that contradicts nothing."""
    scores = json.dumps({"accuracy": 1.0, "balanced_accuracy": 1.0})
    labels = labels_by_key(members_of(claim))
    return {key: {"scores": scores, "predictions": packed_text(codes)} for key, codes in labels.items()}


def rescored(claim: Path) -> Path:
    """Give each result of a forged bundle the scores that follow from its labels, rows and predictions."""
    labels = labels_by_key(members_of(claim))

    def score(rows):
        for row in rows:
            truth, guess = labels[row["key"]], _numbers(row["predictions"])
            recall = recall_score(truth, guess, labels=np.unique(truth), average="macro")
            row["scores"] = json.dumps({"accuracy": np.mean(truth == guess), "balanced_accuracy": recall})

    return forged(claim, claim, trials=score)


def packed_text(array) -> str:
    from mfbench.run.store.formats import pack

    return base64.b64encode(pack(np.asarray(array))).decode()


def _numbers(text: str) -> np.ndarray:
    from mfbench.run.store.formats import unpack

    return unpack(base64.b64decode(text))


def _rows(members: dict[str, bytes], table: str) -> list[dict]:
    from mfbench_claims.form import COLUMNS

    return [dict(zip(COLUMNS[table], json.loads(line), strict=True)) for line in members[f"{table}.jsonl"].splitlines()]
