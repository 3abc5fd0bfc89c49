"""Writing the files of a report."""

from __future__ import annotations

import os
from pathlib import Path

from mfbench.errors import MfbenchError, explained


def write_text(path: Path, text: str) -> None:
    """Write a file at once, so that a reader never sees half of it; its folder is created if needed.

    Parameters
    ----------
    path : Path
    text : str

    Raises
    ------
    MfbenchError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "new", "page.html"), "text")
    ...     Path(folder, "new", "page.html").read_text()
    'text'
    """
    with explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
