"""The fingerprint of a dataset: one hash of everything that can change a result."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from mfbench.model.specs import Dataset

_VERSION = b"mfbench-dataset-1"


def content_hash(dataset: Dataset) -> str:
    """Return a hash of what determines results: values, labels, names, kinds of columns, encoding."""
    # A response is included if there is one. The name, the provenance, the labels behind category codes and the known
    # truth are left out: no trial depends on them. The hash is the same on every platform: numbers are hashed as
    # little-endian 64 bit, row by row, with one form of NaN and one of zero, and every part is preceded by its length.
    # Adding 0.0 makes a copy and turns -0.0 into 0.0.
    X = np.asarray(dataset.X, dtype=np.float64) + 0.0
    X[np.isnan(X)] = np.nan
    words = [list(dataset.class_names), list(dataset.feature_names), dataset.encoding, list(X.shape)]
    parts = [
        _VERSION,
        json.dumps(words, ensure_ascii=True, separators=(",", ":")).encode("ascii"),
        np.ascontiguousarray(X, dtype="<f8").tobytes(),
        np.ascontiguousarray(dataset.y, dtype="<i8").tobytes(),
        np.ascontiguousarray(dataset.categorical, dtype=np.uint8).tobytes(),
    ]
    if dataset.response is not None:
        parts.append(np.ascontiguousarray(np.asarray(dataset.response, dtype=np.float64) + 0.0, dtype="<f8").tobytes())
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
