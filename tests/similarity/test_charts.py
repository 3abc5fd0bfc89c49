"""The command that draws margin histograms."""

import os
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from mfbench import load_dataset
from mfbench_similarity import (
    RBS,
    margin_histogram,
)
from mfbench_similarity.charts import draw, main

SVG = "{http://www.w3.org/2000/svg}"


def test_chart_has_a_bar_for_each_nonempty_bin(make_numbers):
    histogram = margin_histogram(RBS().fit(*make_numbers(0)).margins_)
    other = margin_histogram([1.0, 2.0])
    picture = ElementTree.fromstring(draw([[("one <&", histogram)], [("two", other)]]))
    bars = [r for r in picture.iter(f"{SVG}rect") if r.get("x")]
    assert len(bars) == np.count_nonzero(histogram.counts) + np.count_nonzero(other.counts)
    x, y, width, height = (np.array([float(r.get(name)) for r in bars]) for name in ("x", "y", "width", "height"))
    assert (x >= 0).all()
    assert (x + width <= float(picture.get("width"))).all()
    assert (y + height <= float(picture.get("height"))).all()
    assert "one <&" in [t.text for t in picture.iter(f"{SVG}text")]


@pytest.mark.skipif(not os.environ.get("MFBENCH_DATA_DIR"), reason="needs a mirror of datasets in MFBENCH_DATA_DIR")
def test_command_draws_the_four_datasets(tmp_path):
    assert main([str(tmp_path / "margins.svg"), "--offline"]) == 0
    titles = [t.text for t in ElementTree.parse(tmp_path / "margins.svg").iter(f"{SVG}text")]
    assert [f"{learner} on {name}" in titles for learner in ("RBS", "sRBS") for name in ("iris", "pima")] == [True] * 4


def test_command_reports_errors(tmp_path, capsys):
    assert main([str(tmp_path / "x.svg"), "--datasets", "iriss", "--offline"]) == 2
    assert "did you mean 'iris'" in capsys.readouterr().err
    assert main([str(tmp_path / "missing" / "x.svg"), "--datasets", "iris", "--offline"]) == 1
    path = tmp_path / "missing" / "x.svg"
    assert capsys.readouterr().err == f"error: cannot write {path}: No such file or directory\n"


@pytest.mark.parametrize("option", [["--n-neighbors", "0"], ["--beta", "nan"], ["--l2", "-1"]])
def test_command_rejects_invalid_parameters(tmp_path, capsys, option):
    assert main([str(tmp_path / "x.svg"), "--datasets", "iris", "--offline", *option]) == 2
    assert option[0].strip("-").replace("-", "_") in capsys.readouterr().err
    assert not (tmp_path / "x.svg").exists()


def test_command_rejects_categories(tmp_path, capsys, monkeypatch):
    data = replace(load_dataset("iris", offline=True), categorical=np.array([True, False, False, False]))
    monkeypatch.setattr("mfbench.load_dataset", lambda *_, **__: data)
    assert main([str(tmp_path / "x.svg"), "--datasets", "iris"]) == 2
    assert "iris has categories" in capsys.readouterr().err
