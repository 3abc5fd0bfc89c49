"""The locations that are searched for datasets, in this order: mirror, cache, network."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

DATA_VARIABLE = "MFBENCH_DATA_DIR"
CACHE_VARIABLE = "MFBENCH_CACHE"
# The command that downloads a dataset.
PULL = "mfbench datasets pull {}"


def default_cache() -> Path:
    """Return the cache folder: ``MFBENCH_CACHE``, or a folder of mfbench in the platform's cache folder."""
    import platformdirs

    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("mfbench", appauthor=False))


def default_mirror() -> Path | None:
    """Return the mirror folder in ``MFBENCH_DATA_DIR``, or None if it is unset or empty."""
    return Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None


@dataclass(frozen=True)
class DataOptions:
    """Where to search for datasets."""

    # A folder with `index.toml` and `NAME.csv.gz` files; by default the one in `MFBENCH_DATA_DIR`.
    mirror: Path | None = field(default_factory=default_mirror)
    cache: Path = field(default_factory=default_cache)  # folder of downloaded datasets; see `default_cache`
    offline: bool = False  # do not use the network

    @classmethod
    def of(cls, data_dir: str | os.PathLike[str] | None = None, offline: bool = False) -> DataOptions:
        """Return the options of a request; its mirror overrides that of the environment."""
        return cls(default_mirror() if data_dir is None else Path(data_dir), offline=offline)
