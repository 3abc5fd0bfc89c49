"""Multifactor dimensionality reduction beside its definition."""

import numpy as np
import pytest
from sklearn.metrics import recall_score

from mfbench_information.mdr import MDR, _folds


def weight(levels, y, folds):
    """Balanced accuracy on the left-out folds, minus that of chance, from dictionaries of counts."""
    predicted = np.empty(len(y), dtype=int)
    for fold in range(folds.max() + 1):
        train = folds != fold
        totals = np.bincount(y[train], minlength=y.max() + 1)
        for i in np.flatnonzero(~train):
            same = train & (levels == levels[i]).all(axis=1)
            own = np.bincount(y[same], minlength=y.max() + 1) / np.maximum(totals, 1)
            best = np.flatnonzero(own == own.max())
            predicted[i] = best[np.argmax(totals[best])]
    return recall_score(y, predicted, average="macro") - 1.0 / (y.max() + 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pairs_have_the_balanced_accuracy_of_their_rules(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 3, size=(70, 5))
    y = np.where(rng.random(70) < 0.7, (X[:, 0] + X[:, 3]) % n_classes, rng.integers(0, n_classes, 70))
    model = MDR(n_folds=4, random_state=1).fit(X, y)
    folds = _folds(y, 4, np.random.RandomState(1))
    for j in range(5):
        for k in range(j):
            assert model.interaction_importances_[j, k] == pytest.approx(weight(X[:, [j, k]], y, folds))
    assert (model.interaction_importances_ == model.interaction_importances_.T).all()
    own = np.array([weight(X[:, [j]], y, folds) for j in range(5)])
    for j in range(5):
        added = [model.interaction_importances_[j, k] - own[k] for k in range(5) if k != j]
        assert model.feature_importances_[j] == pytest.approx(max(own[j], *added))


def test_folds_have_their_share_of_each_class():
    y = np.repeat([0, 1, 2], [50, 20, 3])
    folds = _folds(y, 10, np.random.RandomState(0))
    counts = np.array([np.bincount(folds[y == k], minlength=10) for k in range(3)])
    assert np.ptp(counts, axis=1).max() <= 1 and np.ptp(counts.sum(axis=0)) <= 1


def test_an_interaction_without_main_effects_is_the_strongest_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    model = MDR(bins=2, random_state=0).fit(X, X[:, 2] * X[:, 7] > 0)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {2, 7}
    assert model.interaction_importances_[2, 7] > 0.45
    noise = MDR(random_state=0).fit(X, rng.integers(0, 2, 300)).interaction_importances_
    assert abs(noise.mean()) < 0.03


def test_single_columns_constants_and_rare_classes():
    y = np.array([0] * 10 + [1] * 9 + [2])
    model = MDR(random_state=0).fit(y[:, None].astype(float), y)
    assert model.feature_importances_.tolist() == pytest.approx([1 / 3])  # the third class has no training sample
    assert model.interaction_importances_.tolist() == [[0.0]]
    assert MDR(random_state=0).fit(np.ones((20, 2)), y).feature_importances_ == pytest.approx([0.0, 0.0])
    with pytest.raises(ValueError, match="two classes"):
        MDR().fit(np.eye(3), [1, 1, 1])
