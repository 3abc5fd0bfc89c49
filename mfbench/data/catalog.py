"""Resolve references to datasets: registered loaders, user files, mirrors, the cache and repositories."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NoReturn

from mfbench.data.cache import DataOptions
from mfbench.data.lookup import LoadedDataset, Lookup
from mfbench.data.reference import FileReference, OpenMLSuiteReference, Reference, RegisteredReference, parse_reference
from mfbench.errors import DataError, UnknownNameError, UsageError, plugin_code, printable
from mfbench.host.expressions import Registered
from mfbench.host.factories import build, check_parameters
from mfbench.host.registry import Registry
from mfbench.model.specs import CLASSIFICATION, Dataset, DatasetSpec


def load(
    reference: str,
    registry: Registry,
    *,
    options: DataOptions | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    task: str | None = None,
) -> Dataset:
    """Load a dataset."""
    parsed = parse_reference(reference, target=target, categorical=categorical)
    return find(resolved_reference(parsed, registry), registry, Lookup(options), task).data


def find(reference: Reference, registry: Registry, lookup: Lookup, task: str | None = None) -> LoadedDataset:
    """Load a dataset as `load` does and report its origin; the task is that of its description if it has one."""
    from mfbench.data.columns import with_task

    loaded = located(reference, registry, lookup)
    if isinstance(reference, RegisteredReference):
        own = registry.entry("dataset", reference.expression.name).spec.task
        if task is not None and task != own:
            raise UsageError(f"{reference.text!r} poses the task {own}, not {task}: leave the task out")
        task = own
    of_numbers = [name for name, entry in registry.listed("task").items() if entry.spec.target == "numbers"]
    spec = registry.entry("task", task or CLASSIFICATION).spec
    return replace(loaded, data=with_task(loaded.data, spec, reference.text, of_numbers))


def located(reference: Reference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    """Load a dataset whatever its target is for, and report its origin."""
    if isinstance(reference, FileReference):
        from mfbench.data.files import read_file

        path, name, columns = reference.path, reference.text, reference.categorical
        data = read_file(path, name=name, target=reference.target, categorical=columns, as_written=reference.as_written)
        return LoadedDataset(data, "file")
    if isinstance(reference, OpenMLSuiteReference):
        lookup.suite(reference)
        raise UsageError(f"{reference.text} is not a dataset but a list of datasets: use it in a suite, or pull it")
    if isinstance(reference, RegisteredReference):
        return _registered(reference, registry, lookup)
    return lookup.stored(reference)


def _registered(reference: RegisteredReference, registry: Registry, lookup: Lookup) -> LoadedDataset:
    expression = reference.expression
    registered = registry.entry("dataset", expression.name)
    check_parameters(registered, expression.params)
    if not registered.spec.embedded:
        return lookup.registered(registered.spec)
    # Listings load no data, and no numeric library.
    from mfbench.data.columns import check_size
    from mfbench.data.files import load_isolated
    from mfbench.data.structure import with_columns_of

    bases = {name: located(base, registry, lookup).data for name, base in _bases(reference, registry).items()}
    params = {**expression.params, **bases}
    with plugin_code(DataError, f"dataset {reference.text!r} of {registered.plugin} cannot be loaded:"):
        dataset = build(registered, params) if registered.prober is None else load_isolated(registered, params)
    checked = with_columns_of(_checked(dataset, reference.text, registered, registry), registered.spec)
    if not expression.params:
        check_size(checked, registered.spec)
    return LoadedDataset(checked, "embedded")


def _bases(reference: RegisteredReference, registry: Registry) -> dict[str, Reference]:
    """Return the datasets that another one is made from, by the parameter of its loader."""
    bases = {}
    for name, default in registry.entry("dataset", reference.expression.name).spec.bases.items():
        text = reference.expression.params.get(name, default)
        if not isinstance(text, str):
            raise UsageError(f"{reference.text!r} needs a dataset as {name!r}: write {name}={default!r}, for example")
        bases[name] = resolved_reference(parse_reference(text), registry)
    return bases


def needs_lookup(reference: Reference, registry: Registry) -> bool:
    """Return whether a dataset is looked up in the mirror, cache and network."""
    if isinstance(reference, RegisteredReference):
        if not registry.entry("dataset", reference.expression.name).spec.embedded:
            return True
        return any(needs_lookup(base, registry) for base in _bases(reference, registry).values())
    return not isinstance(reference, FileReference)


def resolved_reference(reference: Reference, registry: Registry, home: str = "") -> Reference:
    """Return the reference with its name resolved to a registered one; its text stays as written."""
    if not isinstance(reference, RegisteredReference):
        return reference
    expression = reference.expression
    name = registry.resolve("dataset", expression.name, home)
    return replace(reference, expression=replace(expression, name=name))


def check_exists(reference: Reference, registry: Registry) -> None:
    """Raise `UsageError` if a file, registered name or parameter does not exist, without loading any data."""
    if isinstance(reference, RegisteredReference):
        check_parameters(registry.entry("dataset", reference.expression.name), reference.expression.params)
        for base in _bases(reference, registry).values():
            check_exists(base, registry)
    elif isinstance(reference, FileReference):
        from mfbench.data.files import check_is_file

        check_is_file(reference.path)


def _checked(dataset: object, reference: str, registered: Registered, registry: Registry) -> Dataset:
    """Refuse a malformed dataset with the reason; otherwise later errors would blame the methods."""
    import numpy as np

    from mfbench.data.columns import canonical_sparse
    from mfbench.data.structure import check_weights

    def refuse(reason: str) -> NoReturn:
        raise DataError(f"dataset {reference!r} of {registered.plugin} {reason}")

    if not isinstance(dataset, Dataset):
        refuse(f"is a {type(dataset).__name__}, expected mfbench.Dataset")
    X, y, mask, names = dataset.X, dataset.y, dataset.categorical, dataset.feature_names
    if not (isinstance(X, np.ndarray) or dataset.is_sparse) or not (X.ndim == 2 and X.dtype == np.float64):
        refuse("has an X that is not a two-dimensional float64 array, dense or sparse")
    n, p = X.shape
    if n == 0 or p == 0:
        refuse(f"is empty ({n} rows, {p} columns)")
    if dataset.task != registered.spec.task:
        refuse(f"poses the task {dataset.task!r}; its description says {registered.spec.task!r}")
    of_numbers = registry.entry("task", dataset.task).spec.target == "numbers"
    kind: Any = np.floating if of_numbers else np.integer
    expected = "finite numbers of the type float64" if of_numbers else "whole-number class codes"
    if not (isinstance(y, np.ndarray) and y.shape == (n,) and np.issubdtype(y.dtype, kind) and np.isfinite(y).all()):
        refuse(f"has a y of shape {np.shape(y)}, expected an array of {n} {expected}")
    if of_numbers and dataset.class_names:
        refuse("has names of classes, but its target is a number")
    if not (isinstance(mask, np.ndarray) and mask.shape == (p,) and mask.dtype == np.bool_):
        refuse(f"has a mask 'categorical' that is not an array of True and False for its {p} columns")
    if len(names) != p:
        refuse(f"has {p} columns, but {len(names)} names")
    for text in (*names, *dataset.class_names, *chain(*dataset.categories.values())):
        if not isinstance(text, str) or printable(text) != text:
            refuse(f"has the name {text!r}, which is not valid text")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(map(repr, twice[:5])) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        refuse(f"has several features of the same name: {listed}")
    if dataset.encoding not in ("one-hot", "ordinal"):
        refuse(f"has the encoding {dataset.encoding!r}, expected 'one-hot' or 'ordinal'")
    if not of_numbers and (y.min() < 0 or y.max() >= dataset.n_classes):
        refuse(f"has class codes outside 0 … {dataset.n_classes - 1}")
    response = dataset.response
    if response is not None and (np.shape(response) != (n,) or not np.isfinite(response).all()):
        refuse(f"has a response of shape {np.shape(response)}, expected {n} finite numbers")
    kinds = {"groups": np.integer, "time": np.floating, "split": np.integer, "weights": np.floating}
    for name, kind in kinds.items():
        array = getattr(dataset, name)
        if array is None:
            continue
        if np.shape(array) != (n,) or not np.issubdtype(np.asarray(array).dtype, kind) or not np.isfinite(array).all():
            refuse(f"has an attribute {name!r} that is not an array of {n} finite numbers of the type {kind.__name__}")
    groups = dataset.feature_groups
    if not isinstance(groups, Mapping) or not all(isinstance(group, tuple | list) for group in groups.values()):
        refuse(f"has feature_groups that do not map names of groups to tuples of features: {groups!r}")
    if dataset.weights is not None:
        check_weights(dataset.weights, f"the attribute 'weights' of dataset {reference!r} of {registered.plugin}")
    if np.isinf(X.data if dataset.is_sparse else X).any():
        refuse("holds infinite values; mark missing ones as NaN")
    if not dataset.is_sparse:
        return dataset
    if np.isnan(X.data).any() or mask.any():
        refuse("is sparse and has missing values or categories; make it dense, or fill and encode them")
    return replace(dataset, X=canonical_sparse(X))


def collection_names(registry: Registry) -> list[str]:
    """Return the names of the collections that registered datasets belong to."""

    return sorted({name for entry in registry.listed("dataset").values() for name in entry.spec.collections})


def in_collection(registry: Registry, name: str) -> dict[str, DatasetSpec]:
    """Return the datasets of a collection by name, or raise `UnknownNameError`."""
    names = collection_names(registry)
    if name not in names:
        raise UnknownNameError("collection", name, names, "see 'mfbench datasets list'")
    datasets = sorted(registry.listed("dataset").items())
    return {key: entry.spec for key, entry in datasets if name in entry.spec.collections}
