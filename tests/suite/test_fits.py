"""The fits of a trial, counted against what the code that runs trials really does."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from toy_metrics import metrics_of

from mfbench import load_dataset
from mfbench.data.prepare import Columns, Encoder
from mfbench.host.expressions import parse
from mfbench.model.trials import Trial
from mfbench.run.trial import steps
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.suite.fits import encoded_columns, fits_of, fitted_columns, kept_columns, sizes_of
from mfbench.suite.methods import PlannedDataset, ResolvedMethod, Step
from mfbench.suite.schema import Range, Search
from mfbench_protocols.splits import GroundTruth, NestedCV, RepeatedCV, ThreeWay, Timing

CV = RepeatedCV(folds=3, repeats=1, seed=0, inner_folds=2)
VALIDATED = NestedCV(3, 1, 0.2, True, True, "multi-class", 0)
FINAL = NestedCV(3, 1, 0.2, True, False, "multi-class", 0)
ONE_BY_ONE = NestedCV(3, 1, 0.2, True, True, "one-vs-rest", 0)
NEIGHBOURS = ("classifier", "n_neighbors", (1, 3, 5))
MANY = ("classifier", "n_neighbors", (1, 2, 3, 4, 5))
POWERS = ("selector", "n_neighbors", (3, 5))
TOPS = ("top", "top", (1, 2))


def method(*grid, selector="mutual-info", selection="nested", top="all"):
    step = Step(parse(selector), "selector") if selector else None
    return ResolvedMethod("A", step, Step(parse("knn"), "classifier"), top, grid, selection)


def iris():
    return PlannedDataset("iris", load_dataset("iris"), "")


@pytest.fixture(scope="module")
def registry():
    from mfbench.host.registry import load_registry

    return load_registry()


METHODS = [
    method(),
    method(NEIGHBOURS, selector=None),
    method(NEIGHBOURS),
    method(NEIGHBOURS, POWERS, top="all-weighted"),
    method(POWERS, NEIGHBOURS, selection="per-dataset"),
    method(selector=None),
    replace(method(), curve=[1, 3, "all"]),
    replace(method(NEIGHBOURS), curve=[1, 2, 9]),
    replace(method(NEIGHBOURS, POWERS), curve=[3, 4], weights="euclidean"),
    replace(method(MANY, selector=None), search=Search(kind="random", n=4)),
    replace(method(MANY), search=Search(kind="halving", factor=2)),
]


@pytest.mark.parametrize("protocol", [CV, VALIDATED, FINAL, ThreeWay(1, True, False, 0), ONE_BY_ONE])
def test_they_are_the_fits_that_a_trial_makes(protocol, registry, monkeypatch):
    made = Counter()
    fit, select = steps.Steps.fit, steps.Steps._fitted_selector

    def counted_fit(self, fold, *rest):
        made["classifier", len(fold.train)] += 1
        return fit(self, fold, *rest)

    def counted_select(self, step, fold, *rest):
        made["selector", len(fold.train)] += 1
        return select(self, step, fold, *rest)

    monkeypatch.setattr(steps.Steps, "fit", counted_fit)
    monkeypatch.setattr(steps.Steps, "_fitted_selector", counted_select)
    planned = iris()
    split = protocol.splits("iris", planned.data.y, 0)[0]
    rows = (split.train, split.test)
    data = planned.data
    sizes = sizes_of(planned, protocol)[0]
    for one in METHODS:
        if (one.selection == "per-dataset" or one.curve is not None) and protocol.decisions == "one-vs-rest":
            continue  # no protocol has both
        made.clear()
        fold = Fold(data.X, data.y, Columns.of(data), *rows, "standard", protocol.inner_folds, 1, tuning=split.tuning)
        trial = Trial("k", "iris", "A", 0, 0, 1)
        run_trial(trial, one, fold, metrics_of("accuracy"), registry.make, decisions=protocol.decisions)
        fits = fits_of(one, sizes, protocol)
        widths = len(fitted_columns(one, sizes.features, sizes.columns)) * sizes.problems
        predicted = Counter({("classifier", n): count * widths for n, count in fits.learners.items()})
        for place, count in fits.selectors.items():
            predicted["selector", place.rows] += count * sizes.problems
        assert made == predicted, one.describe()


def test_along_a_path_one_selector_is_fitted():
    step = Step(parse("own"), "selector", path=("theta", "at"))
    one = ResolvedMethod("A", step, Step(parse("knn"), "classifier"), "all", (("selector", "theta", (1, 2, 3)),))
    sizes = sizes_of(iris(), CV)[0]
    assert [count for place, count in fits_of(one, sizes, CV).selectors.items() if place.inner] == [2]


def test_drawn_points_have_at_most_so_many_values_of_a_parameter():
    grid = (("selector", "n_neighbors", (3, 5)), ("classifier", "n_neighbors", Range(first=1, last=9)))
    one, sizes = replace(method(*grid), search=Search(kind="random", n=7)), sizes_of(iris(), CV)[0]
    fits = fits_of(one, sizes, CV)
    assert fits.learners[sizes.tuned] == 7 * sizes.scorings
    assert [count for place, count in fits.selectors.items() if place.inner] == [2 * sizes.scorings]


def test_along_a_path_one_classifier_is_fitted():
    grid = (("classifier", "prune", (False, True)), ("classifier", "sigma", (1, 2, 3)), ("selector", "prune", (0, 1)))
    one = ResolvedMethod("A", None, Step(parse("own"), "classifier", path=("prune", "with_prune")), "all", grid[:2])
    sizes = sizes_of(iris(), CV)[0]
    assert fits_of(one, sizes, CV).learners[sizes.tuned] == 3 * sizes.scorings
    both = replace(one, selector=Step(parse("other"), "selector"), grid=grid)
    assert fits_of(both, sizes, CV).learners[sizes.tuned] == 2 * 3 * sizes.scorings


def test_a_round_of_generated_data_fits_the_selector_or_else_the_classifier():
    protocol = GroundTruth(5, 0.1, 0)
    sizes = sizes_of(iris(), protocol)[0]
    assert (sizes.rows, sizes.tested) == (150, 0)
    assert fits_of(method(), sizes, protocol).selectors.total() == 1
    assert fits_of(method(), sizes, protocol).learners.total() == 0
    assert fits_of(method(selector=None), sizes, protocol).learners == {150: 1}


def test_the_folds_of_the_protocol_timing_have_their_own_sizes():
    sizes = sizes_of(iris(), Timing(1, 3, 0))
    assert [one.rows for one in sizes] == [30, 60, 120, 120, 120]
    assert [one.columns for one in sizes] == [4, 4, 4, 2, 1]


@pytest.mark.parametrize("name", ["tic-tac-toe", "wine", "monks-1"])
def test_columns_are_counted_as_the_encoder_makes_them(name):
    data = load_dataset(name)
    groups = Encoder(Columns.of(data), "standard").fit(data.X).groups_
    assert encoded_columns(data).tolist() == np.bincount(groups, minlength=data.n_features).tolist()


def test_the_rule_says_how_many_columns_a_classifier_gets():
    for top, columns in [("all", 10), ("all-weighted", 10), (3, 3), (30, 10), (0.25, 3), (1.0, 10)]:
        assert kept_columns(method(top=top), 10) == columns


def test_several_rules_count_by_their_mean():
    assert kept_columns(method(TOPS), 10) == 2
    assert kept_columns(method(TOPS, selector=None), 10) == 10
