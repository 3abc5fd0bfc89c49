"""Converting a dataset to a Parquet file and plain values for a JSON card, and back, bit for bit."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbench.model.specs import Dataset

_LABEL = "class"


def to_parquet(dataset: Dataset) -> tuple[bytes, dict[str, Any]]:
    """Return a dataset as a Parquet file and the rest of it as plain values."""
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
        "name": dataset.name,
        "n_samples": dataset.n_samples,
        "class_names": list(dataset.class_names),
        "feature_names": list(dataset.feature_names),
        "categorical": np.flatnonzero(dataset.categorical).tolist(),
        "categories": {name: list(labels) for name, labels in dataset.categories.items()},
        "encoding": dataset.encoding,
        "relevant": None if dataset.relevant is None else [int(index) for index in dataset.relevant],
        "interactions": None
        if dataset.interactions is None
        else [[int(index) for index in pair] for pair in dataset.interactions],
        "source": dataset.source,
        "license": dataset.license,
        "citation": dataset.citation,
    }
    return sink.getvalue(), described


def from_parquet(data: bytes, described: Mapping[str, Any]) -> Dataset:
    """Return the dataset that `to_parquet` has converted."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [str(name) for name in described["feature_names"]]
    try:
        # Threads of pyarrow that still run when the interpreter ends can abort the process: one thread is enough.
        table = parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"its table is not a Parquet file: {error}") from error
    if table.num_columns != len(names) + 1 or table.num_rows != described["n_samples"]:
        raise ValueError(
            f"its table has {table.num_rows} rows and {table.num_columns - 1} features, its card says "
            f"{described['n_samples']} and {len(names)}"
        )
    *columns, label = table.columns
    categorical = np.zeros(len(names), dtype=bool)
    categorical[described["categorical"]] = True
    relevant, interactions = described["relevant"], described["interactions"]
    return Dataset(
        name=described["name"],
        X=np.column_stack([column.to_numpy() for column in columns]),
        y=label.to_numpy().copy(),
        class_names=tuple(described["class_names"]),
        feature_names=tuple(names),
        categorical=categorical,
        categories={name: tuple(labels) for name, labels in described["categories"].items()},
        encoding=described["encoding"],
        relevant=None if relevant is None else tuple(relevant),
        interactions=None if interactions is None else tuple((a, b) for a, b in interactions),
        source=described["source"],
        license=described["license"],
        citation=described["citation"],
    )
