"""Statements of a paper: their verdicts by rule, on folds and on rounds, and the success index beside them."""

import json

import numpy as np
import pytest

from mfbench.api import run_suite
from mfbench.host.registry import load_registry
from mfbench.report.render.files import to_json, to_markdown
from mfbench_papers.dossier import dossier_of
from mfbench_papers.paper import Paper, Statement
from mfbench_papers.runs import stored_runs, write_bundle
from mfbench_papers.statements import answer_of, evaluate, verdict_of


@pytest.mark.parametrize(
    ("relation", "low", "high", "verdict"),
    [
        ("above", 0.01, 0.2, "supported"),
        ("above", -0.01, 0.2, "undecided"),
        ("above", -0.2, 0.01, "refuted"),  # any advantage is below the margin
        ("below", -0.2, -0.01, "supported"),
        ("below", -0.01, 0.2, "refuted"),
        ("below", -0.2, 0.2, "undecided"),
        ("equal", -0.01, 0.01, "supported"),
        ("equal", 0.0, 0.0, "supported"),
        ("equal", -0.01, 0.03, "undecided"),
        ("equal", 0.03, 0.05, "refuted"),
        ("equal", -0.05, -0.03, "refuted"),
        ("above", np.nan, np.nan, "undecided"),
    ],
)
def test_an_interval_decides_a_relation(relation, low, high, verdict):
    assert verdict_of(relation, low, high, margin=0.02) == verdict


def statement(**fields):
    base = {"text": "so", "suite": "own", "datasets": ["d"], "method": "A", "figure": "accuracy", "relation": "above"}
    return Statement.model_validate(base | fields)


def test_folds_are_compared_by_the_corrected_test(write_run):
    scores = {"A": [0.9, 0.92, 0.91, 0.9, 0.93], "B": [0.7, 0.71, 0.7, 0.72, 0.7], "C": [0.9, 0.7, 0.99, 0.8, 0.95]}
    run = write_run({("d", method): values for method, values in scores.items()})
    frame = evaluate(
        [
            statement(to="B"), statement(to="C"), statement(to="B", relation="below"), statement(to="gone"),
            statement(to="B", datasets=["e"]), statement(to="B", figure="mcc"), statement(to=0.8),
        ],
        {"own": run},
    )  # fmt: skip
    absent = "not run"  # a number is compared with generated data only
    assert list(frame["verdict"]) == ["supported", "undecided", "refuted", absent, absent, absent, absent]
    own = run.wins_ties_losses(reference="A").set_index("method").loc["B"]
    assert frame.iloc[0][["difference", "low", "high"]].tolist() == own[["difference", "low", "high"]].tolist()
    assert answer_of(frame) == ["Statements, 3 tests: 1 supported, 1 refuted, 1 undecided."]
    assert set(evaluate([statement(to="B")], {})["verdict"]) == {absent}


SUITE = """
[suite]
name = "own"
[protocol]
kind = "ground-truth"
rounds = 6
[[datasets]]
use = ["xor(n_samples=60, n_noise=6)", "mux6"]
[[methods]]
label = "all"
selector = "random"
top = "all"
[[methods]]
label = "guess"
selector = "random"
top = 2
"""


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rounds")
    (folder / "own.toml").write_text(SUITE, encoding="utf-8")
    return run_suite(str(folder / "own.toml"), jobs=1, out=folder / "reports")


PAPER = {
    "title": "Own (2026)",
    "citation": "A. Author",
    "protocol": "Rounds.",
    "runs": [{"suite": "own", "quick": {}, "whole": {}}],
    "statements": [
        {"text": "All are all", "suite": "own", "datasets": ["xor(n_samples=60, n_noise=6)"], "method": "all",
         "figure": "detection", "relation": "equal", "to": 1},
        {"text": "A guess has fewer false alarms", "suite": "own", "datasets": ["xor(n_samples=60, n_noise=6)"],
         "method": "guess", "figure": "false_alarm", "relation": "below", "to": "all"},
    ],
}  # fmt: skip


def test_rounds_are_compared_with_numbers_and_methods_and_a_dossier_shows_it(rounds):
    report = dossier_of("own-2026", Paper.model_validate(PAPER), {"own": rounds}, load_registry(only=["datasets"]))
    assert report.answer == ["Statements, 2 tests: 2 supported, 0 refuted, 0 undecided."]
    tables = {section.title: section.tables for section in report.sections if section.tables}
    assert list(tables) == ["Statements", "Success index of own"]
    (row,) = [[cell.text for cell in row] for row in tables["Success index of own"][0].rows]
    # All features are selected: 100 (1 - a) with a = 2/6. mux6 has no irrelevant features, so no index.
    assert row[0].startswith("xor") and row[1] == "67"
    assert (
        "All are all: detection of all equal to 1 within 0.02" in to_markdown(report)
        and len(json.loads(to_json(report))["statements"]) == 2
    )


def test_few_equal_rounds_decide_nothing(tmp_path):
    (tmp_path / "own.toml").write_text(SUITE.replace("rounds = 6", "rounds = 5"), encoding="utf-8")
    run = run_suite(str(tmp_path / "own.toml"), jobs=1, out=tmp_path / "reports")
    frame = evaluate(Paper.model_validate(PAPER).statements, {"own": run})
    assert frame.iloc[0]["difference"] == 0 and frame.iloc[0]["verdict"] == "undecided"


def test_a_bundle_of_a_dossier_gives_the_dossier_again(rounds, tmp_path):
    paper, registry = Paper.model_validate(PAPER), load_registry(only=["datasets"])
    for _ in range(2):  # the second time from the bundles that the first one wrote, into the same folder
        runs = stored_runs(paper, sorted(tmp_path.glob("*.zip")) or [rounds.path], tmp_path)
        dossier = dossier_of("own-2026", paper, runs, registry)
        write_bundle(dossier, runs, tmp_path)
        written = sorted(path.name for path in tmp_path.iterdir())
        assert written == ["dossier.html", "dossier.json", "dossier.tex", "own.zip"]
        assert "All are all" in (tmp_path / "dossier.tex").read_text(encoding="utf-8")
        assert dossier.answer == ["Statements, 2 tests: 2 supported, 0 refuted, 0 undecided."]
