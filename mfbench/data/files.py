"""The user's own tables: load CSV, TSV, ARFF, Parquet, svmlight and challenge files as datasets.

A file is read into columns of numbers or text; `read_file` then infers the type of each column and rejects anything
that would silently turn into nonsense. Nothing is unpickled.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from mfbench.base.text import counted
from mfbench.data.cache import check_metadata
from mfbench.data.columns import (
    MANY,
    MISSING,
    Column,
    canonical_sparse,
    check_names,
    label_codes,
    open_text,
    to_number,
    to_numbers,
    to_words,
    transposed,
)
from mfbench.data.structure import VALIDATION
from mfbench.errors import DataError, UnknownNameError, UsageError, explained
from mfbench.host.expressions import Plugin, Registered
from mfbench.host.factories import build
from mfbench.host.probes import SHARED, memory_limit
from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset, Features
from mfbench.processes.call import ChildError, call

if TYPE_CHECKING:
    import os

    import pandas as pd
    from numpy.typing import NDArray

    from mfbench.data.columns import Words

# 'single-quoted', "double-quoted" (with backslash escapes) or bare.
_QUOTED = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|"""
_VALUE = re.compile(r"\s*" + _QUOTED + r"""([^,'"][^,]*|))\s*(,|$)""")
_ATTRIBUTE = re.compile("@attribute\\s+" + _QUOTED + r"""([^\s'"{]+))\s*(.+)$""", re.IGNORECASE)


def read_arff(path: Path) -> list[Column]:
    """Read dense ARFF: numeric, nominal and string attributes (scipy.io.arff does not support strings)."""
    # Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
    with open_text(path, ",") as handle:
        stripped = ((number, line.strip()) for number, line in enumerate(handle, 1))
        lines = ((f"{path}, line {number}", line) for number, line in stripped if line and not line.startswith("%"))
        attributes = dict(_header(path, lines))
        columns = transposed(_arff_rows(lines, attributes), len(attributes))
    return [
        Column(name, to_numbers(words) if levels is None else words, nominal=bool(levels))
        for (name, levels), words in zip(attributes.items(), columns, strict=True)
    ]


def _arff_rows(lines: Iterator[tuple[str, str]], attributes: dict[str, set[str | None] | None]) -> Iterator[Words]:
    """Yield the values of each data line."""
    for where, line in lines:
        if line.startswith("{"):
            raise DataError(f"{where}: sparse ARFF is not supported; save it as dense ARFF or CSV")
        row = _row(where, line)
        if len(row) != len(attributes):
            raise DataError(f"{where}: {len(row)} values, but the header declares {len(attributes)} attributes")
        for (name, levels), value in zip(attributes.items(), row, strict=True):
            if not _is_valid(value, levels):
                kind = "a number" if levels is None else "one of the declared values"
                raise DataError(f"{where}: {value!r} is not {kind} of attribute {name!r}")
        yield row


def _is_valid(value: str | None, levels: set[str | None] | None) -> bool:
    """Return whether a value is valid for an attribute: a number, any text, or a declared value."""
    if value is None:
        return True
    return to_number(value) is not None if levels is None else not levels or value in levels


def _header(path: Path, lines: Iterator[tuple[str, str]]) -> list[tuple[str, set[str | None] | None]]:
    """Return the name and levels of each attribute: None for numeric, an empty set for strings."""
    attributes: list[tuple[str, set[str | None] | None]] = []
    for where, line in lines:
        keyword, match = line.split()[0].lower(), _ATTRIBUTE.match(line)
        if keyword == "@data":
            check_names(path, [name for name, _ in attributes])
            return attributes
        if match is not None:
            name, kind = _unquote(match), match[4].strip()
            if kind.lower() in ("numeric", "real", "integer"):
                attributes.append((name, None))
            elif kind.lower() == "string":
                attributes.append((name, set()))
            elif kind.startswith("{") and kind.endswith("}"):
                attributes.append((name, set(_row(where, kind[1:-1]))))
            else:
                raise DataError(f"{where}: attribute {name!r} is of type {kind!r}, which is not supported: drop it")
        elif keyword != "@relation":
            raise DataError(f"{where}: expected @relation, @attribute or @data, not {line[:40]!r}")
    raise DataError(f"{path} has no @data line: it is empty, truncated or not an ARFF file")


