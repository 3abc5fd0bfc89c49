"""Mirrors: folders of prepared datasets, which are searched first.

A mirror is ``index.toml`` with one table (a card) per dataset, and a file ``NAME.csv.gz`` for each;
``docs/data.md`` describes the format. Reading the index imports no numeric library.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.data.reference import NAME
from mfbench.errors import DataError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from mfbench.model.specs import Dataset

INDEX = "index.toml"
TARGET = "class"
STACK = "+"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Mirror:
    """A folder of prepared datasets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cards = _read_index(folder)

    def __repr__(self) -> str:
        return f"Mirror({str(self.folder)!r})"

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and all(part in self._cards for part in name.split(STACK))

    def names(self) -> list[str]:
        """Return the names of its datasets, in the index's order."""
        return list(self._cards)

    def card(self, name: str) -> dict[str, Any]:
        """Return the card of a dataset, or of the first one of a stack; or raise `UnknownNameError`."""
        name = name.split(STACK)[0]
        if name not in self._cards:
            raise UnknownNameError(f"dataset of the mirror {self.folder}", name, self._cards)
        return dict(self._cards[name])

    def load(self, name: str) -> Dataset:
        """Read and verify a dataset."""
        from mfbench.data.files import read_file

        if STACK in name:
            return _stack([self.load(part) for part in name.split(STACK)], name)
        card = self.card(name)
        path = self.folder / f"{name}.csv.gz"
        label = f"dataset {name!r} of the mirror {self.folder}"
        if path.exists() and not path.is_file():  # reading a pipe would never end
            raise DataError(f"{label} is named in {INDEX}, but {path.name} is not a regular file; copy it again")
        try:
            actual = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            reason = f"{label} is named in {INDEX}, but {path.name} cannot be read: {error.strerror or error}"
            raise DataError(f"{reason}; copy the mirror again") from error
        if actual != card["sha256"]:
            raise DataError(
                f"{label} is damaged: {path.name} has the SHA-256 {actual}, {INDEX} says {card['sha256']}; "
                "copy it again"
            )
        try:
            dataset = read_file(path, name=name, target=TARGET, categorical=card["categorical"])
        except UsageError as error:  # a column that the card names and the file does not have
            raise DataError(f"{label}: {error}") from None
        _compare(dataset, card, label)
        return replace(dataset, source=card["source"], license=card["license"], citation=card["citation"])


def _stack(parts: list[Dataset], name: str) -> Dataset:
    """Concatenate the rows of datasets with the same numeric columns."""
    import numpy as np

    first = parts[0]
    if any(part.feature_names != first.feature_names or part.categorical.any() for part in parts):
        raise DataError(f"the parts of {name!r} cannot be joined: they need the same columns, all of them numbers")
    labels = sorted({label for part in parts for label in part.class_names})
    codes = [np.array([labels.index(label) for label in part.class_names])[part.y] for part in parts]
    return replace(
        first,
        name=name,
        X=np.vstack([part.X for part in parts]),
        y=np.concatenate(codes).astype(np.int64),
        class_names=tuple(labels),
    )


def _compare(dataset: Dataset, card: Mapping[str, Any], label: str) -> None:
    """Raise `DataError` with both descriptions if a file differs from its card."""
    import numpy as np

    shape = (dataset.n_samples, dataset.n_features, dataset.n_classes)
    expected = (card["n_samples"], card["n_features"], len(card["class_counts"]))
    if shape != expected:
        raise DataError(
            f"{label} has {shape[0]} rows, {shape[1]} features and {shape[2]} classes; {INDEX} says {expected[0]}, "
            f"{expected[1]} and {expected[2]}"
        )
    counts = np.bincount(dataset.y, minlength=dataset.n_classes).tolist()
    actual = dict(zip(dataset.class_names, counts, strict=True))
    if actual != dict(card["class_counts"]):
        raise DataError(f"{label} has the class counts {actual}; {INDEX} says {dict(card['class_counts'])}")


def _read_index(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / INDEX
    fault = f"{folder} is not a mirror of datasets: "
    if path.exists() and not path.is_file():
        raise UsageError(f"{fault}{INDEX} is not a regular file")
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{fault}it has no {INDEX}; name another folder with --data-dir") from None
    except OSError as error:
        raise UsageError(f"{fault}{INDEX} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"{fault}{INDEX} is not valid TOML: {reason}") from None
    cards = {}
    for name, table in tables.items():
        reason = _fault(name, table)
        if reason:
            raise UsageError(f"{fault}{INDEX}: {reason}")
        cards[name] = {"categorical": [], **dict.fromkeys(("title", "source", "license", "citation"), ""), **table}
    return cards


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_whole, value.values()))


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_REQUIRED: dict[str, tuple[Callable[[object], bool], str]] = {
    "n_samples": (_whole, "a whole number"),
    "n_features": (_whole, "a whole number"),
    "class_counts": (_is_counts, "a table of class label to number of rows"),
    "sha256": (lambda value: isinstance(value, str) and _SHA256.fullmatch(value) is not None, "64 hexadecimal digits"),
}
_OPTIONAL: dict[str, tuple[Callable[[object], bool], str]] = {
    "categorical": (_is_names, "a list of column names"),
    **dict.fromkeys(("title", "source", "license", "citation", "notes"), (_is_text, "a string")),
}


def _fault(name: str, table: object) -> str:
    """Return a description of the mistake in a card, or an empty string."""
    if not NAME.fullmatch(name) or ".." in name:
        return f"{name!r} is not a valid name of a dataset: use letters, digits, '_', '-' and '.'"
    if not isinstance(table, dict):
        return f"{name!r} must be a table [{name}]"
    for key, (is_valid, expected) in (_REQUIRED | _OPTIONAL).items():
        if key not in table:
            if key in _REQUIRED:
                return f"[{name}] has no {key!r}"
        elif not is_valid(table[key]):
            return f"[{name}]: {key!r} must be {expected}, not {table[key]!r}"
    return ""
