"""The user's own tables: CSV, TSV, ARFF and Parquet files as datasets.

A file is read into columns that hold numbers or words; `read_file` then decides what each column is and refuses what
would silently become nonsense. Nothing here ever unpickles.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from mfbench.errors import DataError, UnknownNameError, UsageError
from mfbench.models import Dataset

if TYPE_CHECKING:
    import os

    import pandas as pd
    from numpy.typing import NDArray

    Words = list[str | None]

EXTENSIONS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".arff", ".arff.gz", ".parquet")
MISSING = ("", "?", "NaN", "nan", "NAN")

# More distinct values than this in a column of words or in a target are suspicious.
_MANY = 50


@dataclass(frozen=True)
class _Column:
    """One column as read: numbers with NaN, or words with None; `nominal` if the file itself says that it is one."""

    name: str
    values: NDArray[np.float64] | Words
    nominal: bool = False


def read_file(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Dataset:
    r"""Read a table of features and class labels.

    Columns of words, booleans, ARFF nominals and Parquet dictionaries are categorical; so are those listed in
    `categorical`. An empty cell, ``?`` and NaN are missing values. Category codes and class codes follow the sorted
    labels, by size where all are numbers ("2" before "10"; "1" and "1.0" are the same label).

    Parameters
    ----------
    path : path-like
        ``.csv`` (commas), ``.tsv`` (tabs), ``.arff`` (dense), each possibly with ``.gz``, or ``.parquet``. Text is
        UTF-8; the first line of CSV and TSV names the columns.
    name : str or None, default=None
        The dataset's name; the file's name without extension if None.
    target : str or None, default=None
        The column of class labels; the last one if None.
    categorical : sequence of str or None, default=None
        Columns that hold categories though they look like numbers.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If there is no such file, its extension is unknown, or a named column does not exist.
    DataError
        If the file is damaged, or is not a table for classification.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "fruit.csv"
    >>> _ = path.write_text("weight,colour,kind\n150,red,apple\n120,?,pear\n,green,pear\n")
    >>> fruit = read_file(path)
    >>> fruit.X
    array([[150.,   1.],
           [120.,  nan],
           [ nan,   0.]])
    >>> fruit.name, fruit.class_names, fruit.categories, fruit.y
    ('fruit', ('apple', 'pear'), {'colour': ('green', 'red')}, array([0, 1, 1]))
    >>> folder.cleanup()
    """
    path = Path(path)
    extension = _extension(path)
    listed = (categorical,) if isinstance(categorical, str) else tuple(categorical or ())
    with _explained(path):
        if extension == ".parquet":
            columns = _read_parquet(path)
        elif extension.startswith(".arff"):
            columns = _read_arff(path)
        else:
            columns = _read_delimited(path, "," if extension.startswith(".csv") else "\t")
    label = _check_columns(path, columns, target, listed)
    y, class_names = _labels(path, label)
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


def _extension(path: Path) -> str:
    """Return the extension of an existing file, in lower case."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    extension = next((known for known in EXTENSIONS if path.name.lower().endswith(known)), None)
    if extension is None:
        raise UsageError(f"{path} is of an unknown type: use a file that ends in {', '.join(EXTENSIONS)}")
    return extension


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what readers raise about a damaged file into one sentence."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path} is truncated or not a gzip file ({error}): fetch or compress it again") from error
    except (OSError, ValueError, csv.Error) as error:
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise DataError(f"{path} cannot be read: {reason}") from error


