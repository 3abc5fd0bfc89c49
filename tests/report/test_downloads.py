"""Progress of downloads: lines where no terminal is, bars on one."""

import io

from mfbench.base.console import PlainConsole
from mfbench.report.progress import Downloads, is_plain


def test_lines_without_a_terminal():
    console = PlainConsole(file=io.StringIO(), width=80)
    assert is_plain(console)
    with Downloads(console) as downloads:
        follow = downloads.fetching("openml:61")
        follow(10, 100)
    assert console.file.getvalue() == "fetching openml:61\n"


def test_bars_on_a_terminal(monkeypatch):
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    console = PlainConsole(file=io.StringIO(), width=80, force_terminal=True)
    assert not is_plain(console)
    with Downloads(console) as downloads:
        follow = downloads.fetching("uci:53")
        follow(100, 100)
    assert "fetching uci:53" in console.file.getvalue()


def test_environment_variables_ask_for_lines(monkeypatch):
    console = PlainConsole(file=io.StringIO(), force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert is_plain(console)
