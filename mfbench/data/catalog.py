"""From a dataset's name to the dataset: registered loaders, the user's own files, mirrors, cache and repositories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from mfbench.data.conform import check_size
from mfbench.data.files import read_file
from mfbench.data.lookup import OPENML, PREFIXES, UCI, Found, Lookup, check_form
from mfbench.data.sources import DataOptions
from mfbench.errors import DataError, MfbenchError, UsageError
from mfbench.host.expressions import parse
from mfbench.host.registry import Registered, Registry, build, check_parameters
from mfbench.models import Dataset

FILE_PREFIX = "file:"


def load(
    reference: str,
    registry: Registry,
    *,
    options: DataOptions | None = None,
    folder: Path | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Dataset:
    """Load a dataset by name, expression, file or number in a repository.

    Parameters
    ----------
    reference : str
        ``"wine"``, ``"waveform-21(n_samples=1000)"``, ``"file:PATH"``, ``"openml:61"``, ``"openml:iris@1"``,
        ``"uci:53"``, ``"mirror:NAME"`` or ``"import:NAME"``.
    registry : Registry
        Where names are looked up.
    options : DataOptions or None, default=None
        Where to look for data that no plugin makes; the defaults if None.
    folder : Path or None, default=None
        Relative paths are looked for here; None means the working directory.
    target, categorical : optional
        For files and repositories: the label column (of a file the last one if unset) and the columns that hold
        categories.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If the name or a parameter does not exist.
    DataUnavailableError
        If it is not at hand; the message names the command that brings it.
    DataError
        If loading fails, or the result is not what the dataset's description says.
    """
    found = find(reference, registry, Lookup(options), folder=folder, target=target, categorical=categorical)
    return found.data


def find(
    reference: str,
    registry: Registry,
    lookup: Lookup,
    *,
    folder: Path | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Found:
    """Load a dataset as `load` does, and tell where it was found."""
    if reference.startswith(FILE_PREFIX):
        path = resolve_path(reference, folder)
        return Found(read_file(path, name=reference, target=target, categorical=categorical), "file")
    if reference.startswith((OPENML, UCI)):
        return lookup.reference(reference, target=target, categorical=categorical)
    if target is not None or categorical is not None:
        raise UsageError(column_options(reference))
    if reference.startswith(PREFIXES):
        return lookup.reference(reference)
    expression = parse(reference)
    registered = registry.dataset(expression.name)
    check_parameters(registered, expression.params)
    if not registered.spec.embedded:
        return lookup.spec(registered.spec)
    try:
        dataset = build(registered, expression.params)
    except MfbenchError:
        raise
    except Exception as error:
        raise DataError(
            f"dataset {reference!r} of {registered.plugin} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    checked = _checked(dataset, reference, registered)
    if not expression.params:
        check_size(checked, registered.spec)
    return Found(checked, "embedded")


def needs_lookup(reference: str, registry: Registry) -> bool:
    """Tell whether a valid reference is looked for in mirror, cache and network."""
    if reference.startswith(FILE_PREFIX):
        return False
    return reference.startswith(PREFIXES) or not registry.dataset(parse(reference).name).spec.embedded


def column_options(reference: str) -> str:
    """Return the sentence that refuses 'target' and 'categorical' for a reference that takes neither."""
    return (
        "'target' and 'categorical' are for 'file:', 'openml:' and 'uci:' datasets; "
        f"{reference!r} says itself what its columns are"
    )


def takes_columns(reference: str) -> bool:
    """Tell whether 'target' and 'categorical' mean something for a reference."""
    return reference.startswith((FILE_PREFIX, OPENML, UCI))


def check_reference(reference: str, registry: Registry, folder: Path | None = None) -> None:
    """Raise `UsageError` if a reference names nothing; loads no data."""
    if reference.startswith(FILE_PREFIX):
        path = resolve_path(reference, folder)
        try:
            found = path.is_file()
        except (OSError, ValueError) as error:  # such as a name of thousands of letters
            raise UsageError(f"there is no file {str(path)[:100]}…: {error.args[-1]}") from None
        if not found:
            raise UsageError(f"there is no file {path}")
        return
    if reference.startswith(PREFIXES):
        check_form(reference)
        return
    expression = parse(reference)
    check_parameters(registry.dataset(expression.name), expression.params)


def resolve_path(reference: str, folder: Path | None) -> Path:
    """Return the path that a ``file:`` reference means."""
    try:
        path = Path(reference.removeprefix(FILE_PREFIX)).expanduser()
    except RuntimeError as error:  # "~name" of nobody
        raise UsageError(f"cannot find {reference!r}: {error}") from None
    return path if path.is_absolute() or folder is None else folder / path


def _checked(dataset: object, reference: str, registered: Registered) -> Dataset:
    """Refuse what a careless loader may return, with the reason: later errors would blame the methods."""

    def refuse(reason: str) -> NoReturn:
        raise DataError(f"dataset {reference!r} of {registered.plugin} {reason}")

    if not isinstance(dataset, Dataset):
        refuse(f"is a {type(dataset).__name__}, expected mfbench.Dataset")
    arrays = (dataset.X, dataset.y, dataset.categorical)
    if not all(isinstance(array, np.ndarray) for array in arrays):
        refuse("has an X, y or categorical that is no NumPy array")
    n, p = np.shape(dataset.X) if np.ndim(dataset.X) == 2 else (-1, -1)
    if np.ndim(dataset.X) != 2 or dataset.X.dtype != np.float64:
        refuse("has an X that is not a two-dimensional float64 array")
    if np.shape(dataset.y) != (n,) or not np.issubdtype(np.asarray(dataset.y).dtype, np.integer):
        refuse(f"has a y of shape {np.shape(dataset.y)}, expected {n} whole-number class codes")
    if len(dataset.feature_names) != p or np.shape(dataset.categorical) != (p,):
        refuse(f"has {p} columns, but {len(dataset.feature_names)} names and a mask of {np.size(dataset.categorical)}")
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