def _open_text(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _read_delimited(path: Path, delimiter: str) -> list[_Column]:
    """Read CSV or TSV as words. Python's reader hides nothing: pandas pads short rows and renames twin columns."""
    with _open_text(path) as handle:
        reader = csv.reader(handle, delimiter=delimiter, skipinitialspace=True)
        names = [name.strip() for name in next(filter(None, reader), [])]
        if not names:
            raise DataError(f"{path} is empty")
        if len(names) == 1 and any(other in names[0] for other in ",;\t"):
            wanted = "commas" if delimiter == "," else "tabs"
            raise DataError(f"{path} has one column named {names[0]!r}: separate the values by {wanted}")
        _check_names(path, names)
        rows = []
        for row in filter(None, reader):
            if len(row) != len(names):
                where = f"{path}, line {reader.line_num}"
                raise DataError(f"{where}: {len(row)} values, but the header names {len(names)} columns")
            rows.append(row)
    columns = [_Column(name, _words(cells)) for name, cells in zip(names, zip(*rows, strict=True), strict=False)]
    # Data taken for a header: a number among the "names", and the last name is a label.
    numbered = names == [str(i) for i in range(len(names))]
    if rows and not numbered and any(_number(name) is not None for name in names) and names[-1] in columns[-1].values:
        raise DataError(f"{path} seems to have no header ({names[-1]!r} is also a label): add a line of column names")
    return columns


def _words(cells: Iterable[str]) -> Words:
    return [None if (word := cell.strip()) in MISSING else word for cell in cells]


def _read_parquet(path: Path) -> list[_Column]:
    import pandas as pd
    from pyarrow import ArrowException

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ArrowException as error:
        raise DataError(f"{path} is not a Parquet file, or a damaged one: {str(error).splitlines()[0]}") from error
    names = [str(name).strip() for name in frame.columns]
    _check_names(path, names)
    return [_from_pandas(path, name, frame.iloc[:, i]) for i, name in enumerate(names)]


def _from_pandas(path: Path, name: str, series: pd.Series[Any]) -> _Column:
    from pandas.api.types import infer_dtype

    kind = infer_dtype(series, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float"):
        return _Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind in ("string", "boolean", "categorical", "decimal", "mixed-integer", "empty"):
        words = _words("" if lost else str(cell) for cell, lost in zip(series, series.isna(), strict=True))
        return _Column(name, words, nominal=kind in ("boolean", "categorical"))
    raise DataError(f"column {name!r} of {path} holds {kind} values: drop it, or turn it into numbers or text")


# 'quoted', "quoted" (a backslash escapes) or bare.
_QUOTED = r"""(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|"""
_ARFF_VALUE = re.compile(r"\s*" + _QUOTED + r"""([^,'"][^,]*|))\s*(,|$)""")
_ARFF_ATTRIBUTE = re.compile("@attribute\\s+" + _QUOTED + r"""([^\s'"{]+))\s*(.+)$""", re.IGNORECASE)


def _read_arff(path: Path) -> list[_Column]:
    """Read dense ARFF: numeric, nominal and string attributes (scipy.io.arff has no strings).

    The format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
    """
    with _open_text(path) as handle:
        stripped = ((number, line.strip()) for number, line in enumerate(handle, 1))
        lines = ((f"{path}, line {number}", line) for number, line in stripped if line and not line.startswith("%"))
        attributes = dict(_arff_header(path, lines))
        rows = []
        for where, line in lines:
            if line.startswith("{"):
                raise DataError(f"{where}: sparse ARFF is not supported; save it as dense ARFF or CSV")
            row = _arff_row(where, line)
            if len(row) != len(attributes):
                raise DataError(f"{where}: {len(row)} values, but the header declares {len(attributes)} attributes")
            for (name, levels), value in zip(attributes.items(), row, strict=True):
                if value is not None and (_number(value) is None if levels is None else levels and value not in levels):
                    kind = "a number" if levels is None else "one of the declared values"
                    raise DataError(f"{where}: {value!r} is not {kind} of attribute {name!r}")
            rows.append(row)
    return [
        _Column(name, _numbers(words) if levels is None else list(words), nominal=bool(levels))
        for (name, levels), words in zip(attributes.items(), zip(*rows, strict=True), strict=False)
    ]


def _arff_header(path: Path, lines: Iterator[tuple[str, str]]) -> list[tuple[str, set[str | None] | None]]:
    """Return name and levels of each attribute: None for numbers, the empty set for strings."""
    attributes: list[tuple[str, set[str | None] | None]] = []
    for where, line in lines:
        keyword, match = line.split()[0].lower(), _ARFF_ATTRIBUTE.match(line)
        if keyword == "@data":
            _check_names(path, [name for name, _ in attributes])
            return attributes
        if match is not None:
            name, kind = _arff_unquote(match), match[4].strip()
            if kind.lower() in ("numeric", "real", "integer"):
                attributes.append((name, None))
            elif kind.lower() == "string":
                attributes.append((name, set()))
            elif kind.startswith("{") and kind.endswith("}"):
                attributes.append((name, set(_arff_row(where, kind[1:-1]))))
            else:
                raise DataError(f"{where}: attribute {name!r} is of type {kind!r}, which is not supported: drop it")
        elif keyword != "@relation":
            raise DataError(f"{where}: expected @relation, @attribute or @data, found {line[:40]!r}")
    raise DataError(f"{path} has no @data line: it is empty, truncated or not an ARFF file")


def _arff_row(where: str, line: str) -> Words:
    r"""Return the values of a line, None for a bare ``?``.

    Examples
    --------
    >>> _arff_row("line 1", r"5.1, ?, 'a, b', 'it\'s', '?'")
    ['5.1', None, 'a, b', "it's", '?']
    """
    values: Words = []
    position, more = 0, True
    while more:
        match = _ARFF_VALUE.match(line, position)
        if match is None:
            raise DataError(f"{where}: unbalanced quotes")
        value = _arff_unquote(match)
        values.append(None if match[3] is not None and value in MISSING else value)
        position, more = match.end(), bool(match[4])
    return values


def _arff_unquote(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    return match[3].strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def _check_names(path: Path, names: Sequence[str]) -> None:
    for position, name in enumerate(names, 1):
        if not name:
            raise DataError(f"column {position} of {path} has no name: name it, or drop it if it counts the rows")
        if "\0" in name:
            raise DataError(f"{path} is not text: its header holds NUL characters; save it as UTF-8")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path} has two columns named {twice!r}: rename one, or add a line of names if there is none")


def _check_columns(path: Path, columns: Sequence[_Column], target: str | None, categorical: Sequence[str]) -> _Column:
    """Return the target's column after checking that the columns asked for exist and that there are features."""
    names = [column.name for column in columns]
    if not columns or not len(columns[0].values):
        raise DataError(f"{path} has no rows")
    for what, wanted in [("target column", target), *(("categorical column", name) for name in categorical)]:
        if wanted is not None and wanted not in names:
            raise UnknownNameError(what, wanted, names, f"in {path}")
    if len(columns) < 2:
        raise DataError(f"{path} has the single column {names[0]!r}: a table of features and class labels is needed")
    return columns[-1 if target is None else names.index(target)]


def _labels(path: Path, column: _Column) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return class codes and class names, or say why the column is no target of a classification."""
    codes, names = label_codes(column.values)
    where = f"target {column.name!r} of {path}"
    missing = np.flatnonzero(np.isnan(codes))
    if len(missing):
        raise DataError(f"{where} is missing in {len(missing)} rows, first in row {missing[0] + 1}: drop those rows")
    if len(names) < 2:
        raise DataError(f"{where} has the single value {names[0]!r}: two classes are needed")
    numbers = _numbers(names)
    measured = bool(np.isfinite(numbers).all() and (numbers % 1 != 0).any())
    if len(names) > _MANY and (measured or len(names) > len(codes) / 2):
        raise DataError(
            f"{where} has {len(names)} distinct values in {len(codes)} rows, which look like measurements or "
            "identifiers: mfbench is for classification; name another target or group its values into classes"
        )
    return codes.astype(np.int64), names


def _feature(path: Path, column: _Column, listed: bool) -> _Column:
    """Decide what a column is: numbers as numbers, words as categories unless they look like a mistake."""
    values = column.values
    if isinstance(values, list) and not listed and not column.nominal:
        if not _look_like_numbers(path, column.name, values):
            return _Column(column.name, values, nominal=True)
        values = _numbers(values)
    if not isinstance(values, list):
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite):
            where = f"column {column.name!r} of {path} is infinite in row {infinite[0] + 1}"
            raise DataError(f"{where}: correct it, or leave it empty if it is unknown")
    return _Column(column.name, values, nominal=listed or column.nominal)


def _look_like_numbers(path: Path, name: str, words: Words) -> bool:
    """Tell whether all words are numbers; refuse numbers with a typing error, identifiers and free text."""
    present = [word for word in words if word is not None]
    distinct = set(present)
    odd = {word for word in distinct if _number(word) is None}
    if not odd:
        return True
    n_odd = sum(word in odd for word in present)
    # A handful of codes may well be a mixture ("1", "2", "x"); a whole column of measurements with "12.3cm" is not.
    if len(distinct) - len(odd) > 10 and n_odd < len(present) / 2:
        row, word = next((i, word) for i, word in enumerate(words, 1) if word in odd)
        where = f"column {name!r} of {path} holds numbers, but {word!r} in row {row}"
        raise DataError(f"{where}: correct it, leave it empty, or list the column under 'categorical'")
    if len(distinct) > max(_MANY, 0.9 * len(present)):
        where = f"column {name!r} of {path} has {len(distinct)} distinct values in {len(present)} rows"
        raise DataError(f"{where}, like identifiers or free text: drop it, or list it under 'categorical'")
    return False


def label_codes(values: NDArray[np.float64] | Words) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return codes (NaN where missing) and the sorted labels behind them.

    Examples
    --------
    >>> label_codes(["10", None, "2", "2.0"])
    (array([ 1., nan,  0.,  0.]), ('2', '10'))
    """
    if isinstance(values, list):
        distinct = sorted({word for word in values if word is not None})
        if not np.isfinite(_numbers(distinct)).all():
            code_of: dict[str | None, float] = {word: float(code) for code, word in enumerate(distinct)}
            return np.array([code_of.get(word, np.nan) for word in values], dtype=np.float64), tuple(distinct)
        values = _numbers(values)
    found = ~np.isnan(values)
    levels, inverse = np.unique(values[found] + 0.0, return_inverse=True)
    codes = np.full(len(values), np.nan)
    codes[found] = inverse
    return codes, tuple(str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in levels.tolist())


def _number(word: str) -> float | None:
    """Return the number that a word stands for; Python's "1_000" is not one."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _numbers(words: Iterable[str | None]) -> NDArray[np.float64]:
    """Return words as numbers, NaN where one is missing or no number."""
    numbers = (None if word is None else _number(word) for word in words)
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
