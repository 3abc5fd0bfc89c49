"""The report of a ground-truth run, from a real one: its tables, notes, exports and charts."""

import csv
import io
import json

import numpy as np
import pytest
from chart_data import data_of
from rich.console import Console

from mfbench.api import run_suite
from mfbench.errors import MfbenchError, UsageError
from mfbench.report.charts.drawing import picture, specification
from mfbench.report.contents import report_of
from mfbench.report.present import write_charts
from mfbench.report.render.files import to_csv, to_json, to_markdown
from mfbench.report.render.terminal import show
from mfbench.report.sections.scores import score_table
from mfbench_protocols.report import detection

SUITE = """
[suite]
name = "own"
seed = 1
[protocol]
kind = "ground-truth"
rounds = 4
[[datasets]]
use = ["xor(n_samples=120, n_noise=6)", "friedman-1(n_samples=80, n_noise=3)", "mux6"]
[[methods]]
label = "RFF"
selector = "relieff"
[[methods]]
label = "RFF*"
selector = "relieff"
top = "relevant"
[[methods]]
label = "LOG"
classifier = "logistic-interactions"
top = 2
[[methods]]
label = "XGB"
selector = "xgboost(n_estimators=5)"
[[methods]]
label = "KNN"
classifier = "knn"
[report]
reference = "RFF"
"""


SIZES = {"relevant": 2, "irrelevant": 6}  # of the features of xor


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ground-truth")
    path = folder / "own.toml"
    path.write_text(SUITE, encoding="utf-8")
    return run_suite(str(path), jobs=1, out=folder / "reports")


def test_a_full_run(run):
    assert len(run.trials) == 3 * 5 * 4
    failures = run.failures
    assert set(failures["method"]) == {"KNN"}
    assert "neither feature_importances_ nor coef_" in failures["error_message"].iloc[0]
    assert run.n_pending == 0


def test_figures_follow_from_what_is_stored(run):
    row = next(r for r in run.trials.to_dict("records") if r["method"] == "RFF*" and r["dataset"].startswith("xor"))
    relevant = set(run.relevant(row["dataset"]))
    selected = set(row["selected"].tolist())
    assert row["detection"] == len(selected & relevant) / len(relevant)
    assert row["false_alarm"] == len(selected - relevant) / (8 - len(relevant))
    mean = run.detection.set_index(["dataset", "method", "figure"])["mean"]
    cell = run.trials[(run.trials["method"] == "RFF*") & (run.trials["dataset"] == row["dataset"])]
    assert mean[row["dataset"], "RFF*", "detection"] == pytest.approx(cell["detection"].mean())


def test_the_truth_is_found(run):
    mean = run.detection.set_index(["dataset", "method", "figure"])["mean"]
    xor = "xor(n_samples=120, n_noise=6)"
    assert mean[xor, "RFF*", "detection"] > 0.8
    assert mean[xor, "LOG", "pair_detection"] == 1
    assert np.isnan(mean[xor, "RFF", "pair_detection"])
    assert np.isnan(mean["mux6", "RFF", "false_alarm"])


def test_same_weights_same_area_whatever_counts_as_found(run):
    area = run.trials.set_index(["dataset", "repeat", "method"])["area"].unstack()
    np.testing.assert_array_equal(area["RFF"], area["RFF*"])
    assert set(run.compare_rounds().query("figure == 'area' and method == 'RFF*'")["verdict"]) == {"no verdict"}, (
        "four rounds"
    )


def test_tables(run):
    (overview,), tables = (section.tables for section in detection(run))
    assert overview.columns[:4] == ["method", "selected by", "area", "detection"]
    assert [row[1].text for row in overview.rows] == ["weight", "rank", "top 2", "weight", "weight"]
    assert [table.title.split(":")[0] for table in tables] == list(dict.fromkeys(run.trials["dataset"]))
    xor = {row[0].text: dict(zip(tables[0].columns, row, strict=True)) for row in tables[0].rows}
    assert "±" in xor["RFF"]["F1"].text
    assert xor["KNN"]["area"].role == "missing"
    assert {row["detection"].role for row in xor.values()} <= {"plain", "missing"}
    assert "pairs" in tables[0].columns
    assert "false alarms" not in tables[2].columns  # every feature of mux6 is relevant