def _row(where: str, line: str) -> Words:
    """Return the values of a line, with None for a bare ``?``."""
    values: Words = []
    position, more = 0, True
    while more:
        match = _VALUE.match(line, position)
        if match is None:
            raise DataError(f"{where}: unbalanced quotes")
        value = _unquote(match)
        values.append(None if match[3] is not None and value in MISSING else value)
        position, more = match.end(), bool(match[4])
    return values


def _unquote(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    return match[3].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


SPARSE = (".svmlight", ".svmlight.gz", ".libsvm", ".libsvm.gz")
EXTENSIONS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".arff", ".arff.gz", ".parquet", *SPARSE, ".param")

# A text column or target with more distinct values than this is suspicious.
# Parquet text types, by their pyarrow names.
_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary")


def read_file(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    as_written: Collection[str] = (),
) -> Dataset:
    """Read a table of features and class labels."""
    # Columns of text, booleans, ARFF nominals and Parquet dictionaries are categorical, as are those listed in
    # `categorical`. Empty cells, `?` and NaN are missing values. Category and class codes follow the sorted labels, in
    # numeric order if all are numbers ("2" before "10"; "1" and "1.0" are the same label).
    path = Path(path)
    extension = _extension(path)
    if extension in (".param", *SPARSE):
        if target is not None or categorical:
            raise UsageError(f"{path} has no names of columns: leave 'target' and 'categorical' out")
        read = _read_challenge if extension == ".param" else _read_svmlight
        with _readable(path):
            return read(path, path.name[: -len(extension)] if name is None else name)
    listed = (categorical,) if isinstance(categorical, str) else tuple(categorical or ())
    with _readable(path):
        if extension == ".parquet":
            columns = _read_parquet(path, as_written)
        elif extension.startswith(".arff"):
            columns = read_arff(path)
        else:
            columns = _read_delimited(path, "," if extension.startswith(".csv") else "\t")
    label = _check_columns(path, columns, target, listed)
    y, class_names = _labels(path, label)
    listed = (*listed, *as_written)
    features = [_feature(path, column, column.name in listed) for column in columns if column is not label]
    codes = [label_codes(column.values) if column.nominal else (column.values, ()) for column in features]
    return Dataset(
        name=path.name[: -len(extension)] if name is None else name,
        X=np.ascontiguousarray(np.column_stack([np.asarray(values, dtype=np.float64) for values, _ in codes])),
        y=y,
        class_names=class_names,
        feature_names=tuple(column.name for column in features),
        categorical=np.array([column.nominal for column in features], dtype=bool),
        categories={column.name: labels for column, (_, labels) in zip(features, codes, strict=True) if labels},
        source=f"file {path.name}",
    )


def check_is_file(path: Path) -> None:
    """Raise `UsageError` unless the path is an existing file."""
    try:
        exists = path.is_file()
    except (OSError, ValueError) as error:  # for example a name that is too long
        raise UsageError(f"{str(path)[:100]}… cannot be a file: {error.args[-1]}") from None
    if not exists:
        raise UsageError(f"{path} does not exist, or is not a file")


def _extension(path: Path) -> str:
    """Return the lower-case extension of an existing file."""
    check_is_file(path)
    extension = next((ending for ending in EXTENSIONS if path.name.lower().endswith(ending)), None)
    if extension is None:
        raise UsageError(f"{path} is of an unknown type: use a file that ends in {', '.join(EXTENSIONS)}")
    return extension


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn reader errors on damaged files into one sentence."""

    def truncated(reason: str) -> str:
        return f"{path} is truncated or not a gzip file ({reason}): fetch or compress it again"

    with (
        explained(DataError, lambda reason: f"{path} cannot be read: {reason}", OSError, ValueError),
        explained(DataError, truncated, EOFError, gzip.BadGzipFile, zlib.error),
        explained(DataError, lambda reason: f"{path} is not UTF-8 text: save it as UTF-8", UnicodeDecodeError),
    ):
        yield


def _read_delimited(path: Path, delimiter: str) -> list[Column]:
    """Read CSV or TSV as text with the csv module: pandas would pad short rows and rename duplicate columns."""
    with open_text(path, delimiter) as handle:
        reader = csv.reader(handle, delimiter=delimiter, skipinitialspace=True)
        rows = filter(None, reader)
        try:
            names = [name.strip() for name in next(rows, [])]
            if not names:
                raise DataError(f"{path} is empty")
            if len(names) == 1 and any(other in names[0] for other in ",;\t"):
                separator = "commas" if delimiter == "," else "tabs"
                raise DataError(f"{path} has one column named {names[0]!r}: separate the values by {separator}")
            check_names(path, names)
            cells = transposed(_of_width(path, reader, rows, len(names)), len(names))
        except csv.Error as error:
            raise DataError(f"{path}, line {reader.line_num}: {error}; close an open quotation mark") from None
    columns = [Column(name, to_words(column)) for name, column in zip(names, cells, strict=True)]
    # The header is really a data row: one of the "names" is a number, and the last one is a label.
    has_number = any(to_number(name) is not None for name in names) and names != [str(i) for i in range(len(names))]
    if cells[0] and has_number and names[-1] in columns[-1].values:
        raise DataError(f"{path} seems to have no header ({names[-1]!r} is also a label): add a line of column names")
    return columns


def _of_width(path: Path, reader: Any, rows: Iterator[list[str]], width: int) -> Iterator[list[str]]:
    """Yield rows; reject any whose length differs from the header's."""
    for row in rows:
        if len(row) != width:
            where = f"{path}, line {reader.line_num}"
            raise DataError(f"{where}: {len(row)} values, but the header names {width} columns")
        yield row


