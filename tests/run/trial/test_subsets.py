"""From weights to the columns that a classifier gets."""

from dataclasses import replace

import numpy as np
import pytest
from spies import Log, Spy, fold_of, maker, method, mixed, run, trial
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.model.trials import Status
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import check_finite, choose


class InSets(Spy):
    """A selector that selects the last two features and says nothing about the others."""

    def fit(self, X, y):
        super().fit(X, y)
        self.feature_importances_, self.selects_a_set = np.array([0.0, 1.0, 1.0]), True
        return self


class TestSets:
    @pytest.mark.parametrize(
        ("top", "selected", "warning"),
        [
            ("positive", [1, 2], None),
            (2, [1, 2], None),
            (3, [1, 2], "selector 'spy' selects 2 of 3 features and ranks no others: 'top' and curves end there"),
            ("all", [1, 2], "selector 'spy' selects 2 of 3 features and ranks no others: 'top' and curves end there"),
            (1, [1], "selector 'spy' selects 2 features in no order: 'top' takes the first ones of these"),
        ],
    )
    def test_a_rule_ends_at_the_size_of_a_set_and_says_so(self, top, selected, warning):
        result, _ = run(how=method(top=top), factory=InSets)
        assert (result.status, result.selected.tolist()) == (Status.OK, selected)
        assert result.warning == (f"UserWarning: {warning}" if warning else "")

    @pytest.mark.parametrize(("curve", "sizes"), [([1, 3], [1, 2]), ([1, 2, 3], [1, 2]), ([2], [2]), ([1], [1])])
    def test_a_curve_ends_there_too(self, curve, sizes):
        result, log = run(how=replace(method(), curve=curve), factory=InSets)
        assert (result.curve.sizes.tolist(), result.n_selected) == (sizes, sizes[-1])
        assert len(log.fits("classifier")) == len(sizes)
        assert ("curves end there" in str(result.warning) or "no order" in str(result.warning)) == (curve != [2])

    def test_of_an_empty_set_one_feature_is_kept(self):
        class Empty(InSets):
            def fit(self, X, y):
                super().fit(X, y).feature_importances_ = np.zeros(3)
                return self

        for how in (method(top="positive"), method(top=2), replace(method(), curve=[1, 3])):
            result, _ = run(how=how, factory=Empty)
            assert (result.status, result.selected.tolist()) == (Status.OK, [0])


class TestSubsets:
    WEIGHTS = np.array([0.1, -0.2, 0.7, 0.0, 0.1])

    def test_a_rule_keeps_the_largest_weights(self, subtests):
        for top, kept in [
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
        ]:
            with subtests.test(top=top, kept=kept):
                assert choose(self.WEIGHTS, top).tolist() == kept

    def test_a_fraction_of_ten_is_not_off_by_rounding(self, subtests):
        for fraction in [0.1, 0.2, 0.3, 0.7, 0.9]:
            with subtests.test(fraction=fraction):
                assert len(choose(np.arange(10.0), fraction)) == round(10 * fraction)

    def test_at_least_one_is_kept(self):
        assert choose(np.array([-2.0, -1.0, -1.0]), "positive").tolist() == [1]

    def test_a_feature_without_a_column_is_kept_last(self):
        assert choose(np.array([-np.inf, -1.0, 0.0]), 2).tolist() == [1, 2]

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

    @pytest.mark.parametrize(("weights", "factor"), [("euclidean", 0.5), ("manhattan", 0.25)])
    def test_a_subset_can_keep_its_weights(self, weights, factor):
        fold = fold_of()
        how = method("spy(weights=[8.0, -1.0, 2.0])", top=2, weights=weights)
        result, log = run(fold, how)
        assert np.array_equal(log.fits("classifier")[0].X, fold.X[fold.train][:, [0, 2]] * [1.0, factor])
        assert np.array_equal(log.predictions()[0].X, fold.X[fold.test][:, [0, 2]] * [1.0, factor])
        assert result.selected.tolist() == [0, 2]

    def test_a_kept_feature_of_negative_weight_does_not_count(self):
        result, log = run(fold_of(), method("spy(weights=[8.0, -1.0, -2.0])", top=2, weights="euclidean"))
        assert not log.fits("classifier")[0].X[:, 1].any()
        assert result.selected.tolist() == [0]

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
        result = run_trial(trial(), how, fold, metrics_of("accuracy"), make)
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


class TestFinite:
    COLUMNS = Columns(np.array([False, True, False]), names=("age", "town", "sex"))
    GROUPS = np.array([0, 1, 1, 2])

    def test_a_weight_that_is_no_number_is_refused_by_the_name_of_its_feature(self, subtests):
        for weights, words in [
            ([1.0, 0.0, np.inf, 0.0], "selector 'own' gave the importance inf to feature 'town': importances must be"),
            ([-np.inf, 0.0, 1.0, 0.0], "the importance -inf to feature 'age':"),
            ([0.0, 0.0, 1.0, np.nan], "the importance nan to feature 'sex':"),
            ([np.nan] * 4, "the importance nan to feature 'age' and 3 more:"),
        ]:
            with subtests.test(weights=weights, words=words), pytest.raises(ValueError, match=words):
                check_finite(np.array(weights), "selector 'own'", self.GROUPS, self.COLUMNS)

    def test_the_largest_number_is_one(self):
        check_finite(np.array([np.finfo(float).max, -1.0, 0.0, 0.0]), "selector 'own'", self.GROUPS, self.COLUMNS)

    def test_an_infinite_weight_is_the_selector_s_failure(self, subtests):
        for top in ["all-weighted", "positive", 1]:
            with subtests.test(top=top):

                class Sure(Spy):
                    def fit(self, X, y):
                        super().fit(X, y)
                        self.feature_importances_ = [1.0, np.inf, 0.0]
                        return self

                result, log = run(how=method(top=top), factory=Sure)
                assert result.error_message.startswith("selector 'spy' gave the importance inf to feature 2")
                assert not log.fits("classifier")

    def test_weights_that_are_words_are_the_selector_s_failure(self):
        class Babbles(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                self.feature_importances_ = ["much", "little", "none"]
                return self

        result, _ = run(factory=Babbles)
        assert result.error_message.startswith("selector 'spy' gave feature_importances_ that are not numbers")
