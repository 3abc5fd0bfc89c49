"""Temporary folders with the name of their purpose."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield an empty folder and remove it afterwards."""
    # Two levels, since a run looks for others beside its folder, and must not find those of other processes.
    with tempfile.TemporaryDirectory(prefix=f"mfbench-{purpose}-", ignore_cleanup_errors=True) as outer:
        folder = Path(outer) / "content"
        folder.mkdir()
        yield folder
