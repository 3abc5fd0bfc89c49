"""Converting a dataset to a Parquet file and plain values for a JSON card, and back, bit for bit."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbench.model.specs import Dataset

_LABEL = "class"
_TEXTS = ("name", "encoding", "source", "license", "citation")


def to_parquet(dataset: Dataset) -> tuple[bytes, dict[str, Any]]:
    """Return a dataset without a known truth as a Parquet file and the rest of it as plain values."""
    # Columns are numbered, since a feature name may be any text; the last column holds the class codes. Dictionary
    # encoding is off because it would merge different NaNs.
    import pyarrow as pa
    from pyarrow import parquet

    X = np.asfortranarray(dataset.X, dtype=np.float64)
    arrays = [pa.array(X[:, index]) for index in range(dataset.n_features)]
    names = [str(index) for index in range(dataset.n_features)]
    table = pa.table([*arrays, pa.array(np.asarray(dataset.y, dtype=np.int64))], names=[*names, _LABEL])
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd", use_dictionary=False, write_statistics=False)
    described = {
        "class_names": list(dataset.class_names),
        "feature_names": list(dataset.feature_names),
        "categorical": np.flatnonzero(dataset.categorical).tolist(),
        "categories": {name: list(labels) for name, labels in dataset.categories.items()},
        **{name: getattr(dataset, name) for name in _TEXTS},
    }
    return sink.getvalue(), described


def from_parquet(data: bytes, described: Mapping[str, Any]) -> Dataset:
    """Return the dataset that `to_parquet` has converted."""
    import pyarrow as pa
    from pyarrow import parquet

    # Threads of pyarrow that still run when the interpreter ends can abort the process: one thread is enough.
    table = parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
    *columns, label = table.columns
    categorical = np.zeros(len(columns), dtype=bool)
    categorical[described["categorical"]] = True
    return Dataset(
        X=np.column_stack([column.to_numpy() for column in columns]),
        y=label.to_numpy().copy(),
        class_names=tuple(described["class_names"]),
        feature_names=tuple(described["feature_names"]),
        categorical=categorical,
        categories={name: tuple(labels) for name, labels in described["categories"].items()},
        **{name: described[name] for name in _TEXTS},
    )
