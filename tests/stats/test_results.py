"""`Run`: figures of a stored run, settings that a call overrides, and names that it does not have."""

import numpy as np
import pytest

from mfbench.errors import UnknownNameError, UsageError
from mfbench.stats.results import Run


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
    run.reference = "B"
    assert run.settings.reference == "B"
    assert run.settings.ratio == pytest.approx(1.0)


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
