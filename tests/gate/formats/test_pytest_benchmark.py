"""pytest-benchmark itself reads the file and shows both sides of each cell in one group."""

import json
from dataclasses import replace

import numpy as np
import pytest
from pytest_benchmark import cli
from pytest_benchmark.stats import Stats

from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.formats import to_pytest_benchmark
from mfbench_gate.readers import read_benchmark_file


@pytest.fixture
def path(comparison, tmp_path):
    path = tmp_path / "comparison.json"
    path.write_text(to_pytest_benchmark(comparison))
    return path


def test_pytest_benchmark_reads_it(path, monkeypatch, capsys):
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr("sys.argv", ["pytest-benchmark", "compare", str(path), "--group-by=group"])
    cli.main()
    text = capsys.readouterr().out
    assert "benchmark 'RFF/wine': 2 tests" in text
    assert "RFF/wine[base]" in text
    assert "RFF/wine[head]" in text
    assert "(1.20)" in text  # head over base, by the medians
    assert "accuracy" not in text


def test_the_statistics_are_those_of_pytest_benchmark(path):
    stats = json.loads(path.read_text())["benchmarks"][1]["stats"]
    own = Stats()
    own.data = stats["data"]
    expected = own.as_dict()
    for name in ("min", "max", "mean", "stddev", "rounds", "median", "total", "ops"):
        assert stats[name] == pytest.approx(expected[name]), name
    assert set(expected) | {"data", "iterations"} == set(stats)


def test_outliers_lie_beyond_the_quartiles(comparison):
    values = (*np.linspace(1.0, 2.0, 20), 50.0)
    comparison.cells = [replace(comparison.cells[0], head_values=values)]
    stats = json.loads(to_pytest_benchmark(comparison))["benchmarks"][1]["stats"]
    assert (stats["outliers"], stats["iqr_outliers"], stats["ld15iqr"], stats["hd15iqr"]) == ("1;1", 1, 1.0, 2.0)


def test_our_own_reader_reads_it(path):
    result = read_benchmark_file(path)
    assert list(result.times[MeasuredCase("RFF/wine[head]")].values()) == [0.011, 0.012, 0.013]
    assert list(result.times[MeasuredCase("1NN/wine[head]")].values()) == [0.0101]
    assert result.side.version == "4567def"


def test_hostile_names(hostile):
    json.loads(to_pytest_benchmark(hostile))
