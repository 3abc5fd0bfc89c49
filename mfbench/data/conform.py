"""Preparing a dataset of a repository as its description requires, and checking the result.

The preparation is that of the paper: which columns are left out, which classes are kept, and which numeric columns are
categorical.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfbench.data.columns import label_codes
from mfbench.errors import DataError
from mfbench.model.specs import Dataset, DatasetSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray


def conform(dataset: Dataset, spec: DatasetSpec, origin: str = "") -> Dataset:
    """Prepare a dataset as its description requires, and check the result against the description."""
    where = f"dataset {spec.name!r}" + (f" from {origin}" if origin else "")
    dataset = drop_columns(dataset, spec.drop)
    if spec.categorical is not None:
        dataset = set_categorical(dataset, spec.categorical, where)
    if spec.keep_classes:
        dataset = keep_classes(dataset, spec.keep_classes, where)
    check_size(dataset, spec, where)
    return replace(
        dataset,
        name=spec.name,
        source=spec.source or dataset.source,
        license=spec.license or dataset.license,
        citation=spec.citation or dataset.citation,
    )


def drop_columns(dataset: Dataset, names: Sequence[str]) -> Dataset:
    """Leave out columns; a missing one is ignored, since some copies have no identifiers."""
    kept = [index for index, name in enumerate(dataset.feature_names) if name not in names]
    if len(kept) == dataset.n_features:
        return dataset
    return replace(
        dataset,
        X=np.ascontiguousarray(dataset.X[:, kept]),
        feature_names=tuple(dataset.feature_names[index] for index in kept),
        categorical=dataset.categorical[kept],
        categories={name: labels for name, labels in dataset.categories.items() if name not in names},
    )


def set_categorical(dataset: Dataset, names: Sequence[str], where: str) -> Dataset:
    """Make exactly these columns categorical, besides columns of text, which cannot be numeric."""
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
    """Return category labels as numbers, or None if there are none or one is not a number."""
    try:
        values = np.array([float(label) for label in labels], dtype=np.float64)
    except ValueError:
        return None
    return values if len(values) and bool(np.isfinite(values).all()) else None


def keep_classes(dataset: Dataset, names: Sequence[str], where: str) -> Dataset:
    """Keep the rows of these classes; the codes are renumbered in the same order."""
    unknown = [name for name in names if name not in dataset.class_names]
    if unknown:
        listed = ", ".join(map(repr, dataset.class_names[:12]))
        raise DataError(f"{where} has no class {unknown[0]!r}; its classes: {listed}")
    return with_classes(dataset, np.array([code for code, name in enumerate(dataset.class_names) if name in names]))


def with_classes(dataset: Dataset, kept: NDArray[np.intp]) -> Dataset:
    """Return the rows of some classes, whose sorted codes are given; the codes are renumbered in the same order."""
    if len(kept) == dataset.n_classes:
        return dataset
    rows = np.isin(dataset.y, kept)
    return replace(
        dataset,
        X=np.ascontiguousarray(dataset.X[rows]),
        y=np.searchsorted(kept, dataset.y[rows]).astype(np.int64),
        class_names=tuple(dataset.class_names[code] for code in kept),
        response=None if dataset.response is None else dataset.response[rows],
    )


def check_size(dataset: Dataset, spec: DatasetSpec, where: str = "") -> None:
    """Raise `DataError` if the shape or the class counts of a dataset differ from its description."""
    # Copies of a dataset may have different class labels ("M" and "malignant"). If the labels differ, the class counts
    # must agree in any order.
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
    # With other labels, the counts must agree in any order.
    is_equal = counts == described or (
        {*counts} != {*described} and sorted(counts.values()) == sorted(described.values())
    )
    if described and not is_equal:
        raise DataError(f"{where} has the class counts {counts}; its description says {described}")


def class_counts(dataset: Dataset) -> dict[str, int]:
    """Return the number of rows of each class, by its label."""
    counts = np.bincount(dataset.y, minlength=dataset.n_classes).tolist()
    return dict(zip(dataset.class_names, counts, strict=True))
