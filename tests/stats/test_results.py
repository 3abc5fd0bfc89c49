"""`Run`: what was recorded, its figures, settings that a call or a new run changes, and names that it does not have."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from toy_protocols import completed, recorded

from mfbench.errors import UnknownNameError, UsageError
from mfbench.model.trials import Candidate, Status, TrialResult
from mfbench.stats.results import Run
from mfbench_protocols.plugin import DETECTION_METRICS


@pytest.fixture
def run(run_folder):
    return Run(run_folder)


def test_scores_and_failures(run):
    scores = run.scores.set_index("method")
    assert scores["mean"].to_dict() == {"A": 1.0, "B": 0.5}
    assert scores["complete"].to_dict() == {"A": True, "B": False}
    assert run.failures[["method", "fold", "error_type"]].to_numpy().tolist() == [["B", 1, "ValueError"]]
    assert (run.n_pending, run.folds_per_dataset) == (0, 2)


def test_predictions_and_decisions(run):
    assert run.predictions("d", "B")["prediction"].tolist() == [0, 0]
    assert run.binary_decisions("d", "A")["decision"].tolist() == [0, 1, 1, 1]
    assert [right.tolist() for right in run.decisions("d", "B")] == [[True, False]]


def test_features_and_sizes(run):
    assert run.relevant("d") == [0, 2]
    assert run.selected.set_index("method")["folds"].to_dict() == {"A": 2, "B": 1}
    assert run.sizes[["n_train", "n_test", "n_features"]].to_numpy().tolist() == [[2, 2, 3], [2, 2, 3]]
    assert run.largest_classes == {"d": 0.75}


def test_the_first_method_is_the_reference_unless_another_is_set(run):
    assert run.settings.reference == "A"
    assert run.replace(reference="B").settings.reference == "B"
    assert run.settings.ratio == pytest.approx(1.0)


def test_replaced_settings_leave_the_run_as_it_is(write_run):
    def cell(accuracy, mcc):
        return [{"accuracy": accuracy + fold / 100, "mcc": mcc - fold / 100} for fold in range(5)]

    run = write_run({("d", "A"): cell(0.9, 0.5), ("d", "B"): cell(0.8, 0.7)}, metrics=("accuracy", "mcc"))
    scores, verdicts, settings = run.scores.copy(), run.wins_ties_losses(), run.settings
    other = run.replace(reference="B", metric="mcc", remarks=["Another."], claims=("claim",))
    assert (other.settings.reference, other.settings.metric) == (other.reference, other.metric) == ("B", "mcc")
    assert (other.path, other.remarks, other.claims) == (run.path, ["Another."], ("claim",))
    assert other.wins_ties_losses()["method"].tolist() == ["A"]
    assert other.scores["mean"].tolist() == pytest.approx([0.48, 0.68])
    assert other.replace(reference=None, metric=None).settings == run.settings == settings
    assert (run.reference, run.metric, list(run.remarks), run.claims) == (None, None, [], ())
    pd.testing.assert_frame_equal(run.scores, scores)
    pd.testing.assert_frame_equal(run.wins_ties_losses(), verdicts)
    for changes in ({"reference": "Z"}, {"metric": "roc_auc"}):
        with pytest.raises(UnknownNameError, match="of this run: choose from"):
            run.replace(**changes)
    with pytest.raises(AttributeError):
        run.reference = "B"


def test_a_restricted_run_keeps_its_settings_and_leaves_the_whole_as_it_is(write_run):
    cells = {(dataset, method): 0.5 for dataset in ("d", "e") for method in "AB"}
    run = write_run(cells | {("f", "C"): 0.7}).replace(reference="B", bundle=Path("claim.zip"))
    whole = run.summary()
    part = run.restricted(["d", "e"])
    assert part.outcomes["dataset"].unique().tolist() == ["d", "e"]
    assert (part.reference, part.bundle, part.scores["method"].tolist()) == ("B", run.bundle, ["A", "B"] * 2)
    assert run.restricted(["f"]).settings.reference == "C"
    assert part.restricted(["e"]).scores["dataset"].tolist() == ["e", "e"]
    assert run.outcomes["dataset"].unique().tolist() == ["d", "e", "f"]
    pd.testing.assert_frame_equal(run.summary(), whole)


def test_a_summary_is_a_copy(run):
    table = run.summary()
    table.loc[0, "mean"] = -1.0
    assert (run.summary()["mean"].dropna() >= 0).all()


def test_a_policy_for_missing_cells_overrides_the_suites(run):
    assert np.isnan(run.overall().ranks.to_dict().get("B", np.nan))
    assert run.overall(missing="worst-rank").ranks.to_dict() == {"A": 1.0, "B": 2.0}
    assert run.overall(missing="impute-dummy").completed.scores.loc["d", "B"] == 0.75


def test_a_run_that_predicts_has_no_detection(run):
    assert not run.detects
    assert len(run.detection) == len(run.compare_rounds()) == len(run.interactions) == 0


def test_unknown_names_are_answered_with_the_names_of_the_run(run):
    for call in (
        lambda: run.predictions("d", "Z"),
        lambda: run.binary_decisions("e", "A"),
        lambda: run.relevant("e"),
        lambda: run.summary(metric="mcc"),
        lambda: run.summary(test="t"),
    ):
        with pytest.raises(UnknownNameError, match="choose from"):
            call()
    with pytest.raises(UsageError, match="alpha"):
        run.summary(alpha=2)


def test_test_rows_and_measured_scores(run):
    rows = run.test_rows("d")
    assert {fold: test.tolist() for fold, test in rows.items()} == {(0, 0): [0, 1], (0, 1): [2, 3]}
    assert run.measured == ["accuracy"]
    with pytest.raises(UnknownNameError, match="unknown dataset"):
        run.test_rows("e")


def result(selected=None, **fields):
    n_selected = 0 if selected is None else len(selected)
    stored = None if selected is None else np.array(selected, dtype=np.int64)
    return TrialResult(key="", scores={"accuracy": 0.9}, n_selected=n_selected, selected=stored, **fields)


def test_the_datasets_of_each_collection(write_run):
    cells = {(dataset, "A"): 0.5 for dataset in ("d", "e", "f")}
    run = write_run(cells, collections={"paper": ["f", "d"], "other": ["e"], "absent": ["g"]})
    assert {name: set(datasets) for name, datasets in run.collections.items()} == {"paper": {"d", "f"}, "other": {"e"}}
    assert write_run(cells).collections == {}


def test_names_of_features(write_run):
    run = write_run({("d", "A"): 0.5}, features=("width", "length", "3"))
    assert run.feature_names("d") == ["width", "length", "3"]
    with pytest.raises(UnknownNameError, match="unknown dataset 'z' of this run: choose from d"):
        run.feature_names("z")


class TestSelectionCounts:
    def test_each_feature_is_counted_over_successful_trials(self, write_run, failure):
        picked = [result([0, 2]), result([2]), failure(), result([0, 2]), None]
        run = write_run({("d", "A"): picked, ("d", "B"): [result([1])] * 5}, features=("u", "v", "w", "x"))
        counts, trials = run.selection_counts["d", "A"]
        assert (counts.tolist(), trials) == ([2, 0, 3, 0], 3)
        counts, trials = run.selection_counts["d", "B"]
        assert (counts.tolist(), trials) == ([0, 5, 0, 0], 5)

    def test_trials_without_a_stored_selection_do_not_count(self, write_run):
        run = write_run({("d", "A"): [result([1]), result(None)], ("d", "B"): 0.5}, folds=2)
        counts, trials = run.selection_counts["d", "A"]
        assert (counts.tolist(), trials) == ([0, 1], 1)
        assert ("d", "B") not in run.selection_counts

    def test_an_empty_selection_counts_as_a_trial(self, write_run):
        run = write_run({("d", "A"): [result([]), result([1])]}, folds=2)
        counts, trials = run.selection_counts["d", "A"]
        assert (counts.tolist(), trials) == ([0, 1], 2)

    def test_counts_agree_with_the_selections_of_the_trials(self, write_run):
        rng = np.random.default_rng(0)
        sets = [np.flatnonzero(rng.random(6) < 0.5) for _ in range(5)]
        run = write_run({("d", "A"): [result(s) for s in sets]}, features=tuple("uvwxyz"))
        stored = run.trials["selected"]
        assert run.selection_counts["d", "A"][0].tolist() == [sum(f in s for s in stored) for f in range(6)]


class TestChosenParameters:
    def test_one_entry_for_each_tuned_trial(self, write_run, failure):
        cells = {
            ("d", "A"): [result(chosen={"k": 3}), result(chosen={"k": 1}), failure(), None, result(chosen={})],
            ("e", "A"): [result(chosen={"k": 5, "power": 0.5})] * 5,
            ("d", "B"): 0.5,
        }
        found = list(write_run(cells, selection={"A": "nested"}).chosen_parameters)
        assert found == [
            (("d", "A"), {"k": 3}),
            (("d", "A"), {"k": 1}),
            *[(("e", "A"), {"k": 5, "power": 0.5})] * 5,
        ]

    def test_where_the_outer_folds_choose_it_is_the_point_that_they_chose(self, write_run):
        def fold(*scores):
            points = [
                Candidate(chosen={"k": k}, scores={"accuracy": score}, n_selected=1, selected=np.array([k]))
                for k, score in enumerate(scores)
            ]
            return TrialResult(key="", candidates=points)

        # Over both folds the second point is the best, although the first is on one of them.
        run = write_run({("d", "A"): [fold(0.9, 0.8), fold(0.5, 0.7)]}, folds=2, selection={"A": "per-dataset"})
        assert list(run.chosen_parameters) == [(("d", "A"), {"k": 1})] * 2
        assert run.selection_counts["d", "A"][0].tolist() == [0, 2]
        assert run.scores["mean"].tolist() == [pytest.approx(0.75)]


def test_failures_and_trials_that_have_not_run(write_run, failure):
    lost = TrialResult(key="", status=Status.TIMEOUT)
    run = write_run({("d", "A"): [0.9, failure(), None], ("d", "B"): [lost, None, 0.5]}, folds=3)
    assert run.n_pending == 2
    assert run.failures[["method", "fold", "status"]].to_numpy().tolist() == [["A", 1, "error"], ["B", 0, "timeout"]]
    assert run.failures["error_message"][0] == "no way"


def test_what_the_suite_recorded(write_run):
    run = write_run({("d", "A"): 0.5, ("d", "B"): 0.5}, selection={"B": "nested"}, metrics=("mcc", "accuracy"))
    assert run.methods == {"A": "a → knn", "B": "b → knn"}
    assert run.tuned == {"B": "nested"}
    assert (run.metrics, run.measured) == (["mcc", "accuracy"], ["mcc", "accuracy"])
    assert (run.folds_per_dataset, run.detects) == (5, False)
    assert list(run.remarks) == []
    assert repr(run) == f"Run({str(run.path)!r})"


def test_a_run_without_trials(write_run):
    run = write_run({}, left_out=[("gone", "no network")])
    assert (run.folds_per_dataset, run.n_pending, len(run.failures)) == (0, 0, 0)
    assert run.left_out == {"gone": "no network"}
    assert run.selection_counts == run.collections == {}
    assert list(run.chosen_parameters) == []


def test_detection_is_measured_in_its_own_scores(write_run):
    run = write_run({("d", "A"): 0.5})
    protocol = completed(kind="ground-truth", rounds=5, metrics=["detection"])
    run.meta = run.meta.model_copy(update=recorded(protocol))
    assert run.detects
    assert run.metrics == ["detection"]
    assert run.measured == list(DETECTION_METRICS)


def test_shares_of_the_largest_class(write_run):
    run = write_run({("d", "A"): 0.5, ("e", "A"): 0.5}, truths={"d": [0, 1, 2, 2], "e": [1, 1, 1, 1]})
    assert run.largest_classes == {"d": 0.5, "e": 1.0}
