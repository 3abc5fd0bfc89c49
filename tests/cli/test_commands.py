"""The table of commands: features add to it, and a broken one is a sentence in ``mfbench plugins``."""

import subprocess
import sys

import pytest

from mfbench.cli import entry, main
from mfbench.cli.entry import CORE, find_commands
from mfbench.errors import PluginError
from mfbench.host.features import CommandSpec, FeatureEntry


class Offered:
    """An entry whose object is known, or whose import fails."""

    def __init__(self, name, value, distribution="other"):
        self.name, self.value, self.distribution = name, value, distribution

    def load(self):
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def offered(monkeypatch):
    def offer(**values):
        table = {name.replace("_", "-"): Offered(name.replace("_", "-"), value) for name, value in values.items()}
        monkeypatch.setattr(entry, "entries", lambda _: (table, ()))

    return offer


def test_what_cannot_be_used_is_left_out(offered):
    spec = CommandSpec("Do it.", "m:f")
    failing = PluginError("'failing' of the package other cannot be loaded")
    offered(
        good=spec, suite=spec, failing=failing, lines=CommandSpec("a\nb", "m:f"), none=CommandSpec(None, 3), wrong=3
    )
    table = find_commands()
    assert list(table.specs) == [*CORE, "good"]
    assert table.problems == [
        "the command 'failing' of the package other cannot be loaded",
        "the command 'lines' of the package other has a field that is not one line",
        "the command 'none' of the package other has a field that is not one line",
        "the command 'suite' of the package other is left out: mfbench has its own",
        "the command 'wrong' of the package other is not a mfbench.CommandSpec",
    ]


def test_a_summary_is_one_short_line():
    for name, (spec, distribution) in find_commands().specs.items():
        assert len(spec.summary) <= 66 and spec.summary.endswith("."), name
        assert callable(FeatureEntry(name, spec.target, distribution).load())


def test_help_imports_no_command_and_no_numeric_library():
    code = """
import sys
from mfbench.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert not end.code
heavy = {"numpy", "scipy", "sklearn", "pandas", "pydantic", "mfbench.cli.runs", "mfbench_gate.cli"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert all(f"\n  {name} " in done.stdout for name in find_commands().specs)


def test_a_target_that_cannot_be_imported(offered, capsys):
    offered(lost=CommandSpec("Lost.", "no_such_module_of_tests:f"), number=CommandSpec("3", "math:pi"))
    app = entry.CommandGroup(name="mfbench")
    with pytest.raises(PluginError, match="'lost' of the package other cannot be loaded"):
        app.commands["lost"]
    with pytest.raises(PluginError, match=r"'number' of .*: TypeError: its target is neither a function nor a typer"):
        app.commands["number"]
    with pytest.raises(SystemExit) as end:
        main(["lost"])
    assert end.value.code == 1
    assert capsys.readouterr().err.startswith("mfbench: 'lost' of the package other cannot be loaded")