def _read_parquet(path: Path, as_written: Collection[str]) -> list[Column]:
    from pyarrow.parquet import ParquetFile
    from pyarrow.types import is_nested

    with _intact(path), ParquetFile(path) as file:
        metadata, schema = file.metadata, file.schema_arrow
    nested = next((field for field in schema if is_nested(field.type)), None)
    if nested is not None:
        raise _no_values(path, nested.name.strip(), str(nested.type))
    check_metadata(path, metadata)
    # Parquet may store a long text once for many rows; reading it as a dictionary keeps it that way in memory.
    texts = [field.name for field in schema if str(field.type) in _TEXTS]
    with _intact(path), ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:
        # pyarrow threads still running at interpreter shutdown can abort the process.
        frame = file.read(use_threads=False, use_pandas_metadata=True).to_pandas(use_threads=False)
    names = [str(name).strip() for name in frame.columns]
    check_names(path, names)
    columns = [column for _, column in frame.items()]
    columns = [column.astype(object) if str(column.name) in texts else column for column in columns]
    return [
        _from_pandas(path, name, column, with_dates=name in as_written)
        for name, column in zip(names, columns, strict=True)
    ]


def _intact(path: Path) -> AbstractContextManager[None]:
    """Return a context that turns pyarrow and pandas errors on damaged files into one sentence."""
    return explained(DataError, lambda reason: f"{path} is not a Parquet file, or a damaged one: {reason}", Exception)


def _no_values(path: Path, name: str, kind: str) -> DataError:
    return DataError(f"column {name!r} of {path} holds {kind} values: drop it, or turn it into numbers or text")


