"""Tables as people have them: read with their separator, decimal sign, encoding and missing values, and made plain.

`tidy` turns a frame into numbers and categories, and records what each column was taken for. Columns that no method can
use (constants, identifiers, free text) are left out, and dates become numbers.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.base.text import counted, listing
from mfbench.data.columns import MANY
from mfbench.errors import DataError, UnknownNameError, UsageError, explained

MISSING = ("", "?", "-", ".", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan", "NAN", "<NA>")
SEPARATORS = (",", ";", "\t", "|")
_TEXT = (".csv", ".tsv", ".txt", ".data")
FEWEST = 5  # rows of a class, as many as there are folds
_SHOWN = 5  # problems and columns in a message
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_CODE = re.compile(r"0\d+")
_IDENTIFIER = re.compile(r"(^|[_\W])(id|uuid|guid|index|key|nr|no|number)$|^unnamed|ID$|Id$", re.IGNORECASE)
_DATES = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d")
_LOOKS_DATED = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2} [A-Za-z]{3} \d{4}|[A-Za-z]{3} \d{1,2}, \d{4}")
_MOST_CLASSES = 10  # of a target of whole numbers


@dataclass
class TidyTable:
    """A table of numbers and categories, and what became of its columns."""

    frame: pd.DataFrame  # float64 and categorical columns, the target last
    target: str
    is_regression: bool
    kept: tuple[str, ...] = ()  # columns with a role of their own, such as groups
    taken: dict[str, str] = field(default_factory=dict)  # what each column was taken for
    remarks: list[str] = field(default_factory=list)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [str(name) for name in self.frame.columns if name not in (self.target, *self.kept)]


def read_table(
    path: Path,
    *,
    sep: str | None = None,
    decimal: str | None = None,
    na: Sequence[str] = (),
    encoding: str | None = None,
) -> pd.DataFrame:
    """Read a file as a frame; cells of text files are text, with None where they are missing."""
    if not path.is_file():
        raise UsageError(f"{path} does not exist, or is not a file")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")
    with explained(DataError, lambda reason: f"{path} cannot be read: {reason}", OSError, EOFError, ValueError):
        if kind in (".parquet", ".pq"):
            return pd.read_parquet(path)
        if kind == ".feather":
            return pd.read_feather(path)
        if kind in (".xlsx", ".xls"):
            return _from_excel(path)
        if kind == ".arff":
            return _from_arff(path)
        if kind not in _TEXT:
            endings = ", ".join((*_TEXT, ".gz", ".arff", ".parquet", ".feather", ".xlsx"))
            raise UsageError(f"{path} is of an unknown type: use a file that ends in {endings}")
        return _from_text(path, sep, decimal, na, encoding)


def _from_excel(path: Path) -> pd.DataFrame:
    try:
        return pd.read_excel(path)
    except ImportError:
        raise UsageError(
            f"{path} needs a package to read it: pip install 'mfbench[excel]', or save it as CSV"
        ) from None


def _from_arff(path: Path) -> pd.DataFrame:
    from mfbench.data.files import read_arff

    columns = read_arff(path)
    return pd.DataFrame(
        {c.name: pd.Categorical(c.values) if c.nominal and isinstance(c.values, list) else c.values for c in columns}
    )


def _from_text(
    path: Path, sep: str | None, decimal: str | None, na: Sequence[str], encoding: str | None
) -> pd.DataFrame:
    raw = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    text = _decoded(path, raw, encoding)
    if not text.strip():
        raise DataError(f"{path} is empty")
    sep = sep or separator_of(text)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=sep, skipinitialspace=True) if row]
    names = _names(path, rows[0])
    short = [number for number, row in enumerate(rows[1:], 2) if len(row) != len(names)]
    if short:
        others = f" and {counted(len(short) - 1, 'other row')}" if len(short) > 1 else ""
        raise DataError(
            f"{path}: the header names {counted(len(names), 'column')} separated by {sep!r}, but row "
            f"{short[0]}{others} has {len(rows[short[0] - 1])}: correct them, or name the separator with --sep"
        )
    missing = {*MISSING, *na}
    cells = [[None if (cell := raw_cell.strip()) in missing else cell for raw_cell in row] for row in rows[1:]]
    frame = pd.DataFrame(cells, columns=names, dtype=object)
    if decimal == "," or (decimal is None and sep != "," and _has_decimal_commas(frame)):
        for name in frame:
            words = [word for word in frame[name] if word is not None]
            if words and all(_COMMA.fullmatch(word) or _NUMBER.fullmatch(word) for word in words):
                frame[name] = [None if word is None else word.replace(",", ".") for word in frame[name]]
    return frame


def _decoded(path: Path, raw: bytes, encoding: str | None) -> str:
    if b"\0" in raw[:4096] and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is not text: it holds NUL characters; save it as CSV")
    if encoding is None and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    for name in (encoding,) if encoding else ("utf-8-sig", "cp1252", "latin-1"):
        try:
            return raw.decode(name)
        except LookupError:
            raise UsageError(f"--encoding {name!r} is unknown: use a name such as utf-8 or cp1252") from None
        except UnicodeDecodeError:
            continue
    raise DataError(f"{path} is not text in the encoding {encoding}: name another one with --encoding")


def separator_of(text: str) -> str:
    """Return the separator that divides the first lines into equally many parts, the most of them."""
    lines = [line for line in text.splitlines()[:50] if line.strip()]
    best, score = ",", 0.0
    for sep in SEPARATORS:
        widths = [len(row) for row in csv.reader(lines, delimiter=sep, skipinitialspace=True) if row]
        common, times = Counter(widths).most_common(1)[0]
        own = times / len(widths) * (common > 1) * (1 + common / 1e6)
        if own > score:
            best, score = sep, own
    return best


def _names(path: Path, header: Sequence[str]) -> list[str]:
    names = [name.strip() or f"unnamed_{position}" for position, name in enumerate(header, 1)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(
            f"{path} has two columns named {twice[0]!r}: rename one of them, or add a header if there is none"
        )
    if sum(_NUMBER.fullmatch(name) is not None for name in names) > len(names) / 2 and names[0] not in ("0", "1"):
        raise DataError(
            f"{path} seems to have no header, since it begins with {names[0]!r}: add a line of column names"
        )
    return names


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    words = [word for name in frame for word in frame[name].head(200) if word is not None]
    commas = sum(_COMMA.fullmatch(word) is not None for word in words)
    points = sum("." in word and _NUMBER.fullmatch(word) is not None for word in words)
    return commas > points


def tidy(
    frame: pd.DataFrame,
    target: str,
    *,
    where: str = "the table",
    drop: Collection[str] = (),
    category: Collection[str] = (),
    kept: Collection[str] = (),
    task: str | None = None,
) -> TidyTable:
    """Return a table of numbers and categories; all problems of a table are in one message.

    Parameters
    ----------
    frame : DataFrame
    target : str
        Column to predict.
    where : str, default="the table"
        Name of the table in messages.
    drop : collection of str, default=()
        Columns to leave out.
    category : collection of str, default=()
        Columns that are categories, whatever they hold.
    kept : collection of str, default=()
        Columns with a role of their own, such as groups, which stay as they are.
    task : {"classification", "regression"} or None, default=None
        None decides by the target.
    """
    frame = frame.rename(columns=str)
    names = [str(name) for name in frame.columns]
    for what, column in [("target", target), *(("column", name) for name in (*drop, *category, *kept))]:
        if column not in names:
            raise UnknownNameError(what, column, names, f"in {where}")
    frame = frame.drop(columns=[name for name in drop if name != target])
    result = TidyTable(pd.DataFrame(), target, is_regression=False, kept=tuple(kept))
    has_target = frame[target].notna()
    if not has_target.all():
        result.remarks.append(f"{counted(int((~has_target).sum()), 'row')} without a target left out.")
        frame = frame[has_target].reset_index(drop=True)
    if not len(frame):
        raise DataError(f"{where} has no rows with a value of {target!r}")
    problems: list[str] = []
    columns: dict[str, pd.Series[Any]] = {}
    for name in frame.columns:
        if name == target:
            continue
        kind, parts = _kind_of(name, frame[name], name in category, name in kept, problems)
        result.taken[name] = kind
        columns |= parts
    goal = _target(frame[target], target, task, result, problems)
    if not problems and not result.is_regression:
        goal, columns = _without_rare(goal, columns, result)
    if problems:
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise DataError(f"{where}: {'; '.join(problems[:_SHOWN])}{more}")
    if not [name for name in columns if name not in kept]:
        raise DataError(f"{where} has no column left that could be a feature: {listing(_described(result.taken))}")
    result.frame = pd.DataFrame({**columns, target: goal})
    return result


def _without_rare(
    goal: pd.Series[Any], columns: dict[str, pd.Series[Any]], result: TidyTable
) -> tuple[pd.Series[Any], dict[str, pd.Series[Any]]]:
    """Leave out the rows of classes that are too rare for every fold to have one."""
    counts = goal.value_counts()
    rare = [str(name) for name in counts.index[counts < FEWEST]]
    if not rare:
        return goal, columns
    if len(counts) - len(rare) < 2:
        number = "one class" if len(counts) > len(rare) else "no class"
        raise DataError(f"the target {result.target!r} has {number} of at least {FEWEST} rows: two are needed")
    enough = ~goal.isin(rare).to_numpy()
    n_rows = int((~enough).sum())
    result.remarks.append(
        f"{counted(n_rows, 'row')} of classes with fewer than {FEWEST} rows left out: {listing(rare)}."
    )
    goal = goal[enough].reset_index(drop=True).cat.remove_unused_categories()
    return goal, {name: values[enough].reset_index(drop=True) for name, values in columns.items()}


def _described(taken: dict[str, str]) -> list[str]:
    return [f"{name!r} is {kind}" for name, kind in taken.items()][:_SHOWN]


def _kind_of(
    name: str, column: pd.Series[Any], is_category: bool, is_kept: bool, problems: list[str]
) -> tuple[str, dict[str, pd.Series[Any]]]:
    """Return what a column was taken for, and the columns that it becomes."""
    if is_kept:
        return "as it is", {name: column}
    if not is_category and (numbers := _plain_numbers(column)) is not None:
        return _numeric(name, numbers, problems)
    present = column[column.notna()]
    distinct = present.nunique()
    if distinct == 0:
        return "empty, left out", {}
    if distinct == 1:
        return "constant, left out", {}
    if is_category:
        return "category, as asked", {name: _categories(column)}
    if pd.api.types.is_datetime64_any_dtype(column):
        return _dates(name, column)
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(column):
        return "category", {name: _categories(column)}
    words = present.astype(str)
    odd = sorted({word for word in words.unique() if not _NUMBER.fullmatch(word)})
    if (dates := _as_dates(column)) is not None:
        return _dates(name, dates)
    if odd and distinct - len(odd) > 10 and words.isin(odd).sum() < len(words) / 2:
        row = int(np.flatnonzero(column.isin(odd))[0]) + 1
        problems.append(
            f"column {name!r} holds numbers, but {str(column.iloc[row - 1])!r} in row {row}: correct it, leave it "
            f"empty, name it with --na, or use --category {name}"
        )
        return "number", {}
    if distinct == len(words):
        return "identifier, left out", {}
    if distinct > max(MANY, len(words) / 2):
        return "free text, left out", {}
    return ("category, with leading zeros" if not odd else "category"), {name: _categories(column)}


def _plain_numbers(column: pd.Series[Any]) -> NDArray[np.float64] | None:
    """Return a column as numbers; None if it holds anything else, or codes with leading zeros."""
    if pd.api.types.is_bool_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype):
        return None
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    missing = column.isna().to_numpy()
    words = column.astype(object).to_numpy()
    values = np.full(len(words), np.nan)
    for row in np.flatnonzero(~missing):
        word = str(words[row])
        if not _NUMBER.fullmatch(word) or _CODE.fullmatch(word):
            return None
        values[row] = float(word)
    return values


def _numeric(name: str, values: NDArray[np.float64], problems: list[str]) -> tuple[str, dict[str, pd.Series[Any]]]:
    present = values[~np.isnan(values)]
    distinct = len(np.unique(present))
    if distinct < 2:
        return ("constant" if distinct else "empty") + ", left out", {}
    if np.isinf(present).any():
        problems.append(f"column {name!r} is infinite in row {int(np.flatnonzero(np.isinf(values))[0]) + 1}")
    elif _numbers_rows(name, values):
        return "identifier, left out", {}
    return "number", {name: pd.Series(values)}


def _numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether a column has a different whole number in every row, and its name or order says why."""
    if len(values) <= 10 or len(np.unique(values)) < len(values) or not bool((values % 1 == 0).all()):
        return False
    return bool(_IDENTIFIER.search(name)) or bool((np.diff(values) == 1).all())


