"""Storage of the rows of a fold: training rows are not written if they are all other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfbench.run.store.formats.arrays import pack, unpack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mfbench.suite.protocols import Split

# Test, train and validation rows, numbers of training rows and of features.
Columns = tuple[bytes, bytes | None, bytes | None, int, int]


@dataclass(frozen=True)
class StoredSplit:
    """A fold's rows as stored."""

    test: NDArray[np.int64]
    train: NDArray[np.int64] | None  # none: all rows that are not tested
    validation: NDArray[np.int64] | None  # rows set aside for tuning, if the protocol does so
    n_train: int  # n_train, n_features: number of rows and of original features in the final fit
    n_features: int


def pack_split(split: Split, shape: tuple[int, int]) -> Columns:
    """Return what is stored of a split of a dataset with this number of rows and features."""
    train = None if len(split.train) + len(split.test) == shape[0] else pack(split.train)
    validation = None if split.tuning is None else pack(split.tuning[1])
    features = split.features(shape[1])
    n_features = shape[1] if features is None else len(features)
    return pack(split.test), train, validation, len(split.train), n_features


def unpack_split(
    test: bytes, train: bytes | None, validation: bytes | None, n_train: int, n_features: int
) -> StoredSplit:
    """Return the rows that `pack_split` has packed."""
    train_rows, validation_rows = (None if blob is None else unpack(blob) for blob in (train, validation))
    return StoredSplit(unpack(test), train_rows, validation_rows, n_train, n_features)
