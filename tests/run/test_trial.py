"""A trial: nothing learns from its test rows, selectors are fitted once, and every failure is a row."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from mfbench.data.prepare import Columns
from mfbench.host.expressions import parse
from mfbench.models import Status, Trial
from mfbench.run.folds import Fold
from mfbench.run.trial import choose, run_trial, selector_key
from mfbench.suite.plan import ResolvedMethod, Step
from mfbench.suite.protocols import RepeatedCV
from mfbench.suite.seeds import derive_seed

N = 36
NAN = np.nan


class Spy(ClassifierMixin, BaseEstimator):
    """Selector and classifier in one; writes down what it is given in a log that `maker` hangs on it."""

    def __init__(self, a=0, b=0, random_state=None, weights=None, raises=None):
        self.a, self.b, self.random_state, self.weights, self.raises = a, b, random_state, weights, raises

    def fit(self, X, y):
        self.events.append(SimpleNamespace(what="fit", kind=self.kind, X=X.copy(), y=y.copy(), by=self))
        if self.raises:
            raise self.raises
        self.X_, self.y_ = X.copy(), y.copy()
        self.classes_ = np.unique(y)
        self.feature_importances_ = np.ones(X.shape[1]) if self.weights is None else np.array(self.weights, float)
        return self

    def predict(self, X):
        self.events.append(SimpleNamespace(what="predict", kind=self.kind, X=X.copy(), by=self))
        distances = ((X[:, None] - self.X_[None]) ** 2).sum(axis=2)
        return self.y_[distances.argmin(axis=1)]


class Log(list):
    def fits(self, kind):
        return [event for event in self if event.what == "fit" and event.kind == kind]

    def predictions(self):
        return [event for event in self if event.what == "predict"]


def maker(log, factory=Spy):
    def make(expression, kind, **overrides):
        estimator = factory(**{**expression.params, **overrides})
        estimator.events, estimator.kind = log, kind
        return estimator

    return make


def method(selector="spy", classifier="spy", top="all", grid=(), raw=False, label="m"):
    step = None if selector is None else Step(parse(selector), raw)
    return ResolvedMethod(label, step, Step(parse(classifier)), "all" if step is None else top, tuple(grid))


def trial(repeat=0, fold=0, label="m"):
    return Trial("key", "d", label, repeat, fold, derive_seed(0, "d", label, repeat, fold))


def numbers():
    """The identity of a row, a column of ones, noise that tells the classes apart somewhat."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return np.column_stack([np.arange(N), np.ones(N), rng.normal(size=N) + y]), y


def mixed():
    """A number, a category of three, a category of two, all with holes."""
    rng = np.random.default_rng(1)
    y = np.arange(N) % 2
    X = np.column_stack([rng.normal(size=N) * 5 + y, rng.integers(0, 3, N), rng.integers(0, 2, N)]).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    return X, y


def fold_of(data=None, *, repeat=0, fold=0, scale="none", categorical=None, inner_folds=3):
    X, y = data or numbers()
    mask = np.zeros(X.shape[1], bool) if categorical is None else np.array(categorical)
    # The folds of the unchanged labels, as the runner makes them.
    train, test = RepeatedCV(4, 2, 0).splits("d", np.arange(N) % 2, repeat)[fold]
    seed = derive_seed(0, "d", repeat, fold)
    return Fold(X, y, Columns(mask, missing=bool(np.isnan(X).any())), train, test, scale, inner_folds, seed)


def run(fold=None, how=None, *, log=None, metrics=("accuracy",), factory=Spy, at=None):
    log = Log() if log is None else log
    result = run_trial(at or trial(), how or method(), fold or fold_of(), list(metrics), maker(log, factory))
    return result, log


TUNED = method(
    selector="spy",
    classifier="spy",
    grid=(("selector", "a", (1, 2)), ("classifier", "b", (1, 2)), ("top", "top", ("all", 2, "all-weighted"))),
)


def ids(X):
    return frozenset(round(value) for value in X[:, 0])


