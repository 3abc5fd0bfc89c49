"""VLS-Relief: the subsets that it draws, and how it combines their weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import MultiSURF, ReliefF, VLSRelief


def interaction(seed=0, n=240, p=40):
    X = np.random.default_rng(seed).normal(size=(n, p))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("combine", ["max", "mean"])
def test_equals_fits_to_the_subsets(make_table, combine):
    X, y, nominal = make_table(1, 80, 5, 2, 5, 0.1)
    fitted = VLSRelief("relieff", {"n_neighbors": 4}, 9, 4, combine, categorical_features=nominal, random_state=3).fit(
        X, y
    )
    columns = [[] for _ in range(12)]
    for subset in fitted.subsets_:
        weights = ReliefF(4, categorical_features=nominal[subset]).fit(X[:, subset], y).feature_importances_
        for feature, weight in zip(subset, weights, strict=True):
            columns[feature].append(weight)
    expected = [max(those) if combine == "max" else np.mean(those) for those in columns]
    assert_allclose(fitted.feature_importances_, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("p", "subset_size", "size"), [(10, 0.3, 3), (10, 4, 4), (10, 50, 10), (1, 0.3, 1), (7, 0.99, 7)]
)
def test_subsets_contain_every_feature_about_equally_often(p, subset_size, size):
    X, y = interaction(n=40, p=2)
    X = np.random.default_rng(1).normal(size=(40, p))
    fitted = VLSRelief(n_subsets=30, subset_size=subset_size, random_state=0).fit(X, y)
    assert len(fitted.subsets_) == 30
    assert all(len(subset) == size == len(set(subset)) for subset in fitted.subsets_)
    counts = np.bincount(np.concatenate(fitted.subsets_), minlength=p)
    assert counts.min() >= 30 // -(-p // size)


def test_all_features_in_one_subset_are_those_of_the_base():
    X, y = interaction(p=8)
    fitted = VLSRelief(n_subsets=1, subset_size=8).fit(X, y)
    assert_array_equal(fitted.feature_importances_, MultiSURF().fit(X, y).feature_importances_)


def test_detects_an_interaction_among_many_features():
    X, y = interaction(p=100)
    weights = VLSRelief(random_state=0).fit(X, y).feature_importances_
    assert set(np.argsort(-weights)[:2]) == {0, 1}


def test_constant_features_are_in_no_subset():
    X, y = interaction(p=5)
    fitted = VLSRelief(n_subsets=8, random_state=0).fit(np.column_stack([X, np.ones(len(X))]), y)
    assert max(max(subset) for subset in fitted.subsets_) == 4
    assert fitted.feature_importances_[5] == 0
    assert VLSRelief().fit(np.ones((6, 3)), [0, 1] * 3).subsets_ == []


def test_a_seed_repeats_the_subsets():
    X, y = interaction(n=40, p=12)
    one, same, other = (np.array(VLSRelief(n_subsets=6, random_state=s).fit(X, y).subsets_) for s in (0, 0, 1))
    assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_subsets": 3, "subset_size": 2}, "3 subsets of 2 features cannot contain all 8 .* at least 4, .* least 3"),
        ({"subset_size": 1.0}, "'subset_size' parameter"),
        ({"combine": "median"}, "'combine' parameter"),
        ({"base_parameters": {"n_neighbors": 3}}, "has 'n_neighbors', which cannot be set for multisurf"),
    ],
)
def test_refuses_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        VLSRelief(**parameters).fit(*interaction(n=30, p=8))
