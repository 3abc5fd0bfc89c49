"""Columns as read from a file, numeric or text, and the encoding of class labels and categories."""

import gzip
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mfbench.data.cache import check_text
from mfbench.errors import DataError
from mfbench.model.evaluation import TaskSpec
from mfbench.model.specs import Dataset, DatasetSpec, Features

Words = list[str | None]
T = TypeVar("T")

_VALUES_AT_ONCE = 100_000

MISSING = ("", "?", "NaN", "nan", "NAN")


@dataclass(frozen=True)
class Column:
    """One column as read: numbers with NaN, or text with None; `nominal` if the file declares it categorical."""

    name: str
    values: NDArray[np.float64] | Words
    nominal: bool = False


def open_text(path: Path, separator: str) -> TextIO:
    """Open a text file, decompressing ``.gz``; raise `DataError` if it exceeds the size limit."""
    zipped = path.suffix.lower() == ".gz"
    with gzip.open(path) if zipped else path.open("rb") as content:
        check_text(path, content, separator.encode())
    if zipped:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def transposed(rows: Iterable[Sequence[T]], width: int) -> list[list[T]]:
    """Transpose rows of equal length into columns."""
    # Values repeated in nearby rows are stored once, so memory grows little beyond the distinct values.
    columns: list[list[T]] = [[] for _ in range(width)]
    remaining = iter(rows)
    while block := list(islice(remaining, 1 + _VALUES_AT_ONCE // (1 + width))):
        first: dict[T, T] = {}
        for column, cells in zip(columns, zip(*block, strict=True), strict=True):
            column.extend(map(first.setdefault, cells, cells))
    return columns


def to_words(cells: Iterable[str]) -> Words:
    """Return stripped cells, with None for missing values."""
    return [None if (word := cell.strip()) in MISSING else word for cell in cells]


def check_names(path: Path, names: Sequence[str]) -> None:
    """Raise `DataError` unless column names are unique."""
    for position, name in enumerate(names, 1):
        if not name:
            raise DataError(f"column {position} of {path} has no name: name it, or drop it if it numbers the rows")
        if "\0" in name:
            raise DataError(f"{path} is not text: its header holds NUL characters; save it as UTF-8")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{path} has two columns named {twice!r}: rename one of them, or add a header if there is none")


def label_codes(values: NDArray[np.float64] | Words) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return integer codes (NaN where missing) and the sorted labels they index."""
    if isinstance(values, list):
        distinct = sorted({word for word in values if word is not None})
        if not np.isfinite(to_numbers(distinct)).all():
            code_of: dict[str | None, float] = {word: float(code) for code, word in enumerate(distinct)}
            return np.array([code_of.get(word, np.nan) for word in values], dtype=np.float64), tuple(distinct)
        values = to_numbers(values)
    present = ~np.isnan(values)
    levels, inverse = np.unique(values[present] + 0.0, return_inverse=True)
    codes = np.full(len(values), np.nan)
    codes[present] = inverse
    return codes, tuple(str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in levels.tolist())


def to_number(word: str) -> float | None:
    """Parse a word as a number, or return None; unlike Python, reject underscores ("1_000")."""
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def to_numbers(words: Iterable[str | None]) -> NDArray[np.float64]:
    """Parse words as numbers, with NaN for missing or non-numeric ones."""
    numbers = (None if word is None else to_number(word) for word in words)
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


def conform(dataset: Dataset, spec: DatasetSpec, origin: str = "") -> Dataset:
    """Prepare a dataset as its description requires, and check the result against the description."""
    where = f"dataset {spec.name!r}" + (f" from {origin}" if origin else "")
    dataset = drop_columns(dataset, spec.drop)
    if spec.categorical is not None:
        dataset = set_categorical(dataset, spec.categorical, where)
    if spec.keep_classes:
        dataset = keep_classes(dataset, spec.keep_classes, where)
    check_size(dataset, spec, where)
    stated = {name: getattr(spec, name) or getattr(dataset, name) for name in ("source", "license", "citation")}
    return replace(dataset, name=spec.name, **stated)


def canonical_sparse(X: Features) -> Features:
    """Return sparse features as CSR: sorted, without duplicates and without stored zeros."""
    X = csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def contiguous(X: Features) -> Features:
    """Return features in C order; sparse ones as they are."""
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X


def drop_columns(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """Drop columns; missing ones are ignored, since some copies omit identifiers."""
    kept = [index for index, name in enumerate(dataset.feature_names) if name not in names]
    if len(kept) == dataset.n_features:
        return dataset
    return replace(
        dataset,
        X=contiguous(dataset.X[:, kept]),
        feature_names=tuple(dataset.feature_names[index] for index in kept),
        categorical=dataset.categorical[kept],
        categories={name: labels for name, labels in dataset.categories.items() if name not in names},
        feature_groups={
            group: tuple(name for name in members if name not in names)
            for group, members in dataset.feature_groups.items()
        },
    )


def units_of(dataset: Dataset) -> NDArray[np.intp] | None:
    """Return the unit of each feature, numbered from 0: a group counts as one; None if there are no groups."""
    if not dataset.feature_groups:
        return None
    owners = {name: group for group, names in dataset.feature_groups.items() for name in names}
    units: dict[str | int, int] = {}
    owned = [owners.get(name, position) for position, name in enumerate(dataset.feature_names)]
    return np.array([units.setdefault(owner, len(units)) for owner in owned], dtype=np.intp)


def set_categorical(dataset: Dataset, names: Sequence[str], where: str) -> Dataset:
    """Make exactly these columns categorical; text columns always are."""
    unknown = [name for name in names if name not in dataset.feature_names]
    if unknown:
        listed = ", ".join(dataset.feature_names[:12])
        raise DataError(f"{where} has no column {unknown[0]!r} to treat as categorical; its columns: {listed}")
    X, mask, categories = dataset.X.copy(), dataset.categorical.copy(), dict(dataset.categories)
    for index, name in enumerate(dataset.feature_names):
        if name in names and not mask[index]:
            X[:, index], categories[name] = label_codes(X[:, index])
            mask[index] = True
        elif name not in names and mask[index]:
            values = _as_numbers(categories.get(name, ()))
            if values is not None:
                present = ~np.isnan(X[:, index])
                X[present, index] = values[X[present, index].astype(np.int64)]
                mask[index] = False
                categories.pop(name)
    return replace(dataset, X=X, categorical=mask, categories=categories)


def _as_numbers(labels: Sequence[str]) -> NDArray[np.float64] | None:
    """Return category labels as numbers, or None if there are none or any is not a number."""
    values = to_numbers(labels)
    return values if len(values) and bool(np.isfinite(values).all()) else None


def keep_classes(dataset: Dataset, names: Sequence[str], where: str) -> Dataset:
    """Keep the rows of these classes and renumber the codes, preserving their order."""
    unknown = [name for name in names if name not in dataset.class_names]
    if unknown:
        listed = ", ".join(map(repr, dataset.class_names[:12]))
        raise DataError(f"{where} has no class {unknown[0]!r}; its classes: {listed}")
    return with_classes(dataset, np.array([code for code, name in enumerate(dataset.class_names) if name in names]))


def with_classes(dataset: Dataset, kept: NDArray[np.intp]) -> Dataset:
    """Keep the rows of the given sorted class codes and renumber the codes, preserving their order."""
    if len(kept) == dataset.n_classes:
        return dataset
    rows = np.isin(dataset.y, kept)
    return replace(
        dataset,
        X=contiguous(dataset.X[rows]),
        y=np.searchsorted(kept, dataset.y[rows]).astype(np.int64),
        class_names=tuple(dataset.class_names[code] for code in kept),
        **rows_of(dataset, rows),
    )


MANY = 50
"""Number of distinct values up to which any column is taken for classes or categories."""


def with_task(dataset: Dataset, task: TaskSpec, where: str, of_numbers: Sequence[str] = ()) -> Dataset:
    """Return a dataset with the target that a task predicts: class labels become the numbers that they are."""
    labels = to_numbers(dataset.class_names)
    if task.target == "classes":
        measured = bool(np.isfinite(labels).all() and (labels % 1 != 0).any())
        if dataset.n_classes > MANY and (measured or dataset.n_classes > dataset.n_samples / 2):
            raise DataError(
                f"the target of {where} has {dataset.n_classes} distinct values in {dataset.n_samples} rows, which "
                "look like measurements or identifiers: to predict numbers, use a suite of the task "
                f"{' or '.join(map(repr, of_numbers)) or '…'} (see 'mfbench suites'), or set it as 'task' in "
                "[[datasets]]; to predict classes, group the values; or name another target"
            )
    elif dataset.n_classes:
        if not np.isfinite(labels).all():
            wrong = dataset.class_names[int(np.flatnonzero(~np.isfinite(labels))[0])]
            raise DataError(
                f"the target of {where} has the value {wrong!r}, and the task {task.name!r} predicts finite numbers: "
                "correct it, or name another target"
            )
        return replace(dataset, task=task.name, y=labels[dataset.y], class_names=())
    return dataset if dataset.task == task.name else replace(dataset, task=task.name)


STRUCTURE = ("groups", "time", "split")
"""The attributes of a `Dataset` that say how its rows depend on each other, by the keys of ``[[datasets]]``."""
APART = (*STRUCTURE, "weights")
"""The attributes of a `Dataset` that columns besides the features become, by the keys of ``[[datasets]]``."""
ROLES = (*APART, "feature_groups")
"""The attributes of a `Dataset` that names of columns determine, by the keys of ``[[datasets]]``."""


def rows_of(dataset: Dataset, rows: NDArray[Any]) -> dict[str, Any]:
    """Return the optional arrays of some rows, by attribute."""
    arrays = {name: getattr(dataset, name) for name in ("response", *APART)}
    return {name: None if array is None else array[rows] for name, array in arrays.items()}


def check_size(dataset: Dataset, spec: DatasetSpec, where: str = "") -> None:
    """Raise `DataError` if the shape or the class counts of a dataset differ from its description."""
    where = where or f"dataset {spec.name!r}"
    actual = (dataset.n_samples, dataset.n_features, dataset.n_classes)
    expected = (spec.n_samples, spec.n_features, spec.n_classes)
    if any(want is not None and want != have for have, want in zip(actual, expected, strict=True)):
        stated = ["any number" if want is None else str(want) for want in expected]
        raise DataError(
            f"{where} has {actual[0]} rows, {actual[1]} features and {actual[2]} classes; its description "
            f"says {stated[0]}, {stated[1]} and {stated[2]}"
        )
    counts, described = class_counts(dataset), dict(spec.class_counts)
    # Copies of a dataset may use different class labels ("M", "malignant"); if so, the counts must agree in any order.
    has_other_labels = {*counts} != {*described} and sorted(counts.values()) == sorted(described.values())
    if described and counts != described and not has_other_labels:
        raise DataError(f"{where} has the class counts {counts}; its description says {described}")


def class_counts(dataset: Dataset) -> dict[str, int]:
    """Return the number of rows per class label; empty for numbers."""
    if not dataset.n_classes:
        return {}
    counts = np.bincount(dataset.y, minlength=dataset.n_classes).tolist()
    return dict(zip(dataset.class_names, counts, strict=True))
