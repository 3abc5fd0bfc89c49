"""Where datasets come from, in the order in which they are looked for: mirror, cache, network."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

DATA_VARIABLE = "MFBENCH_DATA_DIR"
CACHE_VARIABLE = "MFBENCH_CACHE"
# The command that downloads a dataset.
PULL = "mfbench datasets pull {}"


def default_cache() -> Path:
    """Return the cache folder: ``MFBENCH_CACHE``, or mfbench's place in the platform's cache folder."""
    import platformdirs

    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("mfbench", appauthor=False))


def default_mirror() -> Path | None:
    """Return the mirror folder that ``MFBENCH_DATA_DIR`` names, None if it is unset or empty."""
    return Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None


@dataclass(frozen=True)
class DataOptions:
    """Where to look for datasets.

    Parameters
    ----------
    mirror : Path or None
        A folder with ``index.toml`` and ``NAME.csv.gz`` files; what ``MFBENCH_DATA_DIR`` names by default.
    cache : Path
        Folder of downloaded datasets; see `default_cache`.
    offline : bool, default=False
        Never use the network.
    """

    mirror: Path | None = field(default_factory=default_mirror)
    cache: Path = field(default_factory=default_cache)
    offline: bool = False

    @classmethod
    def of(cls, data_dir: str | os.PathLike[str] | None = None, offline: bool = False) -> DataOptions:
        """Return the options of a request: a mirror that it names goes over the environment's."""
        return cls(default_mirror() if data_dir is None else Path(data_dir), offline=offline)
