"""What a source of earlier results yields: a run whose results need not be computed again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EarlierRun:
    """A run whose results can be reused under equal keys, and how the reusing run refers to it.

    Parameters
    ----------
    name : str
        Its name in the record of reused results.
    folder : Path or str
        A run folder with a store; opened read-only.
    is_verified : bool, default=True
        Whether mfbench computed its keys on this machine. If not, a result is used only if its key belongs to the same
        trial on the same data and folds, and reports mark it as unverified.
    is_requested : bool, default=False
        Whether the user named it; a note then lists the reasons why some of its results are not used.
    has_origins : bool, default=True
        Whether its own record of reused results is trusted. If not, all its results count as its own.

    Examples
    --------
    >>> EarlierRun("own/full-1", Path("reports/own/full-1")).is_requested
    False
    """

    name: str
    folder: Path
    is_verified: bool = True
    is_requested: bool = False
    has_origins: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))
