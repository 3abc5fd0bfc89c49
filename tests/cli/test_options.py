"""Options that commands share, and the console."""

import io

from mfbench.base.console import make_console, print_line


def test_output_that_is_not_a_terminal_is_wide():
    assert make_console().width == 160


def test_a_line_is_printed_as_it_is():
    from rich.console import Console

    console = Console(file=io.StringIO(), width=20)
    print_line(console, "[bold]" + "x" * 40)
    assert console.file.getvalue() == "[bold]" + "x" * 40 + "\n"
