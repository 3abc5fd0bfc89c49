import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier

from mfbench_check.checks.classifiers import N_DRAWS, N_LABELLINGS, is_ahead


def test_the_level_is_below_one_in_a_thousand():
    assert N_LABELLINGS**-N_DRAWS <= 0.001


class Clairvoyant(ClassifierMixin, BaseEstimator):
    """Predicts the k-th permutation: feature k of the test rows has its classes."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, self.feature] > X[:, self.feature].mean()).astype(np.int64)


def test_one_permutation_in_sixteen_is_hit_by_chance():
    """The best that a method without the labels can do, which the level rests on."""
    rng = np.random.default_rng(0)
    share = np.mean([is_ahead(Clairvoyant(), "classifier", rng) for _ in range(400)])
    assert share == pytest.approx(1 / N_LABELLINGS, abs=0.04)


def test_a_plain_classifier_is_not_ahead_more_often_than_by_chance():
    rng = np.random.default_rng(1)
    n_ahead = sum(is_ahead(KNeighborsClassifier(), "classifier", rng) for _ in range(40))
    assert n_ahead <= 9  # 2.5 expected; more than 9 has a probability below 0.001
