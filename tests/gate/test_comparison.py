"""The nouns of a comparison: names of cells, exit codes, and plain values."""

import json

import pytest

from mfbench.errors import ExitCode
from mfbench_gate.comparison import Cell, Change, Comparison, Omission, Side, Verdict


def of(*verdicts, **options):
    cells = [Cell("m", "d", "time", 1.0, 1.0, verdict) for verdict in verdicts]
    return Comparison(Side("main"), Side("HEAD"), cells=cells, **options)


def test_exit_code():
    for comparison, code in [
        (of(), ExitCode.NOTHING_MEASURED),
        (of(Verdict.NO_WORSE, Verdict.TREND), ExitCode.OK),
        (of(Verdict.TREND), ExitCode.OK),
        (of(Verdict.NO_WORSE, Verdict.UNDECIDED), ExitCode.UNDECIDED),
        (of(Verdict.NO_WORSE, Verdict.UNDECIDED, undecided_ok=True), ExitCode.OK),
        (of(Verdict.UNDECIDED, Verdict.WORSE), ExitCode.REGRESSION),
        (of(Verdict.WORSE, undecided_ok=True), ExitCode.REGRESSION),
    ]:
        assert comparison.exit_code is code


@pytest.mark.parametrize(("dataset", "size", "name"), [("d", "n=10", "m/d/n=10"), ("d", "", "m/d"), ("", "", "m")])
def test_the_name_of_a_cell_has_no_empty_parts(dataset, size, name):
    assert Cell("m", dataset, "time", 1.0, 1.0, Verdict.TREND, size=size).name == name


def test_plain_values_are_valid_json():
    comparison = of(Verdict.WORSE)
    comparison.cells += [Cell("m", "d", "time", 0.0, 1.0, Verdict.TREND, ratio=float("inf"), base_values=(0.0, 1.0))]
    comparison.changes, comparison.omissions = [Change("m", "d", 10, 1)], [Omission("m/e", "it failed")]
    plain = json.loads(json.dumps(comparison.as_plain(), allow_nan=False))
    assert (plain["exit_code"], plain["seconds"]) == (4, None)
    assert (plain["cells"][1]["ratio"], plain["cells"][1]["base_values"]) == (None, [0.0, 1.0])
    assert plain["cells"][0]["verdict"] == "worse"
    assert plain["changes"] == [{"method": "m", "dataset": "d", "n_rows": 10, "n_changed": 1}]
