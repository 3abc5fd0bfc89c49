"""The level of the corrected t-test under each splitter, with the ratio of its own splits."""

from collections import defaultdict

import numpy as np
import pytest

from mfbench.errors import DataError
from mfbench.host.registry import load_registry
from mfbench.stats.paired import corrected_t_test
from mfbench.suite.splitters import made

TEXTS = (
    "stratified",
    "grouped",
    "stratified-grouped",
    "leave-one-group-out",
    "bootstrap(draws=30)",
    "forward-chaining",
)
LEARNERS = ("nearest centroid", "nearest neighbour")


def draw(rng, n, n_groups, drift):
    """Two views of equal distribution, in which rows of a group are alike; a class prevails in each group."""
    groups, y = rng.permutation(np.arange(n) % n_groups), np.empty(n, dtype=np.int64)
    prevailing = rng.permutation(np.arange(n_groups) % 2)
    y = np.where(rng.random(n) < 0.8, prevailing[groups], 1 - prevailing[groups])
    views = []
    for _ in range(2):
        common = rng.normal(size=(n_groups, 5)) * np.sqrt(0.5) + drift * np.linspace(0, 2, n_groups)[:, None]
        views.append(common[groups] + rng.normal(size=(n, 5)) * np.sqrt(0.5) + 0.4 * y[:, None])
    return views, y, {"groups": groups, "time": groups + rng.random(n)}


def accuracies(X, y, pairs, learner):
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2) if learner == "nearest neighbour" else None
    scores = []
    for train, test in pairs:
        if learner == "nearest neighbour":
            predicted = y[train][distances[np.ix_(test, train)].argmin(axis=1)]
        else:
            means = np.array([X[train][y[train] == code].mean(axis=0) for code in (0, 1)])
            predicted = ((X[test][:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
        scores.append((predicted == y[test]).mean())
    return np.array(scores)


def rejections(datasets, n, n_groups=20, drift=0.0, folds=10, texts=TEXTS):
    """Return the share of datasets on which two equal learners differ, by splitter and learner."""
    splitters = {text: made(text, load_registry(only=[])) for text in texts}
    found = defaultdict(list)
    for seed in range(datasets):
        rng = np.random.default_rng([seed, n])
        views, y, by = draw(rng, n, n_groups, drift)
        for text, splitter in splitters.items():
            try:
                pairs = splitter.pairs(y, by.get(splitter.needs), folds, seed)
            except DataError:  # a training part of a single class
                continue
            ratio = float(np.mean([len(test) / len(train) for train, test in pairs]))
            for learner in LEARNERS:
                first, second = (accuracies(X, y, pairs, learner) for X in views)
                found[text, learner].append(corrected_t_test(first, second, ratio).p_value < 0.05)
    return {cell: float(np.mean(verdicts)) for cell, verdicts in found.items()}


@pytest.mark.nightly(reason="a thousand datasets take minutes")
@pytest.mark.parametrize("n", [100, 300])
def test_equal_learners_seldom_differ(n):
    shares = rejections(1000, n, texts=("stratified", "grouped", "stratified-grouped", "leave-one-group-out"))
    assert max(shares.values()) <= 0.07