class TestLeakage:
    @pytest.mark.parametrize("how", [method(), method(selector=None), TUNED], ids=["plain", "no selector", "tuned"])
    def test_no_fit_ever_sees_a_test_row(self, how):
        """Column 0 is the row's identity: weights are equal, so it is kept, first, and unscaled."""
        for at in [(0, 0), (0, 3), (1, 2)]:
            fold = fold_of(repeat=at[0], fold=at[1])
            result, log = run(fold, how, at=trial(*at))
            assert result.status is Status.OK, result.error_trace
            fits = [event for event in log if event.what == "fit"]
            assert fits
            assert all(not ids(event.X) & set(fold.test) for event in fits)
            assert all(np.array_equal(event.y, fold.y[[int(i) for i in event.X[:, 0]]]) for event in fits)

    def test_no_classifier_predicts_what_it_was_fitted_on(self):
        fold = fold_of()
        _, log = run(fold, TUNED)
        assert len(log.predictions()) == 12 * 3 + 1
        for event in log.predictions():
            assert not ids(event.X) & ids(event.by.X_)
        # Test rows are met once, by the classifier that was fitted on all training rows.
        meetings = [event for event in log.predictions() if ids(event.X) & set(fold.test)]
        assert len(meetings) == 1
        assert ids(meetings[0].X) == set(fold.test)
        assert ids(meetings[0].by.X_) == set(fold.train)

    def test_inner_fits_are_those_of_the_inner_training_rows(self):
        fold = fold_of()
        _, log = run(fold, TUNED)
        inner = {frozenset(int(i) for i in part.train) for part in fold.inner}
        assert len(inner) == 3
        for kind in ("selector", "classifier"):
            assert {ids(event.X) for event in log.fits(kind)} == inner | {frozenset(int(i) for i in fold.train)}

    def test_the_selector_behind_a_fit_saw_the_same_rows(self):
        """The selector gives the column of ones a weight that tells which rows it was fitted on."""

        class Telling(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                self.feature_importances_ = np.array([1.0, (hash(ids(X)) % 997 + 1) / 1000, 0.5])[: X.shape[1]]
                return self

        def make(expression, kind, **overrides):
            return maker(log, Telling if kind == "selector" else Spy)(expression, kind, **overrides)

        log = Log()
        how = method(top="all-weighted", grid=(("classifier", "b", (1, 2)),))
        run_trial(trial(), how, fold_of(), ["accuracy"], make)
        fits = log.fits("classifier")
        assert len({ids(event.X) for event in fits}) == 4
        for event in fits:
            np.testing.assert_allclose(event.X[:, 1] ** 2, (hash(ids(event.X)) % 997 + 1) / 1000)

    POISON = (np.array([1e7, 9.0, 9.0]), np.full(3, NAN), np.array([-3.0, 0.0, 0.0]))

    @pytest.mark.parametrize("poison", POISON, ids=["outliers and new categories", "holes", "common values"])
    @pytest.mark.parametrize("scale", ["standard", "range", "none"])
    @pytest.mark.parametrize("raw", [False, True], ids=["encoded", "raw"])
    def test_what_test_rows_hold_reaches_no_fit(self, poison, scale, raw):
        """Fill values, categories, means and ranges, in outer and inner folds: bit by bit the same."""
        how = method(raw=raw, grid=TUNED.grid)
        options = {"scale": scale, "categorical": [False, True, True]}
        X, y = mixed()
        before, log_before = run(fold_of((X, y), **options), how)
        test = fold_of(**options).test
        X, y = X.copy(), y.copy()
        X[test], y[test] = poison, 1 - y[test]
        after, log_after = run(fold_of((X, y), **options), how)
        assert before.status is after.status is Status.OK, before.error_trace
        fits = [[event for event in log if event.what == "fit"] for log in (log_before, log_after)]
        assert len(fits[0]) == len(fits[1]) > 10
        for one, other in zip(*fits, strict=True):
            assert np.array_equal(one.X, other.X, equal_nan=True)
            assert np.array_equal(one.y, other.y)
        assert before.chosen == after.chosen
        assert np.array_equal(before.weights, after.weights)
        assert np.array_equal(before.selected, after.selected)

    def test_what_an_inner_test_part_holds_reaches_no_inner_fit(self):
        X, y = mixed()
        options = {"scale": "standard", "categorical": [False, True, True]}
        part = fold_of((X, y), **options).inner[1].test
        poisoned = X.copy()
        poisoned[part] = [1e7, 9.0, 9.0]
        how = method(grid=(("classifier", "b", (1,)),))
        logs = [run(fold_of((data, y), **options), how)[1] for data in (X, poisoned)]
        for kind in ("selector", "classifier"):
            one, other = (log.fits(kind) for log in logs)
            same = [np.array_equal(a.X, b.X) for a, b in zip(one, other, strict=True)]
            # Inner folds 0 and 2 and the outer one contain those rows, inner fold 1 does not.
            assert same == [False, True, False, False]

    def test_the_columns_of_a_fit_are_standardised_by_its_own_rows(self):
        _, log = run(fold_of(scale="standard"), TUNED)
        fits = log.fits("selector")
        assert len({len(event.X) for event in fits}) > 1
        for event in fits:
            np.testing.assert_allclose(event.X[:, [0, 2]].mean(axis=0), 0.0, atol=1e-12)
            np.testing.assert_allclose(event.X[:, [0, 2]].std(axis=0), 1.0)


class TestSharedSelectorFits:
    def test_classifiers_and_subsets_share_one_fit(self):
        fold, log = fold_of(), Log()
        for label, (classifier, top) in enumerate(
            [("spy", "all"), ("spy(b=2)", 1), ("spy", 0.5), ("spy", "positive"), ("spy", "all-weighted")]
        ):
            result, _ = run(fold, method(classifier=classifier, top=top), log=log, at=trial(label=str(label)))
            assert result.status is Status.OK
        assert len(log.fits("selector")) == 1
        assert len(log.fits("classifier")) == 5

    def test_tuning_the_classifier_or_the_subset_fits_it_once_for_each_fold(self):
        fold, log = fold_of(), Log()
        grid = (("classifier", "b", (1, 2, 3)), ("top", "top", (1, 2, "all")))
        run(fold, method(grid=grid), log=log)
        assert len(log.fits("selector")) == 3 + 1
        assert len(log.fits("classifier")) == 9 * 3 + 1
        run(fold, method(grid=grid[:1]), log=log, at=trial(label="other"))
        assert len(log.fits("selector")) == 3 + 1

    def test_tuning_the_selector_fits_it_for_each_of_its_values(self):
        log = Log()
        run(fold_of(), method(grid=(("selector", "a", (1, 2)), ("classifier", "b", (1, 2, 3)))), log=log)
        assert len(log.fits("selector")) == 2 * 3 + 1
        assert {event.by.a for event in log.fits("selector")} == {1, 2}

    @pytest.mark.parametrize("other", ["spy(a=1)", "spy(b=1)"])
    def test_other_parameters_are_another_fit(self, other):
        fold, log = fold_of(), Log()
        run(fold, method(), log=log)
        run(fold, method(selector=other), log=log)
        assert len(log.fits("selector")) == 2

    def test_another_fold_is_another_fit(self):
        log = Log()
        run(fold_of(fold=0), log=log)
        run(fold_of(fold=1), log=log)
        assert len(log.fits("selector")) == 2

    def test_each_trial_is_charged_the_whole_fit(self):
        fold = fold_of()
        first, second = run(fold)[0], run(fold, at=trial(label="other"))[0]
        assert first.select_wall == second.select_wall > 0
        assert first.select_cpu == second.select_cpu

    def test_a_failure_is_shared_too(self):
        fold, log = fold_of(), Log()
        how = method(selector="spy(raises=1)")
        factory = lambda raises=None, **params: Spy(raises=ValueError("no way") if raises else None, **params)  # noqa: E731
        results = [run(fold, how, log=log, factory=factory, at=trial(label=label))[0] for label in "ab"]
        assert [(r.status, r.error_type, r.error_message) for r in results] == [("error", "ValueError", "no way")] * 2
        assert len(log.fits("selector")) == 1
        assert "no way" in results[1].error_trace

    def test_the_key_of_a_selector_ignores_the_order_of_parameters_and_the_classifier(self):
        assert selector_key(method("spy(a=1, b=2)")) == selector_key(method("spy(b=2, a=1)", "spy(a=9)", top=1))
        assert selector_key(method("spy(a=1)")) != selector_key(method("spy(a=2)"))
        assert selector_key(method(None)) == ""


class TestSeeds:
    def seeds(self, order, **where):
        """Run methods in an order; return the seeds that selector and classifiers got."""
        fold, log = fold_of(**where), Log()
        for label in order:
            run(fold, method(label=label), log=log, at=trial(where.get("repeat", 0), where.get("fold", 0), label))
        (selector,) = log.fits("selector")
        return selector.by.random_state, {event.by.random_state for event in log.fits("classifier")}

    def test_a_shared_fit_has_one_seed_whoever_comes_first(self):
        assert self.seeds("ab") == self.seeds("ba")

    def test_the_selectors_seed_differs_by_fold_and_repeat(self):
        found = {self.seeds("a", repeat=repeat, fold=fold)[0] for repeat in range(2) for fold in range(4)}
        assert len(found) == 8

    def test_another_selector_has_another_seed(self):
        log, fold = Log(), fold_of()
        run(fold, method("spy(a=1)"), log=log)
        run(fold, method("spy(a=2)"), log=log)
        assert len({event.by.random_state for event in log.fits("selector")}) == 2

    def test_the_classifiers_seed_is_the_trials(self):
        _, log = run()
        assert log.fits("classifier")[0].by.random_state == trial().seed

    def test_inner_fits_have_seeds_too(self):
        _, log = run(how=TUNED)
        assert {event.by.random_state for event in log.fits("classifier")} == {trial().seed}
        assert None not in {event.by.random_state for event in log.fits("selector")}

    def test_a_seed_in_the_suite_stays(self):
        _, log = run(how=method("spy(random_state=5)", "spy(random_state=6)"))
        assert log.fits("selector")[0].by.random_state == 5
        assert log.fits("classifier")[0].by.random_state == 6

    def test_a_seed_in_the_grid_stays(self):
        _, log = run(how=method(grid=(("classifier", "random_state", (5, 6)),)))
        assert {event.by.random_state for event in log.fits("classifier")} <= {5, 6}

    def test_running_again_gives_the_same(self):
        one, other = run(how=TUNED)[0], run(how=TUNED)[0]
        assert np.array_equal(one.predictions, other.predictions)
        assert (one.scores, one.chosen) == (other.scores, other.chosen)


class TestSubsets:
    WEIGHTS = np.array([0.1, -0.2, 0.7, 0.0, 0.1])

    @pytest.mark.parametrize(
        ("top", "kept"),
        [
            ("positive", [0, 2, 4]),
            ("all", [0, 1, 2, 3, 4]),
            (1, [2]),
            (2, [0, 2]),
            (3, [0, 2, 4]),
            (99, [0, 1, 2, 3, 4]),
            (0.2, [2]),
            (0.21, [0, 2]),
            (0.4, [0, 2]),
            (0.6, [0, 2, 4]),
            (1.0, [0, 1, 2, 3, 4]),
            (0.001, [2]),
        ],
    )
    def test_a_rule_keeps_the_largest_weights(self, top, kept):
        assert choose(self.WEIGHTS, top).tolist() == kept

    @pytest.mark.parametrize("fraction", [0.1, 0.2, 0.3, 0.7, 0.9])
    def test_a_fraction_of_ten_is_not_off_by_rounding(self, fraction):
        assert len(choose(np.arange(10.0), fraction)) == round(10 * fraction)

    def test_at_least_one_is_kept(self):
        assert choose(np.array([-2.0, -1.0, -1.0]), "positive").tolist() == [1]

    def test_infinite_weights_are_weights(self):
        assert choose(np.array([-np.inf, np.inf, 0.0]), 2).tolist() == [1, 2]

    def test_the_classifier_gets_the_columns_of_the_subset(self):
        fold = fold_of()
        result, log = run(fold, method("spy(weights=[0.5, -1.0, 0.7])", top="positive"))
        assert result.selected.tolist() == [0, 2]
        assert result.n_selected == 2
        assert result.weights.tolist() == [0.5, -1.0, 0.7]
        assert np.array_equal(log.fits("classifier")[0].X, fold.X[fold.train][:, [0, 2]])
        assert np.array_equal(log.predictions()[0].X, fold.X[fold.test][:, [0, 2]])

    def test_weighted_columns_are_multiplied_by_the_root_of_their_share(self):
        fold = fold_of()
        result, log = run(fold, method("spy(weights=[8.0, -1.0, 2.0])", top="all-weighted"))
        factor = [1.0, 0.0, 0.5]
        assert np.array_equal(log.fits("classifier")[0].X, fold.X[fold.train] * factor)
        assert np.array_equal(log.predictions()[0].X, fold.X[fold.test] * factor)
        assert result.selected.tolist() == [0, 2]

    def test_without_a_positive_weight_nothing_is_multiplied(self):
        fold = fold_of()
        result, log = run(fold, method("spy(weights=[-8.0, -1.0, 0.0])", top="all-weighted"))
        assert np.array_equal(log.fits("classifier")[0].X, fold.X[fold.train])
        assert result.n_selected == 3

    def test_without_a_selector_all_features_are_used(self):
        result, _ = run(how=method(None))
        assert (result.selected, result.weights, result.n_selected, result.select_wall) == (None, None, 3, 0.0)


class TestCategories:
    OPTIONS = {"categorical": (False, True, True)}  # noqa: RUF012

    def test_a_features_weight_is_the_largest_of_its_columns_and_it_comes_whole(self):
        """Encoded columns: the number, three of the first category, one of the second."""
        fold = fold_of(mixed(), **self.OPTIONS)
        result, log = run(fold, method("spy(weights=[0.3, 0.1, 0.9, 0.2, -0.5])", top="positive"))
        assert result.weights.tolist() == [0.3, 0.9, -0.5]
        assert result.selected.tolist() == [0, 1]
        assert np.array_equal(log.fits("classifier")[0].X, fold.encoded.train[:, :4])

    def test_weighted_columns_keep_their_own_weight(self):
        fold = fold_of(mixed(), **self.OPTIONS)
        _, log = run(fold, method("spy(weights=[0.25, 0.0, 1.0, 0.25, -0.5])", top="all-weighted"))
        np.testing.assert_allclose(log.fits("classifier")[0].X, fold.encoded.train * [0.5, 0, 1, 0.5, 0])

    def test_a_raw_selector_sees_codes_and_holes_and_is_told_which_are_categories(self):
        class Raw(Spy):
            def __init__(self, categorical_features=None, weights=None, random_state=None):
                super().__init__(weights=weights, random_state=random_state)
                self.categorical_features = categorical_features

        def make(expression, kind, **overrides):
            return maker(log, Raw if kind == "selector" else Spy)(expression, kind, **overrides)

        log, fold = Log(), fold_of(mixed(), scale="standard", **self.OPTIONS)
        how = method("spy(weights=[0.25, 1.0, -1.0])", top="all-weighted", raw=True)
        result = run_trial(trial(), how, fold, ["accuracy"], make)
        (seen,) = log.fits("selector")
        assert np.array_equal(seen.X, fold.X[fold.train], equal_nan=True)
        assert seen.by.categorical_features.tolist() == [False, True, True]
        # Every column of a feature has the feature's weight.
        np.testing.assert_allclose(log.fits("classifier")[0].X, fold.encoded.train * [0.5, 1, 1, 1, 0])
        assert result.weights.tolist() == [0.25, 1.0, -1.0]

    def test_a_raw_selector_without_that_parameter_is_left_alone(self):
        result, log = run(fold_of(mixed(), **self.OPTIONS), method(raw=True))
        assert result.status is Status.OK
        assert np.isnan(log.fits("selector")[0].X).any()


class Scripted(Spy):
    """Predicts rightly if ``b`` says so."""

    def predict(self, X):
        truth = X[:, 0].round().astype(int) % 2
        return truth if self.b in (2, 3) else 1 - truth


class TestTuning:
    def chosen(self, grid, factory=Scripted, metrics=("accuracy",), **more):
        result, _ = run(how=method(None, grid=grid, **more), factory=factory, metrics=metrics)
        return result

    def test_the_best_inner_score_wins_and_the_first_among_equals(self):
        result = self.chosen((("classifier", "b", (1, 2, 3, 0)),))
        assert result.chosen == {"classifier.b": 2}
        assert result.scores == {"accuracy": 1.0}
        assert result.tune_wall > 0

    def test_all_equal_takes_the_first_point(self):
        result = self.chosen((("classifier", "a", (7, 8)), ("classifier", "b", (3, 2))))
        assert result.chosen == {"classifier.a": 7, "classifier.b": 3}

    def test_a_score_that_should_be_small_is_made_small(self):
        class Sure(Spy):
            def predict_proba(self, X):
                truth = X[:, 0].round().astype(int) % 2
                return np.where(np.eye(2)[truth] > 0, self.b / 10, 1 - self.b / 10)

        result = self.chosen((("classifier", "b", (2, 9, 5)),), Sure, ("log_loss", "accuracy"))
        assert result.chosen == {"classifier.b": 9}

    @pytest.mark.parametrize(("metrics", "best"), [(("accuracy", "log_loss"), 2), (("log_loss", "accuracy"), 1)])
    def test_the_first_metric_tunes(self, metrics, best):
        """With b = 2 the labels are right and the probabilities wrong, with b = 1 the other way round."""

        class Torn(Scripted):
            def predict_proba(self, X):
                return 0.8 * np.eye(2)[1 - self.predict(X)] + 0.1

        result = self.chosen((("classifier", "b", (1, 2)),), Torn, metrics)
        assert result.chosen == {"classifier.b": best}
        assert set(result.scores) == {"accuracy", "log_loss"}

    def test_chosen_parameters_are_those_of_the_final_fit(self):
        _, log = run(how=method(grid=(("selector", "a", (4,)), ("classifier", "b", (5,)), ("top", "top", (1,)))))
        assert log.fits("selector")[-1].by.a == 4
        assert log.fits("classifier")[-1].by.b == 5
        assert log.fits("classifier")[-1].X.shape[1] == 1

    def test_a_subset_in_the_grid_goes_over_the_methods(self):
        result, _ = run(how=method(top=1, grid=(("top", "top", (2,)),)))
        assert result.n_selected == 2
        assert result.chosen == {"top": 2}

    class Fragile(Scripted):
        def fit(self, X, y):
            if self.a < 0:
                raise ValueError(f"a = {self.a}")
            return super().fit(X, y)

    def test_a_point_that_fails_is_out_and_said_so(self):
        result = self.chosen((("classifier", "a", (-1, 1)), ("classifier", "b", (1, 2))), self.Fragile)
        assert result.status is Status.OK
        assert result.chosen == {"classifier.a": 1, "classifier.b": 2}
        assert result.n_warnings == 2
        assert "{'classifier.a': -1, 'classifier.b': 1} failed: ValueError: a = -1" in result.warning

    def test_if_all_fail_the_trial_does(self):
        result = self.chosen((("classifier", "a", (-1, -2)),), self.Fragile)
        assert (result.status, result.error_type, result.error_message) == ("error", "ValueError", "a = -2")

    def test_a_point_without_a_score_does_not_win(self):
        class Shy(Scripted):
            def __getattr__(self, name):
                if name == "predict_proba" and self.__dict__.get("a") == 1:
                    return lambda X: np.eye(2)[Scripted.predict(self, X)]
                raise AttributeError(name)

        result = self.chosen((("classifier", "a", (0, 1)), ("classifier", "b", (2,))), Shy, ("log_loss",))
        assert result.chosen["classifier.a"] == 1

    def test_an_inner_fold_without_a_score_does_not_end_the_trial(self):
        """Two rows of a class in three inner folds: one of these has one class alone and no area under the curve."""
        X, _ = numbers()
        fold = fold_of()
        y = np.zeros(N, dtype=int)
        y[[*fold.train[:2], fold.test[0]]] = 1

        class Sure(Spy):
            def predict_proba(self, X):
                return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

        result, _ = run(
            fold_of((X, y)), method(None, grid=(("classifier", "b", (1, 2)),)), factory=Sure, metrics=("roc_auc",)
        )
        assert result.status is Status.OK, result.error_trace
        assert result.chosen == {"classifier.b": 1}


class TestFailures:
    @pytest.mark.parametrize("selector", [None, "spy"])
    def test_what_a_classifier_raises_is_in_the_row(self, selector):
        class Broken(Spy):
            def predict(self, X):
                raise KeyError("x" * 900)

        result, _ = run(how=method(selector), factory=Broken)
        assert (result.status, result.error_type) == (Status.ERROR, "KeyError")
        assert len(result.error_message) == 500
        assert "in predict" in result.error_trace
        assert (result.scores, result.predictions, result.selected, result.weights) == ({}, None, None, None)
        assert result.duration > 0

    @pytest.mark.parametrize("kind", ["selector", "classifier"])
    def test_memory_is_a_status_of_its_own(self, kind):
        class Greedy(Spy):
            def fit(self, X, y):
                if self.kind == kind:
                    raise MemoryError
                return super().fit(X, y)

        result, _ = run(factory=Greedy)
        assert (result.status, result.error_type) == (Status.MEMORY, "MemoryError")

    def test_memory_while_tuning_ends_the_trial(self):
        class Greedy(Spy):
            def fit(self, X, y):
                if self.b == 2:
                    raise MemoryError
                return super().fit(X, y)

        result, _ = run(how=method(grid=(("classifier", "b", (1, 2, 3)),)), factory=Greedy)
        assert (result.status, result.error_message) == (Status.MEMORY, "the trial's memory limit was reached")

    @pytest.mark.parametrize("weights", ["[1.0]", "[1.0, 2.0, 3.0, 4.0]", "[[1.0, 2.0, 3.0]]"])
    def test_weights_of_another_shape_are_refused(self, weights):
        result, _ = run(how=method(f"spy(weights={weights})"))
        assert result.status is Status.ERROR
        assert "'spy' gave feature_importances_ of shape" in result.error_message
        assert "expected 3 numbers" in result.error_message

    def test_weights_that_are_nan_are_refused(self):
        class Unsure(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                self.feature_importances_ = np.array([1.0, NAN, NAN])
                return self

        result, _ = run(factory=Unsure)
        assert "with 2 NaN" in result.error_message

    def test_a_selector_without_weights_is_an_error(self):
        class Silent(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                del self.feature_importances_
                return self

        result, _ = run(factory=Silent)
        assert (result.status, result.error_type) == (Status.ERROR, "AttributeError")

    @pytest.mark.parametrize(
        "predictions",
        [
            lambda n: np.zeros(n),
            lambda n: np.array(["a"] * n),
            lambda n: np.zeros(n - 1, int),
            lambda n: np.zeros((n, 1), int),
        ],
        ids=["floats", "labels", "too few", "a column"],
    )
    def test_predictions_of_another_form_are_refused(self, predictions):
        class Odd(Spy):
            def predict(self, X):
                return predictions(len(X))

        result, _ = run(factory=Odd)
        assert (result.status, result.error_type) == (Status.ERROR, "ValueError")
        assert "classifier 'spy' predicted an array" in result.error_message

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
    @pytest.mark.parametrize("selector", [True, False])
    def test_what_would_end_a_process_is_the_methods_own_failure(self, error, selector):
        # In a worker Ctrl-C is ignored, so this can only come from the method.
        class Ends(Spy):
            def fit(self, X, y):
                raise error

        result, _ = run(factory=Ends) if selector else run(how=method(None), factory=Ends)
        assert (result.status, result.error_type) == (Status.ERROR, error.__name__)

    def test_warnings_are_counted_and_the_first_is_kept(self):
        import warnings

        class Loud(Spy):
            def fit(self, X, y):
                warnings.warn("first", RuntimeWarning, stacklevel=1)
                warnings.warn("second", UserWarning, stacklevel=1)
                return super().fit(X, y)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result, _ = run(how=method(None), factory=Loud)
        assert (result.status, result.n_warnings, result.warning) == (Status.OK, 2, "RuntimeWarning: first")

    def test_a_selector_that_writes_into_its_columns_harms_nobody_else(self):
        class Rude(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                if self.kind == "selector":
                    X[:] = 0.0
                return self

        fold = fold_of()
        expected = fold.encoded.train.copy()
        run(fold, method(), factory=Rude)
        assert np.array_equal(fold.encoded.train, expected)


def test_a_result_has_everything():
    fold = fold_of()
    result, log = run(fold, metrics=("accuracy", "balanced_accuracy"))
    assert result.key == "key"
    assert result.predictions.dtype == np.int64
    assert result.scores["accuracy"] == np.mean(result.predictions == fold.y_test)
    assert set(result.scores) == {"accuracy", "balanced_accuracy"}
    assert result.duration >= result.select_wall + result.fit_wall + result.predict_wall > 0
    assert result.tune_wall == 0.0
    assert result.chosen == {}
    assert [event.what + event.kind for event in log] == ["fitselector", "fitclassifier", "predictclassifier"]
