"""Margin histograms, and the command that draws them."""

import os
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from in_turn import in_turn

from mfbench import Chart, load_dataset, save_chart
from mfbench_similarity import RBS, margin_histogram
from mfbench_similarity.charts import RIGHT, WRONG, draw, main

SVG = "{http://www.w3.org/2000/svg}"


def drawn(rows, folder):
    """Return the texts of the picture of rows of panels."""
    chart = Chart("margins", "Margins", spec=lambda: draw(rows))
    root = ElementTree.parse(save_chart(chart, folder / "margins.svg"))
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def bars_of(content, number):
    """Return the rows of the bars of a panel; the other layer is the line at 0."""
    return content["concat"][number]["layer"][0]["data"]["values"]


def test_a_panel_has_a_bar_for_each_nonempty_bin(make_numbers):
    histogram = margin_histogram(RBS().fit(*make_numbers(0)).margins_)
    other = margin_histogram([1.0, 2.0])
    content = draw([[("one <&", histogram)], [("two", other)]]).to_dict()
    assert content["columns"] == 1
    for number, expected in enumerate((histogram, other)):
        bars, full = bars_of(content, number), np.flatnonzero(expected.counts)
        assert [row["samples"] for row in bars] == expected.counts[full].tolist()
        assert [row["begin"] for row in bars] == expected.edges[:-1][full].tolist()
        assert [row["end"] for row in bars] == expected.edges[1:][full].tolist()
        ends = content["concat"][number]["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert ends[0] <= min(0.0, expected.edges[0]) and ends[1] >= max(0.0, expected.edges[-1])


def test_margins_of_at_most_0_have_another_colour():
    content = draw([[("a", margin_histogram([-2.0, -1.0, 1.0, 2.0, 3.0]))]]).to_dict()
    bars = bars_of(content, 0)
    assert sum(row["samples"] for row in bars if row["side"] == "wrong") == 2
    assert sum(row["samples"] for row in bars if row["side"] == "right") == 3
    colours = content["concat"][0]["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(colours["domain"], colours["range"], strict=True)) == {"wrong": WRONG, "right": RIGHT}


@in_turn(
    "name", ["<img src=x onerror=alert(1)>", "</script>", "{{7*7}}", "a.b[0]", 'it\'s "q" & co', "C:\\new", "__proto__"]
)
def test_titles_are_plain_text(name, tmp_path):
    words = drawn([[(f"RBS on {name}", margin_histogram([-1.0, 2.0, 3.0]))]], tmp_path)
    assert f"RBS on {name}" in words and "33 % at or below 0, mean 1.33" in words


@pytest.mark.parametrize("margins", [[0.0], [1.0, 1.0], [-1.0]])
def test_equal_margins_can_be_drawn(margins, tmp_path):
    assert "a" in drawn([[("a", margin_histogram(margins))]], tmp_path)


@pytest.mark.skipif(not os.environ.get("MFBENCH_DATA_DIR"), reason="needs a mirror of datasets in MFBENCH_DATA_DIR")
def test_command_draws_the_four_datasets(tmp_path):
    assert main([str(tmp_path / "margins.svg"), "--offline"]) == 0
    titles = [t.text for t in ElementTree.parse(tmp_path / "margins.svg").iter(f"{SVG}text")]
    assert [f"{learner} on {name}" in titles for learner in ("RBS", "sRBS") for name in ("iris", "pima")] == [True] * 4


def test_command_draws_both_learners(tmp_path):
    assert main([str(tmp_path / "margins.svg"), "--datasets", "iris", "--offline"]) == 0
    titles = ["".join(t.itertext()) for t in ElementTree.parse(tmp_path / "margins.svg").iter(f"{SVG}text")]
    assert {"Margins of the training samples", "RBS on iris", "sRBS on iris"} <= set(titles)


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
