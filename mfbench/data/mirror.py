"""Mirrors: folders of prepared datasets, searched before the cache and the network.

A mirror consists of ``index.toml``, with one table (a card) per dataset, and the files ``NAME.csv.gz``;
``docs/data.md`` describes the format. Reading the index imports no numeric library.
"""

import hashlib
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

from mfbench.data.reference import NAME
from mfbench.errors import DataError, UnknownNameError, UsageError, explained
from mfbench.model.specs import Dataset, DatasetSpec

INDEX = "index.toml"
TARGET = "class"
STACK = "+"


class _Card(BaseModel):
    """A dataset's table in the index."""

    model_config = ConfigDict(strict=True, extra="allow")

    n_samples: NonNegativeInt
    n_features: NonNegativeInt
    class_counts: dict[str, NonNegativeInt]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    categorical: list[str] = []
    title: str = ""
    source: str = ""
    license: str = ""
    citation: str = ""
    notes: str = ""


class Mirror:
    """A folder of prepared datasets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cards = _read_index(folder)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and all(part in self._cards for part in name.split(STACK))

    def names(self) -> list[str]:
        """Return the dataset names in index order."""
        return list(self._cards)

    def card(self, name: str) -> dict[str, Any]:
        """Return a dataset's card (for a stack, the first part's), or raise `UnknownNameError`."""
        name = name.split(STACK)[0]
        if name not in self._cards:
            raise UnknownNameError(f"dataset of the mirror {self.folder}", name, self._cards)
        return dict(self._cards[name])

    def load(self, name: str) -> Dataset:
        """Read and verify a dataset."""
        from mfbench.data.columns import check_size
        from mfbench.data.files import read_file

        if STACK in name:
            return _stack([self.load(part) for part in name.split(STACK)], name)
        card = self.card(name)
        path = self.folder / f"{name}.csv.gz"
        label = f"dataset {name!r} of the mirror {self.folder}"

        def sentence(reason: str) -> str:
            return f"{label} is named in {INDEX}, but {path.name} cannot be read: {reason}; copy the mirror again"

        with explained(DataError, sentence, OSError):
            actual = hashlib.sha256(path.read_bytes()).hexdigest()
        if actual != card["sha256"]:
            stated = f"the SHA-256 {actual}, {INDEX} says {card['sha256']}"
            raise DataError(f"{label} is damaged: {path.name} has {stated}; copy it again")
        try:
            dataset = read_file(path, name=name, target=TARGET, categorical=card["categorical"])
        except UsageError as error:  # the card names a column that the file lacks
            raise DataError(f"{label}: {error}") from None
        counts = card["class_counts"]
        size = {"n_samples": card["n_samples"], "n_features": card["n_features"], "n_classes": len(counts)}
        check_size(dataset, DatasetSpec(name="mirror", summary="", class_counts=counts, **size), label)
        return replace(dataset, source=card["source"], license=card["license"], citation=card["citation"])


def _stack(parts: list[Dataset], name: str) -> Dataset:
    """Concatenate the rows of datasets that share the same numeric columns."""
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


def _read_index(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / INDEX
    fault = f"{folder} is not a mirror of datasets: "
    if not path.is_file():
        raise UsageError(f"{fault}it has no {INDEX}; name the folder that has one")
    with explained(UsageError, lambda reason: f"{fault}{INDEX} cannot be read: {reason}", OSError, ValueError):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    form = TypeAdapter(dict[Annotated[str, Field(pattern=f"^{NAME.pattern}$")], _Card])
    try:
        return {name: card.model_dump() for name, card in form.validate_python(tables).items()}
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{fault}{INDEX}: {where}: {first['msg']}") from None
