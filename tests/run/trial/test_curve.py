"""One fit of the selector, and at each size the scores of the same method with ``top``."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc
from spies import Log, Spy, fold_of, method, mixed, numbers, run
from toy_metrics import metrics_of

from mfbench.host.registry import load_registry
from mfbench.model.trials import Status, Trial
from mfbench.run.trial.curve import area_under, run_trial
from mfbench.run.trial.folds import Fold
from mfbench.suite.methods import TOP, curve_sizes

REGISTRY = load_registry()
METRICS = ["accuracy", "balanced_accuracy", "mcc", "log_loss"]
TRIAL = Trial("key", "d", "m", 0, 0, 11)


def measured(how, fold, metrics=METRICS):
    return run_trial(TRIAL, how, fold, metrics_of(*metrics), REGISTRY.make)


def with_top(how, size):
    return replace(how, top=int(size), curve=None)


def assert_same_as_with_top(how, make_fold):
    """Compare to the bit; each method has a fold of its own, so that nothing is shared."""
    result = measured(how, make_fold())
    assert result.status == "ok", result.error_message
    for position, size in enumerate(result.curve.sizes):
        alone = measured(with_top(how, size), make_fold())
        assert dict(zip(result.curve.metrics, result.curve.scores[:, position], strict=True)) == alone.scores
        np.testing.assert_array_equal(result.weights, alone.weights)
        if how.grid:
            assert result.curve.chosen[position] == alone.chosen
    assert {name: result.scores[name] for name in METRICS} == alone.scores
    np.testing.assert_array_equal(result.predictions, alone.predictions)
    np.testing.assert_array_equal(result.selected, alone.selected)
    assert (result.n_selected, result.chosen) == (alone.n_selected, alone.chosen)


def table(seed, n_features):
    rng = np.random.default_rng(seed)
    y = np.arange(48) % 3 % 2
    # Whole numbers, so that weights tie.
    return rng.integers(0, 4, size=(48, n_features)).astype(float) + y[:, None] * rng.integers(0, 2, n_features), y


@settings(max_examples=25)  # each example fits every size twice
@given(
    st.integers(0, 1000),
    st.integers(1, 12),
    st.lists(
        st.one_of(st.just("all"), st.integers(1, 15), st.floats(0.05, 1.0)), min_size=1, max_size=4, unique_by=repr
    ),
    st.sampled_from([("anova-f", "knn(n_neighbors=1)"), ("random-forest(n_estimators=3)", "decision-tree")]),
    st.sampled_from([None, "euclidean"]),
)
def test_each_size_has_the_scores_of_the_method_with_top(seed, n_features, curve, steps, weights):
    selector, classifier = steps
    how = replace(method(selector, classifier, weights=weights), curve=curve)
    data = table(seed, n_features)
    train, test = np.arange(32), np.arange(32, 48)
    columns = fold_of(data).columns
    assert_same_as_with_top(how, lambda: Fold(*data, columns, train, test, "standard", 3, 5))


@pytest.mark.parametrize("validated", ["inner", "final", "refitted"])
def test_a_tuned_classifier_is_tuned_for_each_size_as_with_top(validated):
    how = method("anova-f", "knn", grid=(("classifier", "n_neighbors", (1, 3, 7)), ("classifier", "p", (1, 2))))
    data = table(3, 9)
    train, tuning = np.arange(32), None
    if validated != "inner":
        train = np.arange(24) if validated == "final" else train
        tuning = (np.arange(24), np.arange(24, 32))
    columns = fold_of(data).columns
    curve = replace(how, curve=[1, 2, 4, "all"])
    assert_same_as_with_top(curve, lambda: Fold(*data, columns, train, np.arange(32, 48), "none", 3, 5, tuning=tuning))


def test_features_that_are_encoded_as_several_columns_count_once():
    how = replace(method("anova-f", "decision-tree"), curve=[1, 2, 3])
    assert_same_as_with_top(how, lambda: fold_of(mixed(), categorical=[False, True, True], scale="standard"))


def test_one_size_is_the_method_with_top_also_if_the_selector_is_tuned():
    grid = (("selector", "n_neighbors", (1, 3, 9)), ("classifier", "n_neighbors", (1, 5)))
    how = replace(method("relieff", "knn", grid=grid), curve=[2])
    assert_same_as_with_top(how, small_fold)


def small_fold():
    data = table(8, 6)
    return Fold(*data, fold_of(data).columns, np.arange(32), np.arange(32, 48), "none", 3, 5)


class Ranked(Spy):
    """Weighs the first feature most if ``a`` is 1 and least otherwise; the first one is the number of the row."""

    def fit(self, X, y):
        super().fit(X, y)
        order = np.arange(X.shape[1], dtype=float)
        self.feature_importances_ = -order if self.a == 1 else order
        return self


def test_the_selector_is_fitted_once_and_the_classifier_once_at_each_size():
    result, log = run(how=replace(method(), curve=[1, 2, "all"]), factory=Ranked)
    assert result.status == "ok"
    assert len(log.fits("selector")) == 1
    assert [event.X.shape[1] for event in log.fits("classifier")] == [1, 2, 3]
    assert result.curve.sizes.tolist() == [1, 2, 3] and result.n_selected == 3
    assert result.fit_wall == pytest.approx(result.curve.seconds.sum())


def test_selections_are_nested():
    _, log = run(how=replace(method(), curve=[1, 2, "all"]), factory=Ranked)
    columns = [{tuple(column) for column in event.X.T} for event in log.fits("classifier")]
    assert columns[0] < columns[1] < columns[2]


class Knowing(Ranked):
    """Is right about a share of the rows that depends on the size and on whether the selector was the right one."""

    def predict(self, X):
        return X[:, 0].round().astype(int) % 2 if self.b else np.zeros(len(X), int)


def test_the_selector_is_tuned_once_by_the_mean_over_the_sizes():
    grid = (("selector", "a", (0, 1)), ("classifier", "b", (0, 1)))
    result, log = run(how=replace(method(grid=grid), curve=[1, 2]), factory=Knowing)
    assert result.status == "ok", result.error_message
    # Only with a = 1 is the first column, which tells the class, among the features kept at size 1.
    assert [point["selector.a"] for point in result.curve.chosen] == [1, 1]
    assert [point["classifier.b"] for point in result.curve.chosen] == [1, 1]
    assert result.curve.scores.tolist() == [[1.0, 1.0]] and result.tune_wall > 0
    # Three inner folds for each of two values, then the fit that is tested.
    assert len(log.fits("selector")) == 7


class Narrow(Ranked):
    error = ValueError

    def fit(self, X, y):
        if self.kind == "classifier" and X.shape[1] == 2 and self.b != 5:
            raise self.error("two columns are too many")
        return super().fit(X, y)


@pytest.mark.parametrize("grid", [(), (("classifier", "b", (0, 1)),)])
def test_a_failure_at_one_size_fails_the_trial_and_names_the_size(grid):
    result, _ = run(how=replace(method(grid=grid), curve=[1, 2, 3]), factory=Narrow)
    assert result.status == "error" and result.error_type == "ValueError"
    assert result.error_message == "with 2 of 3 features: two columns are too many"
    assert "two columns are too many" in result.error_trace
    assert result.curve is None and result.scores == {}


def test_a_grid_point_that_fails_at_one_size_is_not_chosen_there():
    result, _ = run(how=replace(method(grid=(("classifier", "b", (0, 5)),)), curve=[1, 2]), factory=Narrow)
    assert result.status == "ok" and result.n_warnings
    assert [point["classifier.b"] for point in result.curve.chosen] == [0, 5]


def test_memory_that_is_not_enough_at_one_size_is_named_as_such():
    class Greedy(Narrow):
        error = MemoryError

    result, _ = run(how=replace(method(), curve=[1, 2]), factory=Greedy)
    assert result.status == Status.MEMORY
    assert result.error_message == "with 2 of 3 features: two columns are too many"


def test_a_selector_that_fails_is_not_a_failure_of_a_size():
    class Fails(Ranked):
        def fit(self, X, y):
            if self.kind == "selector":
                raise ValueError("no weights")
            return super().fit(X, y)

    result, _ = run(how=replace(method(), curve=[1, 2]), factory=Fails)
    assert result.status == "error" and result.error_message == "no weights"


def test_the_areas_are_mean_scores_of_the_first_metric():
    metrics = ["mcc", "accuracy"]
    how = replace(method("anova-f", "knn(n_neighbors=1)"), curve=[1, 2, 3])
    result = measured(how, fold_of(numbers()), metrics)
    curve = result.curve
    assert curve.metrics == ("mcc", "accuracy")
    logs = np.log(curve.sizes)
    assert result.scores["area"] == pytest.approx(auc(logs, curve.scores[0]) / np.ptp(logs))
    assert result.scores["area_linear"] == pytest.approx(auc(curve.sizes, curve.scores[0]) / 2)
    assert result.scores["accuracy"] == curve.scores[1, -1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_an_area_lies_between_the_scores(scores):
    positions = np.log(np.arange(1, len(scores) + 1))
    area = area_under(positions, np.array(scores))
    assert min(scores) - 1e-12 <= area <= max(scores) + 1e-12
    assert area_under(np.zeros(1), np.array(scores[:1])) == scores[0]


def test_a_selector_fit_is_shared_with_methods_without_a_curve():
    log, fold = Log(), fold_of()
    run(fold, replace(method(), curve=[1, 2]), log=log, factory=Ranked)
    run(fold, method(top=2), log=log, factory=Ranked)
    assert len(log.fits("selector")) == 1


def test_sizes_are_those_of_the_plan():
    result, _ = run(how=replace(method(), curve=[0.5, "all", 90]), factory=Ranked)
    assert tuple(result.curve.sizes) == curve_sizes([0.5, "all", 90], 3)
    assert TOP not in result.chosen
