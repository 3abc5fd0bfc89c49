"""Whether the data of a bundle are those of the datasets and folds here: reports and tests are computed from both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mfbench.base.documents import diff
from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.store import Store

_LISTS = ("class_names", "feature_names", "relevant", "interactions")
_COLUMNS = ("n_samples", "n_features", "truth", *_LISTS)
_ROWS = ("test", "train", "validation", "n_train", "n_features")


def differing_data(claimed: Path, here: Path) -> dict[str, str]:
    """Return what differs between the data of two runs, by the label of the dataset."""
    there, ours = _data(claimed), _data(here)
    clauses = {}
    for label in (label for label in ours if label in there):
        if names := [each.path for each in diff(ours[label], there[label], shared=True)]:
            clauses[label] = f"the bundle's data of {label} are not those here: {', '.join(names)}"
    return clauses


def _data(folder: Path) -> dict[str, dict[str, Any]]:
    data: dict[str, dict[str, Any]] = {}
    with Store(folder, read_only=True) as store:
        for label, *values in store.raw(f"SELECT label, {', '.join(_COLUMNS)} FROM datasets"):
            data[label] = {name: _plain(name, value) for name, value in zip(_COLUMNS, values, strict=True)}
        protocol = store.meta().protocol_key
        query = f"SELECT d.label, repeat, fold, {', '.join(f's.{name}' for name in _ROWS)} FROM splits s "
        query += "JOIN datasets d ON d.sha256 = s.sha256 AND s.protocol = ? || ':' || d.label"
        for label, repeat, fold, *values in store.raw(query, [protocol]):
            rows = tuple(_plain(name, value) for name, value in zip(_ROWS, values, strict=True))
            data[label][f"rows of repeat {repeat}, fold {fold}"] = rows
    return data


def _plain(name: str, value: Any) -> Any:
    if name in _LISTS:
        return json.loads(value or "null") or []
    return unpack(value).tolist() if isinstance(value, bytes) else value
