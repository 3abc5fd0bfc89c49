"""What a source of results yields: a run whose results another run of the same trials need not compute again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EarlierRun:
    """A run whose results are used under equal keys, and what a run that uses them states about it.

    Parameters
    ----------
    name : str
        What the record of the results calls it.
    folder : Path or str
        A run folder with a store, which is only read.
    is_verified : bool, default=True
        Whether mfbench computed its keys on this machine. If not, a result is used only if its key is that of the same
        trial on the same data and folds, and reports name it as unverified.
    is_requested : bool, default=False
        Whether the user named it: a note then gives each reason for which results of it are not used.
    has_origins : bool, default=True
        Whether its record of the results that it had from other runs counts. If not, all are its own.

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
