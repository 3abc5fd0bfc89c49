"""A selector with a path: one fit for all values of its parameter, and the same results as a fit for each."""

from dataclasses import replace

import numpy as np
import pytest
from spies import Log, Spy, fold_of, run, trial

from mfbench.host.expressions import parse
from mfbench.model.trials import Status
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.schema import Range, Search


class Along(Spy):
    """Features leave one by one as ``a`` grows; ``at`` knows every value up to that of the fit."""

    def fit(self, X, y):
        super().fit(X, y)
        self.feature_importances_ = self.at(self.a)
        return self

    def at(self, value):
        assert value <= self.a
        return np.maximum(np.array([3.0, 2.0, 1.0]) - value, 0.0)[: self.X_.shape[1]]


GRID = (("selector", "a", (0.5, 1.5, 2.5)), ("selector", "b", (1, 2)), ("classifier", "b", (1, 2)))


def with_path(path=("a", "at"), grid=GRID):
    return ResolvedMethod(
        "m", Step(parse("spy"), "selector", path=path), Step(parse("spy"), "classifier"), "positive", grid
    )


def test_one_fit_along_the_path_for_each_of_its_other_parameters():
    result, log = run(fold_of(), with_path(), factory=Along)
    # Of three inner folds; the last fit is with the chosen value, whose time is then not that of the largest one.
    assert [event.by.a for event in log.fits("selector")] == [2.5] * (2 * 3) + [result.chosen["selector.a"]]
    assert result.chosen["selector.a"] < 2.5


def test_a_value_that_no_fit_accepts_leaves_the_others():
    class Narrow(Along):
        def fit(self, X, y):
            if self.a > 2:
                raise ValueError("a is too large")
            return super().fit(X, y)

    result, _ = run(fold_of(), with_path(), factory=Narrow)
    alone, _ = run(fold_of(), with_path(path=None), factory=Narrow)
    assert result.status is Status.OK
    assert result.chosen == alone.chosen
    assert np.array_equal(result.weights, alone.weights)
    assert "a is too large" in result.warning


def test_the_result_is_that_of_a_fit_for_each_value():
    once, _ = run(fold_of(), with_path(), factory=Along)
    each, log = run(fold_of(), with_path(path=None), factory=Along)
    assert len(log.fits("selector")) == 3 * 2 * 3 + 1
    assert once.chosen == each.chosen
    assert np.array_equal(once.weights, each.weights)
    assert np.array_equal(once.predictions, each.predictions)


def test_numbers_that_a_search_draws_share_the_fit_up_to_the_end_of_their_range():
    grid = (("selector", "a", Range(first=0.5, last=2.5)), ("classifier", "b", (1, 2)))
    once, each = (replace(with_path(path, grid), search=Search(kind="random", n=5)) for path in (("a", "at"), None))
    (found, log), (alone, _) = (run(fold_of(), how, factory=Along) for how in (once, each))
    assert [event.by.a for event in log.fits("selector")] == [2.5] * 3 + [found.chosen["selector.a"]]
    assert found.chosen == alone.chosen


def test_the_time_of_the_path_counts_once_for_who_finds_it_made():
    fold = fold_of()
    first, _ = run(fold, with_path(), factory=Along)
    second, log = run(fold, with_path(), log=Log(), factory=Along, at=trial(label="other"))
    assert not log.fits("selector")
    assert second.select_wall == first.select_wall > 0
    paths = {(path, s.path): s.wall for (path, _), s in fold.selections.items() if path}
    spent = sum(paths.values())
    assert second.tune_wall >= spent
    assert second.tune_wall < 3 * spent + second.duration  # not once for each of the three values


def test_a_value_that_the_grid_does_not_have_is_an_ordinary_fit():
    how = ResolvedMethod(
        "m", Step(parse("spy(a=1)"), "selector", path=("a", "at")), Step(parse("spy"), "classifier"), "positive"
    )
    result, log = run(fold_of(), how, factory=Along)
    assert [event.by.a for event in log.fits("selector")] == [1]
    assert result.weights.tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [([1.0], "gave feature_importances_ of shape"), ([np.inf, 1.0, 1.0], "gave the importance inf to feature 1:")],
)
def test_what_the_path_says_is_checked(answer, words):
    class Odd(Along):
        def at(self, value):
            return np.array(answer)

    result, _ = run(fold_of(), with_path(), factory=Odd)
    assert result.status is Status.ERROR
    assert words in result.error_message
