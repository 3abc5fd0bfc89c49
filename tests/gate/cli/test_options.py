"""The end that commands share: a table or JSON, the files, and the exit code of the comparison."""

import json
from inspect import signature

import pytest
import typer

from mfbench_gate.cli import with_outputs
from mfbench_gate.comparison import CellVerdict, ComparedCell, Comparison, Side


@pytest.fixture
def comparison():
    cells = [ComparedCell("RFF", "wine", "time", 1.0, 1.2, CellVerdict.UNDECIDED, "too few pairs", unit="s", ratio=1.2)]
    return Comparison(Side("main"), Side("HEAD"), cells=cells)


def run(comparison, **options):
    command = with_outputs(lambda: comparison)
    command(**{name: parameter.default for name, parameter in signature(command).parameters.items()} | options)


@pytest.mark.parametrize(("accepted", "code"), [(False, 5), (True, 0)])
def test_the_exit_code_is_that_of_the_comparison(comparison, capsys, accepted, code):
    comparison.undecided_ok = accepted
    with pytest.raises(typer.Exit) as left:
        run(comparison)
    assert left.value.exit_code == code
    assert "? undecided" in capsys.readouterr().out


def test_json_goes_to_standard_output_and_the_rest_to_files(comparison, capsys, tmp_path):
    with pytest.raises(typer.Exit):
        run(comparison, as_json=True, markdown=tmp_path / "a.md")
    assert json.loads(capsys.readouterr().out)["exit_code"] == 5
    assert "undecided" in (tmp_path / "a.md").read_text()