def _from_pandas(path: Path, name: str, series: pd.Series[Any], *, with_dates: bool = False) -> Column:
    from pandas.api.types import infer_dtype

    kind = infer_dtype(series, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float"):
        return Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in ("string", "boolean", "categorical", "decimal", "mixed-integer", "empty"):
        words = to_words("" if lost else str(cell) for cell, lost in zip(series, series.isna(), strict=True))
        return Column(name, words, nominal=kind in ("boolean", "categorical"))
    if with_dates and kind in ("datetime64", "datetime", "date"):
        return Column(
            name, [None if lost else cell.isoformat() for cell, lost in zip(series, series.isna(), strict=True)]
        )
    raise _no_values(path, name, kind)


_MOST_FEATURES = 2**24


def _read_svmlight(path: Path, name: str) -> Dataset:
    """Read sparse features, named by their indices in the file, which start at 0 or 1."""
    with open_text(path, ":"):
        X, labels = load_svmlight_file(path, zero_based=True)
    if not X.nnz:
        raise DataError(f"{path} has no values: write each row as a label and pairs of index:value")
    if not np.isfinite(X.data).all():
        raise DataError(f"{path} has a value that is missing or infinite: sparse tables hold finite numbers only")
    if X.shape[1] > _MOST_FEATURES:
        raise DataError(f"{path} has the feature {X.shape[1] - 1:,}; there can be {_MOST_FEATURES:,}")
    first = int(X.shape[1] > 1 and not X[:, [0]].nnz)
    y, class_names = _labels(path, Column("label", labels))
    return Dataset(
        name=name,
        X=canonical_sparse(X[:, first:]),
        y=y,
        class_names=class_names,
        feature_names=tuple(map(str, range(first, X.shape[1]))),
        categorical=np.zeros(X.shape[1] - first, dtype=bool),
        source=f"file {path.name}",
    )


def _read_challenge(path: Path, name: str) -> Dataset:
    """Read the parts of a dataset that a ``.param`` file of the NIPS 2003 feature selection challenge describes."""
    with open_text(path, " ") as handle:
        text = handle.read()
    form = re.search(r"^\s*Data type:\s*(\S.*)", text, re.IGNORECASE | re.MULTILINE)
    width = re.search(r"^\s*Number of features:\s*(\d+)", text, re.IGNORECASE | re.MULTILINE)
    counts = re.findall(r"^\s*(Train|Valid|Test)\s+(\d+)\s+(\d+)", text, re.IGNORECASE | re.MULTILINE)
    if form is None or width is None or not counts:
        raise DataError(f"{path} lacks 'Data type:', 'Number of features:', or the numbers of rows of Train and Valid")
    parts, labels, stem = {}, {}, path.name[: -len(".param")]
    for part, positive, negative in ((part.lower(), int(ones), int(others)) for part, ones, others in counts):
        total = positive + negative
        table = path.with_name(f"{stem}_{part}.data")
        # UCI's copies have the labels of the validation part one folder further up, and none of the test part.
        places = [folder / f"{stem}_{part}.labels" for folder in (path.parent, path.parent.parent)]
        answers = next((place for place in places if place.is_file()), None)
        if answers is None or not table.is_file():
            continue
        with open_text(table, " ") as rows, open_text(answers, " ") as codes:
            parts[part] = _challenge_rows(rows, form[1].lower(), int(width[1]))
            labels[part] = np.loadtxt(codes, ndmin=1)
        (n_rows, n_features), n_positive = parts[part].shape, int((labels[part] > 0).sum())
        if (n_rows, len(labels[part]), n_features, n_positive) != (total, total, int(width[1]), positive):
            raise DataError(
                f"{table} has {n_rows} rows of {n_features} features, and {answers.name} {len(labels[part])} labels, "
                f"{n_positive} of them positive; {path.name} says {total}, {width[1]}, {total} and {positive}"
            )
    if "train" not in parts:
        raise DataError(f"{path} needs {stem}_train.data and {stem}_train.labels in its folder")
    tested = next((part for part in ("test", "valid") if part in parts), "")
    codes_of = {"train": -1, "valid": VALIDATION, "test": 0, tested: 0}
    tables = [*parts.values()]
    X = np.vstack(tables) if isinstance(tables[0], np.ndarray) else canonical_sparse(sparse.vstack(tables))
    if not np.isfinite(X if isinstance(X, np.ndarray) else X.data).all():
        raise DataError(f"the data of {path} have a value that is missing or infinite; they are finite numbers")
    y, class_names = _labels(path, Column("label", np.concatenate([*labels.values()])))
    split = np.repeat([codes_of[part] for part in parts], [len(codes) for codes in labels.values()])
    return Dataset(
        name=name,
        X=X,
        y=y,
        class_names=class_names,
        feature_names=tuple(map(str, range(1, int(width[1]) + 1))),
        categorical=np.zeros(int(width[1]), dtype=bool),
        split=split if tested else None,
        source=f"file {path.name}, parts {', '.join(parts)}",
    )


def _challenge_rows(lines: TextIO, form: str, width: int) -> Features:
    """Return the rows of one part: numbers, pairs of index:value, or the indices of ones."""
    if not form.startswith("sparse"):
        return np.loadtxt(lines, ndmin=2)
    pairs = (re.sub(r"(\d+)", r"\1:1", line) if "binary" in form else line for line in lines)
    text = "".join(f"0 {line.strip()}\n" for line in pairs).encode()
    return load_svmlight_file(io.BytesIO(text), n_features=width, zero_based=False)[0]


def _check_columns(path: Path, columns: Sequence[Column], target: str | None, categorical: Sequence[str]) -> Column:
    """Return the target column, after checking that the requested columns exist and that features remain."""
    names = [column.name for column in columns]
    if not columns or not len(columns[0].values):
        raise DataError(f"{path} has no rows")
    for what, column in [("target column", target), *(("categorical column", name) for name in categorical)]:
        if column is not None and column not in names:
            raise UnknownNameError(what, column, names, f"in {path}")
    if len(columns) < 2:
        raise DataError(f"{path} has the single column {names[0]!r}: a table of features and class labels is needed")
    return columns[-1 if target is None else names.index(target)]


def _labels(path: Path, column: Column) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return class codes and names; raise `DataError` if the column cannot be a target."""
    codes, names = label_codes(column.values)
    where = f"target {column.name!r} of {path}"
    missing = np.flatnonzero(np.isnan(codes))
    if len(missing):
        rows = counted(len(missing), "row")
        raise DataError(f"{where} is missing in {rows}, first in row {missing[0] + 1}: leave out such rows")
    if len(names) < 2:
        raise DataError(f"{where} has the single value {names[0]!r}: two are needed to learn anything")
    return codes.astype(np.int64), names


def _feature(path: Path, column: Column, listed: bool) -> Column:
    """Infer a column's type: numeric, or categorical unless the text looks like a mistake."""
    values = column.values
    if isinstance(values, list) and not listed and not column.nominal:
        if not _look_like_numbers(path, column.name, values):
            return Column(column.name, values, nominal=True)
        values = to_numbers(values)
    if not isinstance(values, list):
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite):
            where = f"column {column.name!r} of {path} is infinite in row {infinite[0] + 1}"
            raise DataError(f"{where}: correct it, or leave it empty if it is unknown")
    return Column(column.name, values, nominal=listed or column.nominal)


