"""From a reference to the dataset: registered loaders, the user's files, mirrors, cache and repositories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from pathlib import Path
from typing import NoReturn

import numpy as np

from mfbench.data.conform import check_size
from mfbench.data.files import check_is_file, read_file
from mfbench.data.foreign import OtherClass, load_isolated
from mfbench.data.lookup import LoadedDataset, Lookup
from mfbench.data.reference import (
    FileReference,
    OpenMLSuiteReference,
    Reference,
    RegisteredReference,
    StoredReference,
    parse_reference,
)
from mfbench.data.sources import DataOptions
from mfbench.errors import DataError, MfbenchError, UsageError, describe_error, printable
from mfbench.host.factories import build, check_parameters
from mfbench.host.registered import Registered
from mfbench.host.registry import Registry
from mfbench.model.specs import Dataset


def load(
    reference: str,
    registry: Registry,
    *,
    options: DataOptions | None = None,
    folder: Path | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Dataset:
    """Load a dataset."""
    parsed = parse_reference(reference, folder=folder, target=target, categorical=categorical)
    parsed = resolved_reference(parsed, registry)
    return find(parsed, registry, Lookup(options)).data


@singledispatch
def find(reference: Reference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    """Load a dataset as `load` does, and report where it came from; there is one function per kind of reference."""
    raise TypeError(f"not a reference: {reference!r}")


@find.register
def _(reference: FileReference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    data = read_file(reference.path, name=reference.text, target=reference.target, categorical=reference.categorical)
    return LoadedDataset(data, "file")


@find.register
def _(reference: StoredReference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    return lookup.stored(reference)


@find.register
def _(reference: OpenMLSuiteReference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    lookup.suite(reference)
    raise UsageError(f"{reference.text} is not a dataset but a list of datasets: use it in a suite, or pull it")


@find.register
def _(reference: RegisteredReference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    expression = reference.expression
    registered = registry.dataset(expression.name)
    check_parameters(registered, expression.params)
    if not registered.spec.embedded:
        return lookup.registered(registered.spec)
    dataset = (
        _build(reference, registered) if registered.prober is None else load_isolated(registered, expression.params)
    )
    checked = _checked(dataset, reference.text, registered)
    if not expression.params:
        check_size(checked, registered.spec)
    return LoadedDataset(checked, "embedded")


def _build(reference: RegisteredReference, registered: Registered) -> object:
    try:
        return build(registered, reference.expression.params)
    except (KeyboardInterrupt, MfbenchError):
        raise
    except BaseException as error:
        raise DataError(
            f"dataset {reference.text!r} of {registered.plugin} cannot be loaded: {describe_error(error)}"
        ) from error


def needs_lookup(reference: Reference, registry: Registry) -> bool:
    """Tell whether a dataset is searched for in mirror, cache and network."""
    if isinstance(reference, RegisteredReference):
        return not registry.dataset(reference.expression.name).spec.embedded
    return not isinstance(reference, FileReference)


def resolved_reference(reference: Reference, registry: Registry, home: str = "") -> Reference:
    """Return a reference whose name is one that the registry lists; the text stays as written."""
    if not isinstance(reference, RegisteredReference):
        return reference
    expression = reference.expression
    name = registry.resolve("dataset", expression.name, home)
    return replace(reference, expression=replace(expression, name=name))


def check_exists(reference: Reference, registry: Registry) -> None:
    """Raise `UsageError` if a file, a registered name or a parameter does not exist; loads no data."""
    if isinstance(reference, RegisteredReference):
        check_parameters(registry.dataset(reference.expression.name), reference.expression.params)
    elif isinstance(reference, FileReference):
        check_is_file(reference.path)


def _checked(dataset: object, reference: str, registered: Registered) -> Dataset:
    """Refuse a malformed dataset with the reason; otherwise later errors would blame the methods."""

    def refuse(reason: str) -> NoReturn:
        raise DataError(f"dataset {reference!r} of {registered.plugin} {reason}")

    if not isinstance(dataset, Dataset):
        name = dataset.name if isinstance(dataset, OtherClass) else type(dataset).__name__
        refuse(f"is a {name}, expected mfbench.Dataset")
    arrays = (dataset.X, dataset.y, dataset.categorical)
    if not all(isinstance(array, np.ndarray) for array in arrays):
        refuse("has an X, y or categorical that is not a NumPy array")
    n, p = np.shape(dataset.X) if np.ndim(dataset.X) == 2 else (-1, -1)
    if np.ndim(dataset.X) != 2 or dataset.X.dtype != np.float64:
        refuse("has an X that is not a two-dimensional float64 array")
    if np.shape(dataset.y) != (n,) or not np.issubdtype(np.asarray(dataset.y).dtype, np.integer):
        refuse(f"has a y of shape {np.shape(dataset.y)}, expected {n} whole-number class codes")
    if len(dataset.feature_names) != p or np.shape(dataset.categorical) != (p,):
        refuse(f"has {p} columns, but {len(dataset.feature_names)} names and a mask of {np.size(dataset.categorical)}")
    if not all(isinstance(name, str) for name in dataset.feature_names):
        refuse("has feature names that are not text")
    labels = [*dataset.class_names, *(label for labels in dataset.categories.values() for label in labels)]
    for text in (*dataset.feature_names, *labels):
        if isinstance(text, str) and printable(text) != text:
            refuse(f"has the name {text!r}, which is not valid text")
    twice = [name for name, count in Counter(dataset.feature_names).items() if count > 1]
    if twice:
        listed = ", ".join(map(repr, twice[:5])) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        refuse(f"has several features of the same name: {listed}")
    if dataset.categorical.dtype != np.bool_:
        refuse(f"has a mask 'categorical' of type {dataset.categorical.dtype}, expected True and False")
    if dataset.encoding not in ("one-hot", "ordinal"):
        refuse(f"has the encoding {dataset.encoding!r}, expected 'one-hot' or 'ordinal'")
    if n == 0 or p == 0:
        refuse(f"is empty ({n} rows, {p} columns)")
    if dataset.y.min() < 0 or dataset.y.max() >= dataset.n_classes:
        refuse(f"has class codes outside 0 … {dataset.n_classes - 1}")
    if dataset.response is not None and (
        np.shape(dataset.response) != (n,) or not np.isfinite(np.asarray(dataset.response, dtype=np.float64)).all()
    ):
        refuse(f"has a response of shape {np.shape(dataset.response)}, expected {n} finite numbers")
    if np.isinf(dataset.X).any():
        refuse("holds infinite values; mark missing ones as NaN")
    return dataset
