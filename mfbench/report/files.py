"""Writing the files of a report."""

from __future__ import annotations

from pathlib import Path

from mfbench.base.whole_files import write_whole
from mfbench.errors import MfbenchError, explained


def write_text(path: Path, text: str) -> None:
    """Write a file at once, so that a reader never sees half of it; its folder is created if needed."""
    with explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError):
        write_whole(path, text.encode("utf-8"))