def test_notes_state_which_method_received_what(run):
    text = "\n".join(detection(run)[0].notes)
    assert "exceeds 1e-09 times the largest absolute weight" in text
    assert "Selected by rank (RFF*): these methods only rank features" in text
    assert "XGB received the numbers; RFF, RFF*, LOG, KNN received two classes, cut at the median" in text
    assert "friedman-1" in text and "over 4 independent rounds" in text


def test_the_terminal_and_markdown(run):
    console = Console(file=io.StringIO(), width=160)
    show(report_of(run), console)
    for text in (console.file.getvalue(), to_markdown(report_of(run))):
        assert "mean ± sd over rounds" in text.replace("Area", "area")
        assert "paired t-test over rounds; rounds are independent" in " ".join(text.split())
        assert "4 rounds, each with data of its own" in text


def test_csv_and_json(run):
    rows = list(csv.DictReader(io.StringIO(to_csv(report_of(run, everything=True)))))
    assert len(rows) == 3 * 5 * 8
    assert list(rows[0])[:9] == ["dataset", "method", "figure", "mean", "sd", "low", "high", "rounds", "planned"]
    content = json.loads(to_json(report_of(run, everything=True)))
    assert len(content["detection"]) == len(rows)
    assert {row["figure"] for row in content["compare_rounds"]} >= {"area", "f1"}


def test_pictures(run, tmp_path):
    paths = write_charts(run, tmp_path / "figures")
    assert [path.name for path in paths[:2]] == [
        "rounds-01-xor-n-samples-120-n-noise-6.svg",
        "weights-01-xor-n-samples-120-n-noise-6.svg",
    ]
    assert len([path for path in paths if path.name.startswith(("rounds-0", "weights-0"))]) == 6
    text = paths[0].read_text(encoding="utf-8")
    assert "false-alarm rate" in text and "RFF*" in text
    chart = detection(run)[1].charts[0]
    assert text == picture(chart, "svg", chart.title).decode(), "a chart is the same every time"


def test_charts_have_every_round_and_every_weight(run):
    rounds, weights, *others = (data_of(specification(chart)) for chart in detection(run)[1].charts)
    assert len(others) == 4
    cells = run.trials[(run.trials["dataset"] == "xor(n_samples=120, n_noise=6)") & (run.trials["status"] == "ok")]
    for column, rate in (("detection", "detection rate"), ("false_alarm", "false-alarm rate")):
        own = rounds[rounds["rate"] == rate].set_index(["method", "round"])["value"]
        assert own.to_dict() == cells.set_index(["method", "repeat"])[column].to_dict()
        assert set(own.index.get_level_values("round")) == {0, 1, 2, 3}
    assert weights.groupby(["method", "kind"]).size().to_dict() == {
        (method, kind): number for method in cells["method"].unique() for kind, number in SIZES.items()
    }


def test_the_words_of_the_charts_state_the_means(run):
    rounds, weights = detection(run)[1].charts[-2:]
    mean = run.detection.set_index(["dataset", "method", "figure"])["mean"]
    assert f"RFF {mean['mux6', 'RFF', 'detection']:.2f} and –" in rounds.alt()
    assert "nan" not in rounds.alt() + weights.alt()


def test_there_is_one_row_of_wins_ties_and_losses(run):
    footer = [row[0].text for row in score_table(run).rows[-2:]]
    assert footer == ["W/T/L", "average rank"]


def test_the_overview_comes_first(run):
    first = report_of(run).sections[0]
    assert first.title == "Detection of relevant features"
    assert first.tables[0].title == "Mean over datasets"


def test_pictures_where_nothing_can_be_written(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(MfbenchError, match=r"cannot write .*file"):
        write_charts(run, tmp_path / "file")


def test_pictures_of_another_protocol_are_those_of_its_sections(small_run, tmp_path):
    names = {path.name for path in write_charts(small_run, tmp_path)}
    assert {"wins-ties-losses.svg", "score-time.svg", "time-profile.svg"} <= names
    assert not [name for name in names if name.startswith(("rounds-", "weights-"))]


def test_pictures_of_a_run_without_results(write_run, tmp_path):
    with pytest.raises(UsageError, match="there is nothing to draw"):
        write_charts(write_run({("d", "A"): [None] * 5}), tmp_path)


def test_other_protocols_have_none_of_it(small_run):
    assert not small_run.detects
    assert not any(section.has_content for section in detection(small_run))
    assert not len(small_run.detection) and not len(small_run.compare_rounds())
