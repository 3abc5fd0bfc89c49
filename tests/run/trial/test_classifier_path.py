"""A classifier with a path: one fit for all values of its parameter, and the same results as a fit for each."""

import copy

import numpy as np
import pytest
from spies import Log, Scripted, Spy, fold_of, run

from mfbench.host.expressions import parse
from mfbench.model.trials import Status
from mfbench.suite.methods import ResolvedMethod, Step


class Serving(Scripted):
    """Predicts by ``b``, which a fitted one can change: ``with_b`` returns another."""

    def with_b(self, value):
        self.events.append(("served", self.b, value))
        return copy.copy(self).set_params(b=value)


GRID = (("classifier", "a", (1, 2)), ("classifier", "b", (1, 2, 3)))


def how(path=("b", "with_b"), grid=GRID, **fields):
    return ResolvedMethod("m", None, Step(parse("spy"), "classifier", path=path), "all", grid, **fields)


class Entries(Log):
    def fits(self, kind):
        return [event for event in self if not isinstance(event, tuple) and event.what == "fit"]


def test_one_fit_for_each_combination_of_the_others_and_one_of_the_best():
    result, log = run(fold_of(), how(), log=Entries(), factory=Serving)
    # Three inner folds; the last fit, with all training rows, serves nothing else.
    assert [(event.by.a, event.by.b) for event in log.fits("")] == [(1, 1)] * 3 + [(2, 1)] * 3 + [(1, 2)]
    assert result.chosen == {"classifier.a": 1, "classifier.b": 2}


@pytest.mark.parametrize("selection", ["nested", "per-dataset"])
def test_the_result_is_that_of_a_fit_for_each_value(selection):
    once, few = run(fold_of(), how(selection=selection), log=Entries(), factory=Serving)
    each, many = run(fold_of(), how(path=None, selection=selection), log=Entries(), factory=Serving)
    assert len(few.fits("")) < len(many.fits(""))
    assert once.chosen == each.chosen
    assert once.scores == each.scores
    if selection == "nested":
        assert np.array_equal(once.predictions, each.predictions)
    else:
        assert [c.scores for c in once.candidates] == [c.scores for c in each.candidates]
        assert len({c.scores["accuracy"] for c in once.candidates}) == 2
        assert all(c.fit_wall > 0 for c in once.candidates)


def test_values_that_compare_as_equal_are_different_values():
    result, log = run(
        fold_of(),
        how(grid=(("classifier", "b", (False, 0.0)),), selection="per-dataset"),
        log=Entries(),
        factory=Serving,
    )
    assert result.status is Status.OK
    assert [event[1:] for event in log if isinstance(event, tuple)] == [(False, 0.0)]


def test_columns_of_different_selections_have_fits_of_their_own():
    grid = (("top", "top", ("all", 2)), ("classifier", "b", (1, 3)))
    one = ResolvedMethod(
        "m", Step(parse("spy"), "selector"), Step(parse("spy"), "classifier", path=("b", "with_b")), "all", grid
    )
    _, log = run(fold_of(), one, log=Entries(), factory=Wide)
    tuned = [event.X.shape[1] for event in log.fits("") if event.kind == "classifier"]
    assert tuned == [3] * 3 + [2] * 3 + [3]


class Wide(Serving):
    """Its last feature weighs least, so that row numbers, by which it predicts, stay."""

    def fit(self, X, y):
        Spy.fit(self, X, y)
        self.feature_importances_ = np.arange(X.shape[1], 0.0, -1.0)
        return self


def test_without_the_parameter_in_the_grid_it_is_an_ordinary_fit():
    _, log = run(fold_of(), how(grid=GRID[:1]), log=Entries(), factory=Serving)
    assert len(log.fits("")) == 2 * 3 + 1
    assert not [event for event in log if isinstance(event, tuple)]


def test_a_fit_that_serves_no_other_value_is_followed_by_a_fit_of_its_own():
    class Partly(Serving):
        @property
        def with_b(self):
            if self.b == 1:
                raise AttributeError("with_b")
            return super().with_b

    result, log = run(fold_of(), how(selection="per-dataset", grid=GRID[1:]), log=Entries(), factory=Partly)
    assert [event.by.b for event in log.fits("")] == [1, 2]
    assert [event for event in log if isinstance(event, tuple)] == [("served", 2, 3)]
    assert result.status is Status.OK
