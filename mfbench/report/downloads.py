"""How downloads are followed. Loads no numeric library: looking at one dataset must not wait for the analysis."""

from __future__ import annotations

import os
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn


def is_plain(console: Console) -> bool:
    """Tell whether progress is told in lines: no terminal, or NO_COLOR or CI in the environment."""
    return not console.is_terminal or "NO_COLOR" in os.environ or bool(os.environ.get("CI"))


class Downloads:
    """Follows downloads: a bar for each on a terminal, a line for each elsewhere.

    Parameters
    ----------
    console : Console
        Where to show them.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._bars: Progress | None = None

    def __enter__(self) -> Downloads:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def fetching(self, key: str) -> Callable[[int, int | None], None]:
        """Show that a download starts; what is returned takes the bytes so far and, if known, of all."""
        if is_plain(self.console):
            self.console.print(f"fetching {key}", markup=False, highlight=False)
            return lambda done, total: None
        if self._bars is None:
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
            self._bars = Progress(*columns, TransferSpeedColumn(), console=self.console, transient=True)
            self._bars.start()
        bars, task = self._bars, self._bars.add_task(f"fetching {key}", total=None)

        def follow(done: int, total: int | None) -> None:
            bars.update(task, completed=done, total=total)

        return follow
