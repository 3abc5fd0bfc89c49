"""The error of ``--race truth`` on folds of real learners, whose overlapping training parts no simulation imitates."""

import numpy as np
import pytest
from scipy import stats
from simulated import replay
from sklearn.datasets import make_classification, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

LEARNERS = [
    KNeighborsClassifier(1),
    KNeighborsClassifier(15),
    LinearDiscriminantAnalysis(),
    RidgeClassifier(1000.0),
    GaussianNB(),
    NearestCentroid(),
    DecisionTreeClassifier(max_depth=2, random_state=0),
    DecisionTreeClassifier(random_state=0),
    make_pipeline(SelectKBest(k=2), LinearDiscriminantAnalysis()),
    make_pipeline(SelectKBest(k=5), KNeighborsClassifier(5)),
]
FOLDS, REPEATS, TABLES = 10, 5, 25


def linear(seed):
    return make_classification(200, 20, n_informative=3, n_redundant=3, class_sep=0.7, random_state=seed)


def clusters(seed):
    return make_classification(
        200, 12, n_informative=6, n_redundant=0, n_clusters_per_class=3, class_sep=1.2, random_state=seed
    )


def moons(seed):
    X, y = make_moons(150, noise=0.35, random_state=seed)
    return np.hstack([X, np.random.default_rng(seed).normal(size=(150, 4))]), y


def wide(seed):
    return make_classification(100, 100, n_informative=5, n_redundant=0, random_state=seed)


GENERATORS = (linear, clusters, moons, wide)


def folds_of(X, y, seed):
    """Return the accuracies of all learners on all folds."""
    splits = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=seed).split(X, y)
    rows = [[learner.fit(X[train], y[train]).score(X[test], y[test]) for learner in LEARNERS] for train, test in splits]
    return np.array(rows).T


def f_race(scores, folds):
    """Return the share of methods that a race by Friedman's test drops, with folds as independent blocks."""
    alive = list(range(scores.shape[1]))
    for look in range(2 * folds, scores.shape[2] + 1, folds):
        blocks = scores[:, alive, :look].transpose(0, 2, 1).reshape(-1, len(alive))
        if len(alive) < 3 or stats.friedmanchisquare(*blocks.T).pvalue >= 0.05:
            continue
        best = blocks[:, blocks.mean(axis=0).argmax()]
        worse = [stats.ttest_rel(best, own, alternative="greater").pvalue < 0.05 for own in blocks.T]
        alive = [method for method, is_worse in zip(alive, worse, strict=True) if not is_worse]
    return 1 - len(alive) / scores.shape[1]


@pytest.mark.nightly(reason="50,000 fits")
def test_truth_drops_the_best_rarely_on_real_folds_where_a_race_by_friedmans_test_does_not():
    tables = np.array(
        [[folds_of(*generator(seed), seed) for seed in range(TABLES)] for generator in GENERATORS]
    )  # generators, tables, learners, folds
    equal = tables - tables.mean(axis=(1, 3), keepdims=True)  # no learner is better than another on any generator
    rng = np.random.default_rng(0)
    single = [own[None] for of_generator in equal for own in of_generator]
    several = [equal[range(len(equal)), rng.integers(TABLES, size=len(equal))] for _ in range(100)]
    for suites in (single, several):
        # Each learner in turn is the one that a user wants to keep.
        lost = np.array([len(replay(scores, "truth", FOLDS)[0].drops) / len(LEARNERS) for scores in suites])
        error = lost.std(ddof=1) / np.sqrt(len(lost))
        assert lost.mean() <= 0.05 + 2 * error
        others = np.array([f_race(scores, FOLDS) for scores in suites])
        assert others.mean() > 0.05 + 2 * others.std(ddof=1) / np.sqrt(len(others))