def _look_like_numbers(path: Path, name: str, words: Words) -> bool:
    """Return whether all words are numbers; reject numbers with typos, identifiers and free text."""
    present = [word for word in words if word is not None]
    distinct = set(present)
    odd = {word for word in distinct if to_number(word) is None}
    if not odd:
        return True
    n_odd = sum(word in odd for word in present)
    # A few codes may well be mixed ("1", "2", "x"), but a column of measurements with one "12.3cm" is a mistake.
    if len(distinct) - len(odd) > 10 and n_odd < len(present) / 2:
        row, word = next((i, word) for i, word in enumerate(words, 1) if word in odd)
        where = f"column {name!r} of {path} holds numbers, but {word!r} in row {row}"
        raise DataError(f"{where}: correct it, leave it empty, or list the column under 'categorical'")
    if len(distinct) > max(MANY, 0.9 * len(present)):
        where = f"column {name!r} of {path} has {len(distinct)} distinct values in {len(present)} rows"
        raise DataError(f"{where}, like identifiers or free text: drop it, or list it under 'categorical'")
    return False


_LABEL = "class"
_TEXT_TYPES = ("name", "encoding", "source", "license", "citation")


def to_parquet(dataset: Dataset) -> tuple[bytes, dict[str, Any]]:
    """Return a dataset without ground truth as a Parquet file, and its remaining attributes as plain values."""
    # Columns are numbered, since a feature name may be any text; the last column holds the class codes. Dictionary
    # encoding is off because it would merge distinct NaNs.
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
        "split": None if dataset.split is None else dataset.split.tolist(),
        **{name: getattr(dataset, name) for name in _TEXT_TYPES},
    }
    return sink.getvalue(), described


def from_parquet(data: bytes, described: Mapping[str, Any]) -> Dataset:
    """Return the dataset converted by `to_parquet`."""
    import pyarrow as pa
    from pyarrow import parquet

    # pyarrow threads still running at interpreter shutdown can abort the process, so use only one.
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
        split=None if described.get("split") is None else np.array(described["split"], dtype=np.int64),
        **{name: described[name] for name in _TEXT_TYPES},
    )


SECONDS = 600.0


def load_isolated(registered: Registered, params: Mapping[str, Any]) -> object:
    """Load a third-party dataset without running its code in this process; the result is not checked."""
    plugin, name = registered.plugin, registered.spec.name
    args = (plugin, name, dict(params))
    try:
        return call(f"{__name__}:load", *args, timeout=SECONDS, memory=memory_limit(), path=sys.path, preload=SHARED)
    except ChildError as error:
        raise DataError(f"dataset {name!r} of {plugin} cannot be loaded: {error}") from error


def load(plugin: Plugin, name: str, params: Mapping[str, Any]) -> Dataset:
    """Load a dataset; runs in the child process."""
    data = build(load_registry(exactly=[plugin]).entry("dataset", name), params)
    if not isinstance(data, Dataset):
        raise TypeError(f"it is a {type(data).__name__}, expected mfbench.Dataset")
    relevant, pairs = data.relevant, data.interactions
    return replace(
        data,
        relevant=None if relevant is None else tuple(map(int, relevant)),
        interactions=None if pairs is None else tuple((int(a), int(b)) for a, b in pairs),
    )
