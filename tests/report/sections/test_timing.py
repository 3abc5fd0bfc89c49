"""Times to fit, of the protocol timing alone."""

import pytest
from chart_data import data_of

import mfbench
from mfbench.report.charts.drawing import specification
from mfbench_protocols.report import COLUMNS, timing

SUITE = """
[suite]
name = "own"
[protocol]
kind = "timing"
repeats = 1
steps = 3
[[datasets]]
use = ["iris"]
[[methods]]
label = "1NN"
classifier = "knn(n_neighbors=1)"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timing")
    (folder / "own.toml").write_text(SUITE, encoding="utf-8")
    return mfbench.run_suite(str(folder / "own.toml"), out=folder / "reports", jobs=1)


def test_three_tables_and_their_explanation(run):
    section = timing(run)
    assert [table.title for table in section.tables] == list(COLUMNS.values())
    for table in section.tables:
        assert table.columns == ["dataset", "size", "1NN"]
        assert [cell.text for cell in table.rows[0][:2]] == ["iris", "120 × 4"]
    assert "the smallest of 1 subsamples of a size" in section.notes[0]
    assert section.data["timing"]() is run.timing


def test_the_chart_has_the_times_of_the_table(run):
    (chart,) = timing(run).charts
    rows = data_of(specification(chart))
    largest = rows.loc[rows.groupby("axis")["size"].idxmax()].set_index("axis")
    assert largest["size"].to_dict() == {"rows": 120, "features": 4}
    assert largest["seconds"].tolist() == pytest.approx([run.timing["seconds"].item()] * 2)
    assert chart.alt().startswith("Exponents of the time to fit in rows and in features: 1NN on iris ")


def test_other_protocols_have_none_of_it(small_run):
    section = timing(small_run)
    assert not section.has_content
    assert section.data["timing"]() == []
