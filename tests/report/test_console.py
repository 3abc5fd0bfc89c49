"""The console of the commands shows names as text."""

import io

from rich.progress import Progress, TextColumn
from rich.table import Table
from rich.text import Text

from mfbench.base.console import PlainConsole, make_console

NAME = "[/b][red]\x1b[31m:ok:\u202ex\x9b\r"
SHOWN = "[/b][red][31m:ok:x"


def printed(thing, **options):
    file = io.StringIO()
    PlainConsole(file=file, width=60, **options).print(thing)
    return file.getvalue()


def test_every_form_of_text_is_plain():
    table = Table(NAME)
    table.add_row(Text(NAME))
    table.add_row(NAME)
    assert printed(NAME) == SHOWN + "\n"
    assert printed(Text(NAME)) == SHOWN + "\n"
    assert printed(table).count(SHOWN) == 3
    assert "\x1b" not in printed(table)


def test_tables_stay_aligned():
    table = Table("a")
    table.add_row(NAME)
    table.add_row("x" * 30)
    assert len({len(line) for line in printed(table).splitlines()[1:]}) == 1


def test_styles_and_controls_of_rich_itself_stay():
    assert "\x1b[1m" in printed(Text("a\nb", style="bold"), force_terminal=True)
    file = io.StringIO()
    console = PlainConsole(file=file, width=60, force_terminal=True)
    with Progress(TextColumn("{task.description}", markup=False), console=console) as bars:
        bars.add_task(NAME, total=1)
    assert "\x1b[?25l" in file.getvalue() and SHOWN in file.getvalue()
    assert "\u202e" not in file.getvalue() and "\x1b[31m" not in file.getvalue()


def test_a_pipe_has_the_width_of_a_report(capsys):
    assert make_console().width == 160
    make_console(stderr=True).print("[b]")
    assert capsys.readouterr() == ("", "[b]\n")
