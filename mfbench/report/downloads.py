"""Progress of downloads; importing this loads no numeric library, so commands on a single dataset start fast."""

from __future__ import annotations

import os
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn


def is_plain(console: Console) -> bool:
    """Return whether to print progress line by line: without a terminal, or with NO_COLOR or CI in the environment."""
    return not console.is_terminal or "NO_COLOR" in os.environ or bool(os.environ.get("CI"))


class Downloads:
    """Displays downloads: as bars on a terminal, otherwise as lines."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bars: Progress | None = None

    def __enter__(self) -> Downloads:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        """Display a new download and return a function that updates it with the bytes received and expected."""
        if is_plain(self.console):
            self.console.print(f"fetching {key}")
            return lambda done, total: None
        if self._bars is None:
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
            self._bars = Progress(*columns, TransferSpeedColumn(), console=self.console, transient=True)
            self._bars.start()
        bars, task = self._bars, self._bars.add_task(f"fetching {key}", total=None)
        return lambda done, total: bars.update(task, completed=done, total=total)
