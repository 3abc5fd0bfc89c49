"""Selectors that nobody wrote for mfbench: their weights are those that they offer, in the order that they give."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.feature_selection import (
    RFE,
    SelectFdr,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mfbench.host.adapter import Adapted, FunctionSelector, NoSelectorError
from mfbench.host.factories import takes_rows

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
X = RNG.normal(size=(90, 6)) + np.outer(Y, [0, 2.0, 0, 0.3, -1.0, 0])
X[:, 5] = X[:, 1]  # equal columns


def fitted(estimator):
    return Adapted(estimator).fit(X, Y)


def of_function(function, **params):
    return fitted(FunctionSelector(function, params))


def falling(weights):
    return np.argsort(-np.asarray(weights), kind="stable").tolist()


class TestOffers:
    def test_importances_are_taken_as_they_are(self):
        class Own:
            def fit(self, X, y):
                self.feature_importances_ = [3, -1, 0, 2, 1, 0]

        assert fitted(Own()).feature_importances_ == [3, -1, 0, 2, 1, 0]

    def test_coefficients_of_several_classes_have_their_norm(self):
        weights = fitted(LogisticRegression()).feature_importances_
        np.testing.assert_allclose(weights, np.sqrt((LogisticRegression().fit(X, Y).coef_ ** 2).sum(axis=0)))

    def test_scores_rank_all_features_and_the_selected_ones_are_positive(self):
        weights = fitted(SelectKBest(k=2)).feature_importances_
        assert falling(weights) == falling(f_classif(X, Y)[0])
        assert np.flatnonzero(weights > 0).tolist() == [1, 5]
        np.testing.assert_array_equal(weights[[1, 5]], f_classif(X, Y)[0][[1, 5]])

    def test_a_ranking_is_an_order_and_the_selected_ones_are_positive(self):
        selector = RFE(LogisticRegression(), n_features_to_select=2).fit(X, Y)
        weights = fitted(RFE(LogisticRegression(), n_features_to_select=2)).feature_importances_
        assert falling(weights) == np.argsort(selector.ranking_, kind="stable").tolist()
        np.testing.assert_array_equal(weights > 0, selector.support_)

    def test_if_nothing_is_selected_no_weight_is_positive_and_the_order_stays(self):
        weights = fitted(SelectFdr(alpha=1e-300)).feature_importances_
        assert (weights < 0).all() and falling(weights) == falling(f_classif(X, Y)[0])

    @pytest.mark.parametrize(
        "selector",
        [
            SelectFromModel(LogisticRegression()),
            VarianceThreshold(1.5),
            SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=2),
        ],
    )
    def test_a_selection_is_a_set(self, selector):
        adapted = fitted(selector)
        assert adapted.selects_a_set
        np.testing.assert_array_equal(adapted.feature_importances_, selector.fit(X, Y).get_support().astype(float))

    def test_undefined_scores_are_no_larger_than_any_other(self):
        constant = np.column_stack([X, np.ones(90)])
        with np.errstate(all="ignore"), pytest.warns(UserWarning):
            weights = Adapted(SelectKBest(k="all")).fit(constant, Y).feature_importances_
        assert weights.argmin() == 6 and np.isfinite(weights).all()

    @pytest.mark.parametrize("named", [True, False])
    def test_a_transform_that_leaves_out_columns_is_a_set(self, named):
        class Drops:
            def fit(self, X, y):
                return self

            def transform(self, X):
                return X.iloc[:, [3, 5]] if named else np.asarray(X)[:, [3, 5]]

        class OfFrames(Drops):
            def fit(self, X, y):
                X.columns  # noqa: B018 - raises for an array

        adapted = fitted(OfFrames() if named else Drops())
        # Without names, the first of two equal columns.
        assert (adapted.feature_importances_ > 0).nonzero()[0].tolist() == ([3, 5] if named else [1, 3])
        assert adapted.selects_a_set

    def test_values_by_name_are_put_in_the_order_of_the_features(self):
        class Sorted:
            def fit(self, X, y):
                assert isinstance(X, pd.DataFrame) or X.dataframe
                self.scores_ = pd.Series(X.to_numpy().mean(axis=0), index=X.columns).sort_values()

        np.testing.assert_array_equal(fitted(Sorted()).feature_importances_ > 0, X.mean(axis=0) > 0)

    @pytest.mark.parametrize(
        ("estimator", "reason"),
        [
            (PCA(), "its transform makes new columns; a selector has, after"),
            (StandardScaler(), "its transform makes new columns"),
            (NeighborhoodComponentsAnalysis(max_iter=2), "its transform makes new columns"),
            (SVC(), "nothing of what it has after a fit ranks or selects features"),  # `support_` has rows
            (object(), "it has no fit"),
        ],
    )
    def test_what_selects_nothing_is_refused(self, estimator, reason):
        with pytest.raises(NoSelectorError, match=reason):
            fitted(estimator)

    def test_an_error_that_does_not_ask_for_a_frame_is_raised_at_once(self):
        class Fails:
            fits = 0

            def fit(self, X, y):
                self.fits += 1
                raise ValueError("no way")

        estimator = Fails()
        with pytest.raises(ValueError, match="no way"):
            fitted(estimator)
        assert estimator.fits == 1


class TestFunctions:
    def test_which_functions_take_rows(self):
        assert takes_rows(f_classif) and takes_rows(mutual_info_classif)
        assert (
            not takes_rows(lambda alpha=1: None)
            and not takes_rows(SelectKBest)
            and not takes_rows(KNeighborsClassifier())
        )

    @pytest.mark.parametrize(
        ("returned", "order", "is_set"),
        [
            (np.array([0.1, 0.5, -0.2, 0, 0.4, 0.3]), [1, 4, 5, 0, 3, 2], False),
            ((np.array([0.1, 0.5, 0.2, 0, 0.4, 0.3]), np.zeros(6)), [1, 4, 5, 2, 0, 3], False),
            ([1, 5, 0, 2, 4, 3], [1, 5, 0, 2, 4, 3], False),
            ([4, 1], [4, 1], True),
            ((4, 1), [4, 1], True),
            (["x4", "x1"], [4, 1], True),
            (pd.Series([2.0, 1.0], ["x3", "x2"]), [3, 2], False),
            (np.array([False, True, False, False, True, False]), [1, 4], True),
            ([7, 7, 1, 0, 2, 9], [5, 0, 1, 4, 2, 3], False),  # not the positions of features: scores
        ],
        ids=str,
    )
    def test_scores_orders_indices_names_and_masks(self, returned, order, is_set):
        adapted = of_function(lambda X, y: returned)
        assert (falling(adapted.feature_importances_)[: len(order)], adapted.selects_a_set) == (order, is_set)

    @pytest.mark.parametrize("returned", [0.5, [0.1, 0.2], np.zeros((6, 2)), ["a", "b"], None, [4, 4]])
    def test_another_result_is_refused(self, returned):
        with pytest.raises(NoSelectorError, match=r"the function returned .* for 6 features; a selector has"):
            of_function(lambda X, y: returned)

    def test_a_required_number_of_features_is_all_of_them_unless_it_is_set(self):
        def first(X, y, K, reverse=False):
            return np.arange(X.shape[1])[::-1][:K]

        assert falling(of_function(first).feature_importances_) == [5, 4, 3, 2, 1, 0]
        assert np.flatnonzero(of_function(first, K=2).feature_importances_).tolist() == [4, 5]

    def test_parameters_can_be_read_and_set(self):
        adapted = Adapted(FunctionSelector(mutual_info_classif, {"n_neighbors": 5}))
        assert adapted.get_params()["random_state"] is None and adapted.get_params()["n_neighbors"] == 5
        weights = adapted.set_params(random_state=3).fit(X, Y).feature_importances_
        np.testing.assert_array_equal(weights, mutual_info_classif(X, Y, n_neighbors=5, random_state=3))
