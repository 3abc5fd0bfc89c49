"""Search instead of a whole grid: which points are tried, on which rows, and which wins."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingGridSearchCV
from spies import Scripted, Spy, fold_of, ids, method, run

from mfbench.data.prepare import Columns
from mfbench.model.trials import Status
from mfbench.run.trial.folds import Fold
from mfbench.suite.schema import Range, Search

HALVING = Search(kind="halving")


def searched(search, *grid, selector=None):
    return replace(method(selector, grid=grid), search=search)


def tried(log, name="b"):
    """The values of a parameter on the inner folds; the last fit is the final one."""
    return [getattr(event.by, name) for event in log.fits("classifier")[:-1]]


class TestRandom:
    SEARCH = Search(kind="random", n=4)
    LISTED = ("classifier", "b", tuple(range(2, 40)))

    def test_so_many_points_are_scored_on_every_inner_fold(self):
        result, log = run(how=searched(self.SEARCH, self.LISTED))
        assert sorted(Counter(tried(log)).values()) == [3] * 4
        assert result.chosen["classifier.b"] in tried(log)

    def test_the_points_depend_on_the_fold_alone_and_are_those_of_a_grid_of_them(self):
        """Methods with the same values to tune get the same points; the scores are those of a grid of these points."""
        how = searched(self.SEARCH, self.LISTED, selector="spy")
        points = [tried(run(fold_of(fold=fold), one)[1]) for fold in (0, 1) for one in (how, replace(how, label="x"))]
        assert points[0] == points[1] != points[2] == points[3]
        listed = method("spy", grid=(("classifier", "b", tuple(dict.fromkeys(points[0]))),))
        assert run(how=listed)[0].chosen == run(how=how)[0].chosen

    def test_among_equals_the_first_in_the_order_of_the_grid_wins(self):
        order = tuple(range(40, 4, -1))
        result, log = run(how=searched(self.SEARCH, ("classifier", "b", order)), factory=Scripted)
        assert result.chosen == {"classifier.b": max(tried(log))}

    def test_numbers_are_drawn_from_a_range(self):
        ranges = Range(first=1e-3, last=1e3, spacing="log"), Range(first=1, last=3), Range(first=2.0, last=0.0)
        grid = [("classifier", name, axis) for name, axis in zip(("a", "b", "weights"), ranges, strict=True)]
        result, log = run(how=searched(Search(kind="random", n=200), *grid))
        logs, wholes, numbers = (np.array(tried(log, name)) for name in ("a", "b", "weights"))
        assert 1e-3 <= logs.min() < 1e-2 < 0.3 < np.median(logs) < 3 < 1e2 < logs.max() <= 1e3
        assert set(wholes) == {1, 2, 3}
        assert 0 <= numbers.min() < 0.1 < 1.9 < numbers.max() <= 2
        assert [type(value) for value in result.chosen.values()] == [float, int, float]

    def test_a_number_that_is_drawn_twice_is_tried_once(self):
        _, log = run(how=searched(Search(kind="random", n=50), ("classifier", "b", Range(first=1, last=3))))
        assert Counter(tried(log)) == {1: 3, 2: 3, 3: 3}

    def test_a_selector_is_fitted_once_for_points_that_share_its_parameters(self):
        grid = ("selector", "a", (1, 2)), ("classifier", "b", Range(first=0.0, last=1.0))
        _, log = run(how=searched(Search(kind="random", n=12), *grid, selector="spy"))
        assert Counter(event.by.a for event in log.fits("selector")[:-1]) == {1: 3, 2: 3}


class Rated(ClassifierMixin, BaseEstimator):
    """Scores what its parameter says, whatever the rows."""

    def __init__(self, b=0):
        self.b = b

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        return self.b


class Fine(Spy):
    """Is right about every row but ``b`` of them."""

    def predict(self, X):
        super().predict(X)
        truth = X[:, 0].round().astype(int) % 2
        return np.where(np.arange(len(X)) < self.b, 1 - truth, truth)


def large(n, n_classes=2, inner_folds=3, **more):
    """A fold of `n` training rows."""
    X = np.column_stack([np.arange(n + 10), np.ones(n + 10)]).astype(float)
    rows, y = np.arange(n + 10), np.arange(n + 10) % n_classes
    columns = Columns(np.zeros(2, bool))
    return Fold(X, y, columns, rows[:n], rows[n:], "none", inner_folds, 0, **more)


class TestHalving:
    @pytest.mark.parametrize(
        ("n", "points", "factor"), [(100, 10, 3), (240, 30, 2), (60, 20, 2), (40, 3, 3), (90, 1, 3)]
    )
    def test_rows_and_points_of_each_round_are_those_of_scikit_learn(self, n, points, factor):
        fold, values = large(n), tuple(range(points))
        oracle = HalvingGridSearchCV(Rated(), {"b": values}, factor=factor, cv=3, refit=False)
        oracle.fit(fold.X[fold.train], fold.y_train)
        expected = Counter()
        for rows, number in zip(oracle.n_resources_, oracle.n_candidates_, strict=True):
            for inner in fold.inner:
                expected[len(inner.train) * rows // n] += number
        _, log = run(fold, searched(Search(kind="halving", factor=factor), ("classifier", "b", values)), factory=Fine)
        assert Counter(len(event.y) for event in log.fits("classifier")[:-1]) == expected

    def test_the_best_go_on_and_the_best_of_the_last_round_wins(self):
        result, log = run(large(120), searched(HALVING, ("classifier", "b", (5, 3, 9, 1, 7, 2, 8, 4, 6))), factory=Fine)
        assert Counter(tried(log)) == {**dict.fromkeys(range(1, 10), 3), 2: 6, 3: 6, 1: 9}
        assert result.chosen == {"classifier.b": 1}

    def test_among_equals_the_first_goes_on(self):
        result, _ = run(large(100), searched(HALVING, ("classifier", "b", tuple(range(20, 2, -1)))), factory=Scripted)
        assert result.chosen == {"classifier.b": 3}

    def test_samples_are_nested_stratified_parts_of_the_inner_folds_and_all_their_test_rows_are_scored(self):
        fold = large(90, 3)
        for small, middle, inner in zip(fold.sampled(18), fold.sampled(45), fold.inner, strict=True):
            assert set(small.train) < set(middle.train) < set(inner.train)
            assert np.bincount(small.y_train).tolist() == [4] * 3
            assert small.test.tolist() == inner.test.tolist()
        assert fold.sampled(90) is fold.inner

    def test_test_rows_are_never_seen(self):
        _, log = run(large(60), searched(HALVING, ("classifier", "b", (1, 2, 3, 4)), selector="spy"))
        seen = [ids(event.X) for event in log if event.what == "fit" or event is not log.predictions()[-1]]
        assert max(map(max, seen)) < 60

    def test_too_few_rows_to_halve_are_one_round(self):
        _, log = run(large(10), searched(HALVING, ("classifier", "b", (1, 2, 3, 4))))
        assert Counter(tried(log)) == dict.fromkeys((1, 2, 3, 4), 3)

    def test_a_fit_on_a_sample_is_never_the_one_tested(self):
        """Validation rows are set aside and nothing is fitted again, unless the last round has fewer rows."""
        for n, last in [(81, 81), (80, 72)]:
            rows = np.arange(n)
            fold = large(n, tuning=(rows, np.arange(n, n + 5)))
            result, log = run(fold, searched(HALVING, ("classifier", "b", tuple(range(9)))), factory=Fine)
            sizes = [len(event.y) for event in log.fits("classifier")]
            assert sizes[-1] == n
            assert sizes.count(n) == 1, sizes
            assert (last in sizes[9:-1]) == (last < n)
            assert result.chosen == {"classifier.b": 0}

    def test_fits_on_samples_are_shared_with_other_methods_of_the_fold(self):
        grid = ("selector", "a", (1, 2, 3, 4)), ("classifier", "b", (1, 2))
        fold, other = large(60), large(60)
        first, _ = run(fold, searched(HALVING, *grid, selector="spy"))
        other.adopt(fold.export("spy"))
        second, log = run(other, searched(HALVING, *grid, selector="spy"))
        assert (first.status, log.fits("selector")) == (Status.OK, [])
        assert second.chosen == first.chosen
