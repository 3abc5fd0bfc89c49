"""Tests against random features and random targets: their p-values, rates and selections."""

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.stats import kstest, norm
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import Lasso, LassoCV, LinearRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from mfbench_controlled.randomisation import ConditionalRandomisation, PermutedTarget


class TestConditionalRandomisation:
    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 8)) @ np.linalg.cholesky(toeplitz(0.6 ** np.arange(8))).T
        return X, X[:, 1] - X[:, 5] + rng.standard_normal(120)

    def test_p_values_are_those_of_features_drawn_given_the_others(self, table):
        X, y = table
        model = ConditionalRandomisation(random_state=3).fit(X, y)
        Z, response = StandardScaler().fit_transform(X), y - y.mean()
        seed = int(np.random.RandomState(3).randint(2**31))
        penalty = LassoCV(cv=KFold(5, shuffle=True, random_state=seed), random_state=seed).fit(Z, response).alpha_
        covariance = ledoit_wolf(Z, assume_centered=True)[0]
        rng = np.random.default_rng(1)
        for j in range(8):
            others = np.delete(np.arange(8), j)
            slope = np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, j])
            spread = np.sqrt(covariance[j, j] - covariance[j, others] @ slope)
            left = response - Lasso(penalty).fit(Z[:, others], response).predict(Z[:, others])
            mean = Z[:, others] @ slope
            seen = abs((Z[:, j] - mean) @ left)
            drawn = np.abs(spread * rng.standard_normal((4000, 120)) @ left)
            share = np.mean(drawn >= seen)
            assert model.p_values_[j] == pytest.approx(share, abs=4 * np.sqrt(max(share, 0.002) / 4000))
            exact = 2 * norm.sf(seen / (spread * np.linalg.norm(left)))
            assert model.p_values_[j] == pytest.approx(exact, rel=1e-4)

    def test_relevant_features_are_selected_and_correlated_ones_are_not(self, table):
        assert ConditionalRandomisation(random_state=0).fit(*table).get_support(indices=True).tolist() == [1, 5]

    def test_several_classes_count_together(self, table):
        X, y = table
        classes = np.digitize(y, [-0.7, 0.7])
        model = ConditionalRandomisation(random_state=0).fit(X, classes)
        assert model.get_support(indices=True).tolist() == [1, 5]
        renamed = ConditionalRandomisation(random_state=0).fit(X, 2 - classes)
        assert renamed.p_values_ == pytest.approx(model.p_values_, rel=1e-6)

    def test_p_values_of_irrelevant_features_are_uniform(self):
        values = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((200, 12)) @ np.linalg.cholesky(toeplitz(0.5 ** np.arange(12))).T
            y = X[:, 0] + rng.standard_normal(200)
            values.extend(ConditionalRandomisation(random_state=0).fit(X, y).p_values_[1:])
        assert kstest(values, "uniform").pvalue > 0.01

    def test_wide_constant_and_single_columns(self):
        rng = np.random.default_rng(2)
        X = np.column_stack([rng.normal(size=(30, 50)), np.ones(30)])
        model = ConditionalRandomisation(random_state=0).fit(X, 3 * X[:, 4] + rng.normal(size=30))
        assert np.argmin(model.p_values_) == 4 and model.p_values_[50] == 1.0
        assert ConditionalRandomisation(random_state=0).fit(X[:, 50:], np.arange(30) % 2).p_values_.tolist() == [1.0]
        assert ConditionalRandomisation(random_state=0).fit(X[:, 4:5], 3 * X[:, 4]).p_values_[0] < 1e-6


class TestPermutedTarget:
    def test_p_values_are_the_ranks_among_permutations(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 6))
        y = 0.4 * X[:, 2] + rng.normal(size=40)
        found = {
            rate: PermutedTarget(
                selector=LinearRegression(), rate=rate, n_permutations=199, level=0.1, random_state=5
            ).fit(X, y)
            for rate in ("fwer", "fpr")
        }
        orders = np.random.RandomState(5)
        orders.randint(2**31)
        seen, drawn = np.abs(LinearRegression().fit(X, y).coef_), []
        for _ in range(199):
            order = orders.permutation(40)
            orders.randint(2**31)
            drawn.append(np.abs(LinearRegression().fit(X, y[order]).coef_))
        drawn = np.array(drawn)
        assert found["fwer"].p_values_ == pytest.approx((1 + (drawn.max(axis=1)[:, None] >= seen).sum(axis=0)) / 200)
        assert found["fpr"].p_values_ == pytest.approx((1 + (drawn >= seen).sum(axis=0)) / 200)
        for model in found.values():
            assert ((model.feature_importances_ > 0) == (model.p_values_ <= 0.1)).all()

    def test_noise_is_selected_as_rarely_as_promised(self):
        hits = []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            model = PermutedTarget(selector=LinearRegression(), n_permutations=19, level=0.1, random_state=seed)
            hits.append((model.fit(rng.normal(size=(25, 5)), rng.normal(size=25)).feature_importances_ > 0).any())
        assert np.mean(hits) <= 0.1 + 2.5 * np.sqrt(0.09 / 200)
        assert np.mean(hits) >= 0.1 - 2.5 * np.sqrt(0.09 / 200)  # with 19 permutations, 2 of 20 orders are significant

    def test_a_forest_by_default_and_nothing_in_constants(self):
        rng = np.random.default_rng(1)
        X = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
        model = PermutedTarget(n_permutations=9, level=0.1, random_state=0)
        assert np.flatnonzero(model.fit(X, X[:, 1] > 0).feature_importances_ > 0).tolist() == [1]
        assert model.fit(X[:, 3:], np.arange(60) % 2).feature_importances_.tolist() == [0.0]

    def test_too_few_permutations_are_refused(self):
        with pytest.raises(ValueError, match=r"at least 19 for level=0\.05; got 10"):
            PermutedTarget(n_permutations=10).fit(np.eye(4), [0, 1, 0, 1])
