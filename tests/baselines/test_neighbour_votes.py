"""The compiled nearest neighbours against scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mfbench_baselines.stepwise import fold_accuracy


@pytest.mark.parametrize("k", [1, 3, 500])
def test_fold_accuracy_matches_scikit_learn(k):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    folds = StratifiedKFold(4, shuffle=True, random_state=1)
    fold_of = np.empty(len(y), dtype=np.int64)
    for number, (_, test) in enumerate(folds.split(X, y)):
        fold_of[test] = number
    model = KNeighborsClassifier(min(k, len(y) - np.bincount(fold_of).max()))
    expected = cross_val_score(model, X[:, :5], y, cv=folds).mean()
    assert fold_accuracy(X[:, :5], y, fold_of, k) == pytest.approx(expected)
