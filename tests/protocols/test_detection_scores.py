"""What counts as found, and the figures from it: cases by hand, and the curve against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc, f1_score, precision_score, roc_auc_score, roc_curve

from mfbench.model.trials import Interactions
from mfbench_protocols.detection import curve_area, detection_scores, pair_detection, select_features

WEIGHTS = np.array([0.5, 1e-12, -0.2, 0.1, 0.5])


def test_rules(subtests):
    for top, found in [
        ("positive", [0, 3, 4]),
        ("relevant", [0, 4]),
        ("all", [0, 1, 2, 3, 4]),
        (1, [0]),
        (3, [0, 3, 4]),
        (9, [0, 1, 2, 3, 4]),
        (0.5, [0, 3, 4]),
        (0.2, [0]),
    ]:
        with subtests.test(top=top, found=found):
            assert select_features(WEIGHTS, top, 1e-9, 2).tolist() == found


def test_threshold_is_a_share_of_the_largest_weight(subtests):
    for scale in [1e-300, 1.0, 1e300]:
        with subtests.test(scale=scale):
            assert select_features(WEIGHTS * scale, "positive", 0.3, 2).tolist() == [0, 4]


def test_threshold_looks_at_the_largest_absolute_weight():
    assert select_features(np.array([-1.0, 0.05, 0.2]), "positive", 0.1, 1).tolist() == [2]


@pytest.mark.parametrize("weights", [np.zeros(3), np.array([-1.0, -2.0])])
def test_nothing_found_is_an_answer(weights):
    found = select_features(weights, "positive", 1e-9, 1)
    scores = detection_scores(found, weights, [0])
    assert len(found) == 0
    assert (scores["detection"], scores["false_alarm"], scores["fdp"]) == (0, 0, 0)
    assert (scores["precision"], scores["f1"]) == (0, 0)


def test_a_threshold_of_nothing_still_leaves_out_zeros():
    assert select_features(np.array([0.0, 1.0]), "positive", 0.0, 1).tolist() == [1]


def test_figures_by_hand():
    weights = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    # found 0, 2, 5; relevant 0, 1, 2
    scores = detection_scores(np.array([0, 2, 5]), weights, [0, 1, 2])
    assert scores == {
        "detection": pytest.approx(2 / 3),
        "false_alarm": pytest.approx(1 / 3),
        "fdp": pytest.approx(1 / 3),
        "precision": pytest.approx(2 / 3),
        "f1": pytest.approx(2 / 3),
        "area": 1.0,
    }


def test_every_feature_relevant():
    scores = detection_scores(np.array([0]), np.array([1.0, 0.0]), [0, 1])
    assert np.isnan(scores["false_alarm"]) and np.isnan(scores["area"])
    assert scores["detection"] == 0.5


few = st.integers(min_value=-3, max_value=3)


@given(st.lists(st.tuples(few, st.booleans(), st.booleans()), min_size=2, max_size=12))
def test_agrees_with_scikit_learn(rows):
    weights = np.array([float(weight) for weight, _, _ in rows])
    truth, chosen = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    if truth.all() or not truth.any():
        return
    scores = detection_scores(np.flatnonzero(chosen), weights, np.flatnonzero(truth))
    assert scores["f1"] == pytest.approx(f1_score(truth, chosen, zero_division=0))
    assert scores["precision"] == pytest.approx(precision_score(truth, chosen, zero_division=0))
    assert scores["area"] == pytest.approx(roc_auc_score(truth, weights))
    alarms, hits, _ = roc_curve(truth, weights)
    assert scores["area"] == pytest.approx(auc(alarms, hits))
    pairs = [(w > v) + (w == v) / 2 for w in weights[truth] for v in weights[~truth]]
    assert scores["area"] == pytest.approx(np.mean(pairs))


def test_equal_weights_say_nothing():
    assert curve_area(np.ones(7), [1, 4]) == 0.5


def said(pairs, ranks, n_pairs=10):
    return Interactions(np.array(pairs), np.ones(len(pairs)), np.array(ranks), None, 1.0, n_pairs)


def test_pairs_found_among_the_first():
    assert pair_detection(said([[0, 1], [2, 3], [1, 2]], [1, 2, 7]), [(0, 1)]) == 1
    assert pair_detection(said([[0, 1], [2, 3], [1, 2]], [1, 2, 7]), [(3, 2)]) == 0
    assert pair_detection(said([[0, 1], [2, 3], [1, 2]], [1, 2, 7]), [(0, 1), (2, 1)]) == 0.5


def test_tied_pairs_count_against():
    assert pair_detection(said([[0, 1], [2, 3]], [2, 2]), [(0, 1)]) == 0
