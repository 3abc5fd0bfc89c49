"""The console of commands: what others wrote is printed as it is."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from mfbench.base.text import plain_lines


class PlainConsole(Console):
    """A console of rich that prints every text as it is, whoever chose it: a dataset, a suite or a plugin."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "markup": False, "emoji": False, "highlight": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments of what is printed; only those that rich itself made may control the terminal."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control or text == "\n" else Segment(plain_lines(text), style)


def make_console(*, stderr: bool = False) -> PlainConsole:
    """Return the console of a command."""
    console = PlainConsole(stderr=stderr)
    # Output that is not a terminal has no width: tables in a log or a pipe are not folded.
    return console if console.is_terminal else PlainConsole(stderr=stderr, width=160)


def print_line(console: Console, text: str) -> None:
    """Print plain text on one line, without wrapping."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)
