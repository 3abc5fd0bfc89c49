"""How methods weigh pairs, as frames: by hand, and in a run from end to end."""

import numpy as np
import pandas as pd
import pytest

import mfbench
from mfbench.model.trials import Interactions
from mfbench.stats.detection import interaction_frame, true_interactions

DATASETS = [
    {"label": "d", "feature_names": ["a", "b", "c", "e"], "interactions": [[1, 0], [2, 3]]},
    {"label": "plain", "feature_names": ["a", "b"], "interactions": None},
]


def row(dataset, fold, pairs, ranks, norm=2.0, p_values=None, method="m"):
    found = Interactions(
        np.array(list(pairs)), np.array(list(pairs.values())), np.array(ranks), p_values and np.array(p_values), norm, 6
    )
    return {"dataset": dataset, "method": method, "repeat": 0, "fold": fold, "interactions": found}


ROWS = [
    row("d", 0, {(0, 1): -1.0, (1, 2): 0.5, (2, 3): 0.2}, [1, 2, 3]),
    row("d", 1, {(1, 2): 0.5, (0, 1): 0.4, (2, 3): 0.0}, [1, 2, 6], norm=1.0),
    row("d", 0, {(0, 1): 3.0, (2, 3): 1.0}, [1, 2], p_values=[0.001, 0.5], method="p"),
    row("plain", 0, {(0, 1): 1.0}, [1]),
    {"dataset": "d", "method": "silent", "repeat": 0, "fold": 0, "interactions": None},
]


def test_one_row_for_each_pair_with_names_and_truth():
    frame = interaction_frame(ROWS, DATASETS)
    assert len(frame) == 9
    first = frame.iloc[0]
    assert (first["first"], first["second"], first["value"], first["share"], first["true"]) == ("a", "b", -1, 0.5, True)
    assert frame.loc[frame["dataset"] == "plain", "true"].tolist() == [False]
    assert frame["p_value"].notna().sum() == 2


def test_true_pairs_by_dataset_and_method():
    found = true_interactions(interaction_frame(ROWS, DATASETS)).set_index("method")
    assert list(found.index) == ["m", "p"]
    assert found.loc["m", "share"] == pytest.approx(np.mean([0.5, 0.1, 0.4, 0.0]))
    assert (found.loc["m", "rank"], found.loc["m", "folds"]) == (1.5, 2)
    assert (found.loc["m", "true_pairs"], found.loc["m", "n_pairs"]) == (2, 6)
    assert np.isnan(found.loc["m", "p_value"])
    assert found.loc["p", "p_value"] == pytest.approx(0.2505)


def test_no_weights_at_all():
    frame = interaction_frame([row("d", 0, {(0, 1): 0.0, (2, 3): 0.0}, [6, 6], norm=0.0)], DATASETS)
    assert frame["share"].tolist() == [0.0, 0.0]
    assert len(true_interactions(interaction_frame([], DATASETS))) == 0


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    suite = tmp_path_factory.mktemp("suite") / "pairs.toml"
    suite.write_text(
        '[suite]\nname = "pairs"\n[protocol]\nfolds = 3\n'
        '[[datasets]]\nuse = ["xor(n_samples=800, flip=0.1, n_noise=4)", "immigrate-noise(n_noise=18)", "iris"]\n'
        '[[methods]]\nlabel = "LOG"\nclassifier = "logistic-interactions"\n'
        '[[methods]]\nlabel = "KNN"\nclassifier = "knn"\n',
        encoding="utf-8",
    )
    return mfbench.run_suite(str(suite), out=tmp_path_factory.mktemp("out"), jobs=1)


def test_a_run_records_what_its_methods_say(run):
    assert set(run.interactions["method"]) == {"LOG"}
    assert set(run.interactions["dataset"]) == {
        "xor(n_samples=800, flip=0.1, n_noise=4)",
        "immigrate-noise(n_noise=18)",
        "iris",
    }
    row, among_many = run.true_interactions.to_dict("records")
    assert (row["dataset"], row["n_pairs"], row["true_pairs"], row["folds"]) == (
        "xor(n_samples=800, flip=0.1, n_noise=4)",
        15,
        1,
        3,
    )
    assert row["rank"] == 1.0 and row["p_value"] < 0.05
    # Of 190 pairs 64 are recorded and the true one, wherever it ranks.
    assert (among_many["n_pairs"], among_many["folds"]) == (190, 3)
    pd.testing.assert_frame_equal(mfbench.load_run(run.path).interactions, run.interactions)
