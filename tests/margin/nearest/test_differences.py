"""Differences to unknown values."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose

from mfbench_margin import ReliefF
from mfbench_margin._nearest.differences import build_table

NAN = np.nan

EXACT = {"rtol": 0, "atol": 1e-10}


def weights(X, y, k=3, nominal=None, **parameters):
    return ReliefF(k, categorical_features=nominal, **parameters).fit(X, y).feature_importances_


def test_one_unknown_category_differs_with_its_probability_in_the_class():
    # Class 0 holds a, a, b and one unknown; class 1 holds a. All classes fit into k.
    X = np.array([[0.0], [0.0], [1.0], [NAN], [0.0], [0.0]])
    y = np.array([0, 0, 0, 0, 1, 1])
    a_known, a_unknown = 0.0, 1 - 2 / 3  # diff of a to a, and to the unknown one of class 0
    b_unknown = 1 - 1 / 3
    hits = [(a_known + 1 + a_unknown) / 3] * 2 + [(1 + 1 + b_unknown) / 3, (2 * a_unknown + b_unknown) / 3, 0, 0]
    misses = [0, 0, 1, a_unknown] + [(0 + 0 + 1 + a_unknown) / 4] * 2
    expected = np.mean(np.subtract(misses, hits))
    assert_allclose(weights(X, y, 9, [0]), [expected], **EXACT)


def test_two_unknown_categories_differ_with_the_probability_of_two_draws():
    # P(0 | class 0) = 1/2, P(0 | class 1) = 1/4; the last two samples, one of each class, are unknown.
    column = np.array([0, 1, 0, 1, 1, 1, NAN, NAN])
    y = np.array([0, 0, 1, 1, 1, 1, 0, 1])
    table = build_table(column[:, None], y, np.array([True]))
    both_unknown = 1 - (1 / 2 * 1 / 4 + 1 / 2 * 3 / 4)
    assert table.expected[1, 0, table.position[6]] == pytest.approx(both_unknown)
    assert table.expected[0, 0, table.position[7]] == pytest.approx(both_unknown)


@in_turn("is_nominal", [True, False])
@in_turn("row", [0, 3, 8])
def test_unknown_value_equals_mean_over_known_values_of_its_class(make_table, is_nominal, row):
    """With all samples as neighbours a weight is linear in every diff: imputing each known value averages to it."""
    X, y, _ = make_table(11, 20, 0, 1, 0)
    unknown = X.copy()
    unknown[row] = NAN
    values = unknown[(y == y[row]) & ~np.isnan(unknown[:, 0]), 0]
    imputed = []
    for value in values:
        complete = unknown.copy()
        complete[row] = value
        imputed.append(weights(complete, y, 50, [is_nominal]))
    assert_allclose(weights(unknown, y, 50, [is_nominal]), np.mean(imputed, axis=0), **EXACT)


def test_feature_unknown_in_a_whole_class_takes_all_its_values(oracles):
    X = np.array([[1, 0], [3, 1], [7, 0], [NAN, NAN], [NAN, NAN], [NAN, NAN]], dtype=float)
    y = np.array([0, 0, 0, 1, 1, 1])
    assert_allclose(weights(X, y, 2, [1]), oracles.relieff(X, y, 2, [False, True]), **EXACT)


@pytest.mark.parametrize("nominal", [[True, False], [False, False]])
def test_feature_never_known_weighs_nothing(nominal):
    X = np.column_stack([np.full(8, NAN), np.arange(8)])
    fitted = ReliefF(2, categorical_features=nominal).fit(X, np.arange(8) // 4)
    assert fitted.feature_importances_[0] == 0
    assert_allclose(fitted.feature_importances_[1], weights(X[:, 1:], np.arange(8) // 4, 2)[0], **EXACT)