def _categories(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.map(lambda value: None if pd.isna(value) else str(value)).astype("category")


def _as_dates(column: pd.Series[Any]) -> pd.Series[Any] | None:
    words = column[column.notna()].astype(str)
    if not words.head(20).map(lambda word: _LOOKS_DATED.match(word) is not None).all():
        return None
    for form in _DATES:
        try:
            return pd.to_datetime(column, format=form)
        except ValueError:
            continue
    return None


def _dates(name: str, dates: pd.Series[Any]) -> tuple[str, dict[str, pd.Series[Any]]]:
    dates = dates.dt.tz_localize(None)
    parts = {
        f"{name}_year": dates.dt.year,
        f"{name}_month": dates.dt.month,
        f"{name}_weekday": dates.dt.day_of_week,
        f"{name}_days": (dates - dates.min()).dt.days,
    }
    varied = {part: values.astype(float) for part, values in parts.items() if values.nunique() > 1}
    return "date: year, month, weekday and days since the first", varied


def _target(column: pd.Series[Any], name: str, task: str | None, result: TidyTable, problems: list[str]) -> Any:
    """Return the target as numbers or categories."""
    words = column.astype(str)
    plain = not isinstance(column.dtype, pd.CategoricalDtype) and not pd.api.types.is_bool_dtype(column)
    is_number = plain and bool(words.map(lambda word: _NUMBER.fullmatch(word) is not None).all())
    distinct = words.nunique()
    if distinct < 2:
        problems.append(f"the target {name!r} has the single value {words.iloc[0]!r}: two are needed to learn anything")
    many = is_number and (distinct > _MOST_CLASSES or bool((pd.to_numeric(words) % 1 != 0).any())) and distinct > 2
    result.is_regression = many if task is None else task == "regression"
    if result.is_regression:
        if not is_number:
            wrong = next(word for word in words if not _NUMBER.fullmatch(word))
            problems.append(f"the target {name!r} has the value {wrong!r}, which is not a number")
            return words
        return pd.to_numeric(words).astype(float)
    if distinct > max(MANY, len(words) / 2):
        problems.append(f"the target {name!r} has {distinct} different values in {len(words)} rows: group them")
    return _categories(column)
