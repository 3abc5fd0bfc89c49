"""Columns that say something about rows, and leave the features; features that are selected together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import translate
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.base.text import counted
from mfbench.data.columns import APART, ROLES, drop_columns, label_codes, to_number, to_numbers
from mfbench.errors import DataError, UnknownNameError, UsageError
from mfbench.model.specs import Dataset, DatasetSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.data.columns import Words


def with_columns_of(dataset: Dataset, spec: DatasetSpec) -> Dataset:
    """Apply `with_structure` as a description of a dataset requires."""
    return with_structure(dataset, {name: getattr(spec, name) for name in ROLES}, f"dataset {spec.name!r}")


def with_structure(dataset: Dataset, names: Mapping[str, Any], where: str) -> Dataset:
    """Move the group, time, part and weight of each row out of the features, and group the others."""
    columns = {name: names[name] for name in APART if names.get(name)}
    for name, column in columns.items():
        if column not in dataset.feature_names:
            raise UnknownNameError(f"{name} column", column, dataset.feature_names, f"among the features of {where}")
        if list(columns.values()).count(column) > 1:
            raise UsageError(f"{where}: the column {column!r} is named twice, as groups, time, split or weights")
    moved: dict[str, Any] = {}
    for name, column in columns.items():
        place = f"the {name} column {column!r} of {where}"
        moved[name] = _READERS[name](_values(dataset, column, place), place)
    kept = drop_columns(dataset, list(columns.values()))
    if not kept.n_features:
        raise DataError(f"{where} has no feature besides {', '.join(columns.values())}")
    if groups := names.get("feature_groups") or kept.feature_groups:
        moved["feature_groups"] = _feature_groups(kept.feature_names, groups, where)
    return replace(kept, **moved) if moved else dataset


def _feature_groups(
    names: Sequence[str], groups: Mapping[str, Sequence[str]], where: str
) -> dict[str, tuple[str, ...]]:
    """Return the features of each group, which may be listed by shell patterns."""
    owners: dict[str, str] = {}
    features = frozenset(names)
    for group, patterns in groups.items():
        for pattern in patterns:
            members = [pattern] if pattern in features else [*filter(re.compile(translate(pattern)).match, names)]
            if not members:
                raise UnknownNameError("feature", pattern, names, f"in the feature group {group!r} of {where}")
            for name in members:
                if owners.setdefault(name, group) != group:
                    raise UsageError(
                        f"{where}: the feature {name!r} is in the feature groups {owners[name]!r} and {group!r}; "
                        "leave it in one"
                    )
    ordered: dict[str, list[str]] = {group: [] for group in groups}
    for name in names:
        if name in owners:
            ordered[owners[name]].append(name)
    return {group: tuple(members) for group, members in ordered.items()}


def _values(dataset: Dataset, column: str, where: str) -> NDArray[np.float64] | Words:
    """Return a column as numbers or as words, without missing values."""
    one = dataset.X[:, [dataset.feature_names.index(column)]]
    values: NDArray[np.float64] = (one.toarray() if dataset.is_sparse else one).ravel()
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        rows = counted(len(missing), "row")
        raise DataError(f"{where} is missing in {rows}, first in row {missing[0] + 1}: drop every such row")
    labels = dataset.categories.get(column, ())
    if not labels:
        return values
    words: Words = [labels[int(code)] for code in values]
    numbers = to_numbers(words)
    return words if np.isnan(numbers).any() else numbers


def _groups(values: NDArray[np.float64] | Words, where: str) -> NDArray[np.int64]:
    codes, names = label_codes(values)
    if len(names) < 2:
        raise DataError(f"{where} has the single value {names[0]!r}: two groups are needed, to train and to test")
    return codes.astype(np.int64)


def _times(values: NDArray[np.float64] | Words, where: str) -> NDArray[np.float64]:
    try:
        dates = [datetime.fromisoformat(str(word)) for word in values] if isinstance(values, list) else []
    except ValueError as error:
        raise DataError(
            f"{where} is in no order: write numbers, or dates such as 2024-05-31 or 2024-05-31T12:00 ({error})"
        ) from None
    zoned = [date if date.tzinfo else date.replace(tzinfo=UTC) for date in dates]
    times = np.array([date.timestamp() for date in zoned]) if dates else np.asarray(values, dtype=np.float64)
    if np.ptp(times) == 0:
        raise DataError(f"{where} has one value in all rows, so no row is earlier than another")
    return times


def _parts(values: NDArray[np.float64] | Words, where: str) -> NDArray[np.int64]:
    for value in dict.fromkeys(values.tolist() if isinstance(values, np.ndarray) else values):
        is_fold = not isinstance(value, str) and value >= VALIDATION and value % 1 == 0
        if not is_fold and value not in _WORDS:
            raise DataError(f"{where} has the value {value!r}: write 'train', 'valid' and 'test', or folds from 0")
    return np.array([_WORDS.get(str(value), value) for value in values], dtype=np.int64)


def _weights(values: NDArray[np.float64] | Words, where: str) -> NDArray[np.float64]:
    if isinstance(values, list):
        wrong = next(word for word in values if to_number(str(word)) is None)
        raise DataError(f"{where} has the value {wrong!r}: weights are numbers")
    check_weights(values, where)
    return values


def check_weights(weights: NDArray[np.float64], where: str) -> None:
    """Raise `DataError` unless sample weights are finite, not negative, and not all zero."""
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        raise DataError(
            f"{where} has the value {weights[wrong[0]]:g} in row {wrong[0] + 1}: weights are numbers from 0"
        )
    if not weights.any():
        raise DataError(f"{where} is 0 in all rows, so no row counts")


def check_parts(weights: NDArray[np.float64] | None, parts: Iterable[NDArray[np.intp]]) -> None:
    """Raise `DataError` if all rows of a part of a split have the weight 0."""
    if weights is not None and any(len(rows) and not weights[rows].any() for rows in parts):
        raise DataError("all rows of a training or test part have the weight 0; use fewer folds, or drop such rows")


VALIDATION = -2
_WORDS = {"train": -1, "valid": VALIDATION, "test": 0}
_READERS: dict[str, Callable[[NDArray[np.float64] | Words, str], NDArray[Any]]] = {
    "groups": _groups,
    "time": _times,
    "split": _parts,
    "weights": _weights,
}
