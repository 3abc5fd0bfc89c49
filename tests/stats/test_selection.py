"""The choice by a dataset's outer folds: against the definition, with holes, and in a run from end to end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mfbench
from mfbench.model.evaluation import Score
from mfbench.model.trials import Candidate
from mfbench.stats.selection import pick_candidates


def candidate(k, score, **more):
    return Candidate(chosen={"k": k}, scores={} if score is None else {"accuracy": score}, **more)


def rows_of(folds, dataset="d", method="m"):
    """One trial per fold; each fold maps grid points to scores. None: not run."""
    return [
        {
            "dataset": dataset,
            "method": method,
            "fold": number,
            "status": None if fold is None else "ok",
            "tune_wall": 10.0,
            "candidates": [candidate(k, score) for k, score in (fold or {}).items()],
        }
        for number, fold in enumerate(folds)
    ]


def pick(rows, greater=True):
    return pick_candidates(rows, "accuracy", Score(greater_is_better=greater))


def chosen(rows, greater=True):
    return [row.get("chosen", {}).get("k") for row in pick(rows, greater)]


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=6))
def test_one_point_for_all_folds_the_best_mean_the_first_among_equals(table):
    found = pick(rows_of([dict(enumerate(scores)) for scores in table]))
    best = int(np.argmax(np.round(np.mean(table, axis=0), 12)))
    assert [row["chosen"] for row in found] == [{"k": best}] * len(table)
    assert [row["scores"]["accuracy"] for row in found] == [scores[best] for scores in table]


def test_means_decide_and_not_the_folds():
    assert chosen(rows_of([{1: 1.0, 2: 0.9}, {1: 0.0, 2: 0.9}])) == [2, 2]


def test_what_should_be_small_is_small():
    assert chosen(rows_of([{1: 1.0, 2: 0.9}, {1: 0.0, 2: 0.9}]), greater=False) == [1, 1]


def test_datasets_and_methods_choose_on_their_own():
    rows = rows_of([{1: 0.5, 2: 0.9}]) + rows_of([{1: 0.9, 2: 0.5}], "e") + rows_of([{1: 0.8, 2: 0.5}], method="n")
    assert chosen(rows) == [2, 1, 1]


def test_folds_that_are_missing_take_no_part():
    found = pick(rows_of([{1: 0.5, 2: 0.9}, None, {1: 0.5, 2: 0.9}]))
    assert [row.get("chosen") for row in found] == [{"k": 2}, None, {"k": 2}]
    assert [row["status"] for row in found] == ["ok", None, "ok"]


def test_a_point_must_have_succeeded_everywhere():
    assert chosen(rows_of([{1: 0.5, 2: 0.9}, {1: 0.5}])) == [1, 1]
    failed = pick(rows_of([{1: 0.5}, {2: 0.9}]))
    assert [(row["status"], row["error_type"]) for row in failed] == [("error", "SelectionError")] * 2
    assert "succeeded on every fold" in failed[0]["error_message"]


def test_a_fold_without_a_score_for_any_point_does_not_end_the_choice():
    assert chosen(rows_of([{1: np.nan, 2: np.nan}, {1: 0.5, 2: 0.9}])) == [2, 2]
    assert chosen(rows_of([{1: np.nan, 2: np.nan}])) == [1]
    assert chosen(rows_of([{1: None, 2: None}])) == [1]


def test_time_counts_once():
    rows = rows_of([{1: 0.5}])
    rows[0]["candidates"] = [candidate(1, 0.5, select_wall=1.0, fit_wall=2.0, predict_wall=3.0)]
    (row,) = pick(rows)
    assert (row["tune_wall"], row["select_wall"], row["fit_wall"], row["predict_wall"]) == (4.0, 1.0, 2.0, 3.0)


def test_rows_without_candidates_stay():
    row = {"dataset": "d", "method": "m", "status": "ok", "chosen": {"k": 9}, "candidates": []}
    assert pick([row]) == [{name: value for name, value in row.items() if name != "candidates"}]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    suite = tmp_path_factory.mktemp("suite") / "both.toml"
    method = '[[methods]]\nlabel = "{}"\nclassifier = "knn"\ntune = {{ n_neighbors = [1, 5, 25] }}\n'
    suite.write_text(
        '[suite]\nname = "both"\n[protocol]\nfolds = 4\n[[datasets]]\nuse = ["iris"]\n'
        + method.format("nested")
        + method.format("papers")
        + 'selection = "per-dataset"\n'
        + "".join(f'[[methods]]\nlabel = "{k}"\nclassifier = "knn(n_neighbors={k})"\n' for k in (1, 5, 25)),
        encoding="utf-8",
    )
    return mfbench.run_suite(str(suite), out=tmp_path_factory.mktemp("out"), jobs=1)


def test_a_run_reports_the_point_that_is_best_over_all_folds(run):
    means = run.scores.set_index("method")["mean"]
    assert means["papers"] == max(means[name] for name in ("1", "5", "25"))
    trials = run.trials[run.trials["method"] == "papers"]
    (best,) = {str(chosen["classifier.n_neighbors"]) for chosen in trials["chosen"]}
    same = run.trials[run.trials["method"] == best]
    assert trials["accuracy"].tolist() == same["accuracy"].tolist()
    assert run.predictions("iris", "papers").equals(run.predictions("iris", best))
    assert run.tuned == {"nested": "nested", "papers": "per-dataset"}
    assert run.methods["papers"].startswith("knn [tunes n_neighbors ")
    assert run.methods["papers"].endswith("; per dataset]")
