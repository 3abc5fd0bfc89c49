"""Small tables that checks fit methods to: seeded, and available to the snippets that show a failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mfbench.errors import UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Table = tuple["NDArray[np.float64]", "NDArray[np.int64]"]

N_ROWS, N_FEATURES = 60, 6


def sample(name: str = "two-classes", seed: int = 0) -> Table:
    """Return a small table on which checks fit methods."""
    if name not in SAMPLES:
        raise UnknownNameError("sample", name, SAMPLES)
    return SAMPLES[name](np.random.default_rng(seed))


def shifted(rng: np.random.Generator, n_samples: int, n_features: int, n_classes: int) -> Table:
    """Return classes that differ in the means of the first two features; classes have equal sizes up to one row."""
    y = rng.permutation(np.arange(n_samples) % n_classes).astype(np.int64)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 0] += 1.5 * y
    if n_features > 1:
        X[:, 1] -= 1.0 * y
    return X, y


def _missing(rng: np.random.Generator) -> Table:
    X, y = shifted(rng, N_ROWS, N_FEATURES, 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def _single_row(rng: np.random.Generator) -> Table:
    X, y = shifted(rng, N_ROWS, N_FEATURES, 2)
    y[0] = 2
    return X, y


def _scaled(factor: float) -> Callable[[np.random.Generator], Table]:
    def make(rng: np.random.Generator) -> Table:
        X, y = shifted(rng, N_ROWS, N_FEATURES, 2)
        return X * factor, y

    return make


SAMPLES: dict[str, Callable[[np.random.Generator], Table]] = {
    "two-classes": lambda rng: shifted(rng, N_ROWS, N_FEATURES, 2),
    "three-classes": lambda rng: shifted(rng, N_ROWS, N_FEATURES, 3),
    "many-classes": lambda rng: shifted(rng, N_ROWS, N_FEATURES, 12),
    "one-feature": lambda rng: shifted(rng, N_ROWS, 1, 2),
    "more-features-than-rows": lambda rng: shifted(rng, 20, 40, 2),
    "one-row-of-a-class": _single_row,
    "missing-values": _missing,
    "tiny-scale": _scaled(1e-150),
    "huge-scale": _scaled(1e150),
}
