"""The score statistics of many candidates at once against Newton's step for each of them."""

import numpy as np
import pytest
from in_turn import in_turn

from mfbench_baselines import _soda_search
from mfbench_baselines._multinomial import log_probabilities, maximise
from mfbench_baselines._newton import information, score
from mfbench_baselines._soda_search import Extensions, blocks, significant, standardise


def newton_statistic(design, codes, coefficients):
    """Return gradient times Newton's step, from the derivatives with all columns."""
    shares = np.ascontiguousarray(np.exp(log_probabilities(design, coefficients))[:, 1:].T)
    rows = np.ascontiguousarray(design.T)
    gradient = score(rows, codes, shares, np.ascontiguousarray(coefficients.T)).ravel()
    return gradient @ np.linalg.solve(information(rows, shares, np.empty((0, len(codes)))), gradient)


@in_turn("n_classes", [2, 4])
@in_turn("n_new", [1, 3])
@in_turn("at_the_maximum", [True, False])
def test_statistics_are_those_of_newtons_step(n_classes, n_new, at_the_maximum):
    rng = np.random.default_rng(0)
    n = 150
    design = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    codes = (design[:, 1] + rng.logistic(size=n) > 0) + 2 * (rng.random(n) < 0.3) * (n_classes > 2)
    members = np.eye(n_classes)[codes]
    start = 0.1 * rng.normal(size=(3, n_classes - 1))
    coefficients = maximise(design, codes, start).coefficients if at_the_maximum else start
    columns = standardise(rng.normal(size=(6, n_new, n)) + design[:, 2])[0]
    columns[4] = design[:, 1]  # collinear with the fitted model, and among each other
    columns[5] = 0.0
    statistics = Extensions(design, members, coefficients).statistics(columns)
    for new, statistic in zip(columns, statistics, strict=True):
        grown = np.vstack([coefficients, np.zeros((n_new, n_classes - 1))])
        expected = newton_statistic(np.column_stack([design, new.T]), codes, grown)
        assert statistic == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_standardised_rows():
    rng = np.random.default_rng(0)
    values = 3.0 + 2.0 * rng.normal(size=(2, 3, 50))
    values[0, 1] = 0.1  # its mean is not exactly 0.1
    standardised, centres, spreads = standardise(values)
    np.testing.assert_allclose(centres, values.mean(axis=-1), rtol=1e-14)
    np.testing.assert_allclose(spreads[1], values[1].std(axis=-1), rtol=1e-14)
    assert spreads[0, 1] == 1.0
    assert not standardised[0, 1].any()
    np.testing.assert_allclose(standardised[1].std(axis=-1), 1.0)
    np.testing.assert_allclose(standardised[1] * spreads[1][:, None] + centres[1][:, None], values[1])


def test_rounding_errors_break_no_tie():
    values = np.array([123.456789012, 123.456789012 * (1 + 1e-14), 1e-7, 1e-7 * (1 + 1e-14), 0.0, -2.0])
    rounded = significant(values)
    assert rounded[0] == rounded[1] and rounded[2] == rounded[3]
    np.testing.assert_allclose(rounded, values, rtol=1e-8)
    assert significant(np.array([1.0, 1.0 + 1e-6]))[1] > 1.0


def test_blocks_partition_the_features(monkeypatch):
    monkeypatch.setattr(_soda_search, "BLOCK_BYTES", 1000)
    features = np.arange(5, 12)
    parts = list(blocks(features, 300))
    assert [len(part) for part in parts] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate(parts), features)
    assert [len(part) for part in blocks(features, 10_000)] == [1] * 7
    assert list(blocks(features[:0], 300)) == []
