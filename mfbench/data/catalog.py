"""From a dataset's name to the dataset: registered loaders and the user's own files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from mfbench.data.files import read_file
from mfbench.errors import DataError, MfbenchError, UsageError
from mfbench.host.expressions import parse
from mfbench.host.registry import Registered, Registry, build, check_parameters
from mfbench.models import Dataset, DatasetSpec

FILE_PREFIX = "file:"


def load(
    reference: str,
    registry: Registry,
    *,
    folder: Path | None = None,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
) -> Dataset:
    """Load a dataset by name, expression or file.

    Parameters
    ----------
    reference : str
        ``"wine"``, ``"waveform-21(n_samples=1000)"`` or ``"file:PATH"``.
    registry : Registry
        Where names are looked up.
    folder : Path or None, default=None
        Relative paths are looked for here; None means the working directory.
    target, categorical : optional
        For files: the label column (the last one if unset) and the columns that hold categories.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If the name or a parameter does not exist.
    DataError
        If loading fails, or the result is not what the dataset's description says.
    """
    if reference.startswith(FILE_PREFIX):
        return read_file(resolve_path(reference, folder), name=reference, target=target, categorical=categorical)
    if target is not None or categorical is not None:
        raise UsageError(f"'target' and 'categorical' are for 'file:' datasets; {reference!r} is a registered one")
    expression = parse(reference)
    registered = registry.dataset(expression.name)
    check_parameters(registered, expression.params)
    try:
        dataset = build(registered, expression.params)
    except MfbenchError:
        raise
    except Exception as error:
        raise DataError(
            f"dataset {reference!r} of {registered.plugin} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    checked = _checked(dataset, reference, registered)
    _check_size(checked, registered.spec, default=not expression.params)
    return checked


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
    if np.isinf(dataset.X).any():
        refuse("holds infinite values; mark missing ones as NaN")
    return dataset


def _check_size(dataset: Dataset, spec: DatasetSpec, *, default: bool) -> None:
    if not default:
        return
    found = (dataset.n_samples, dataset.n_features, dataset.n_classes)
    expected = (spec.n_samples, spec.n_features, spec.n_classes)
    if any(want is not None and want != have for have, want in zip(found, expected, strict=True)):
        raise DataError(
            f"dataset {spec.name!r} has {found[0]} rows, {found[1]} features and {found[2]} classes; its description "
            f"says {expected[0]}, {expected[1]} and {expected[2]}"
        )
