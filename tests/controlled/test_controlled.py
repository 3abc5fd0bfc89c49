"""Selectors with a stated rate of errors: their definitions, closed forms, and rates on noise."""

import numpy as np
import pytest
from scipy.linalg import toeplitz
from scipy.stats import f_oneway
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mfbench_controlled._gaussian import differences, draw
from mfbench_controlled.corrected import CorrectedTests
from mfbench_controlled.held_out import HeldOutImportance
from mfbench_controlled.knockoffs import Knockoffs, threshold_of
from mfbench_controlled.stability import StabilitySelection

KINDS = ("leave-one-out", "permutation")
BLOCKS = np.kron(np.eye(3), 0.7 * np.ones((4, 4)) + 0.3 * np.eye(4))


def random_correlation(p, n, seed=0):
    return np.corrcoef(np.random.default_rng(seed).normal(size=(p, n)))


class TestGaussianKnockoffs:
    @pytest.mark.parametrize("r", [0.0, 0.3, 0.8, -0.95])
    def test_two_features_have_a_closed_form(self, r):
        for construction in ("minimum-correlation", "equicorrelated"):
            s = differences(np.array([[1.0, r], [r, 1.0]]), construction)
            assert s == pytest.approx([min(1.0, 2.0 - 2.0 * abs(r))] * 2, abs=1e-3)

    def test_equal_correlations_in_blocks_have_one_too(self):
        assert differences(BLOCKS, "minimum-correlation") == pytest.approx(np.full(12, 0.6), abs=1e-3)

    @pytest.mark.parametrize("correlation", [toeplitz(0.8 ** np.arange(15)), random_correlation(15, 25)])
    def test_no_feasible_neighbour_has_a_larger_sum(self, correlation):
        s = differences(correlation, "minimum-correlation")
        assert np.linalg.eigvalsh(2 * correlation - np.diag(s))[0] > -1e-9
        assert ((s >= 0) & (s <= 1)).all()
        assert s.sum() >= differences(correlation, "equicorrelated").sum() - 1e-3
        rng = np.random.default_rng(0)
        for size in (0.3, 0.03, 0.003):
            for _ in range(100):
                other = np.clip(s + size * rng.normal(size=15), 1e-9, 1.0)
                root = np.sqrt(np.outer(other, other))
                other *= min(
                    1.0, np.linalg.eigvalsh(2 * correlation / root)[0]
                )  # the largest multiple that is feasible
                assert other.sum() <= s.sum() * (1 + 1e-3)

    def test_a_draw_has_the_moments_of_its_definition(self):
        rng = np.random.default_rng(0)
        correlation = toeplitz(0.6 ** np.arange(6))
        Z = rng.standard_normal((40_000, 6)) @ np.linalg.cholesky(correlation).T
        s = differences(correlation, "minimum-correlation")
        copies = draw(Z, correlation, s, np.random.RandomState(0))
        joint = np.cov(np.hstack([Z, copies]).T)
        assert joint[6:, 6:] == pytest.approx(correlation, abs=0.03)
        assert joint[:6, 6:] == pytest.approx(correlation - np.diag(s), abs=0.03)


class TestKnockoffs:
    def test_the_threshold_is_the_smallest_that_keeps_the_estimated_rate(self):
        contrasts = np.array([5.0, 4.0, -3.0, 2.5, 2.0, -1.0, 0.0, 1.5])
        for q, offset in ((0.5, 1), (0.34, 0), (0.7, 1), (0.2, 0)):
            allowed = [
                t
                for t in sorted(set(np.abs(contrasts)) - {0.0})
                if (offset + np.sum(contrasts <= -t)) / max(1, np.sum(contrasts >= t)) <= q
            ]
            assert threshold_of(contrasts, q, offset) == (allowed[0] if allowed else np.inf)

    @pytest.mark.parametrize(
        "statistic", ["lasso", "margin", "forest", LogisticRegression(), RandomForestClassifier(50)], ids=str
    )
    def test_relevant_features_are_selected(self, statistic):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(400, 16))
        y = (X[:, :8].sum(axis=1) + 0.3 * rng.normal(size=400) > 0).astype(int)
        model = Knockoffs(q=0.3, statistic=statistic, random_state=0).fit(X, y)
        chosen = np.flatnonzero(model.feature_importances_ > 0)
        assert len(set(chosen) & set(range(8))) >= 5
        assert (model.feature_importances_ > 0).tolist() == (model.statistics_ >= model.threshold_).tolist()
        order = np.argsort(-model.statistics_, kind="stable")
        assert np.argsort(-model.feature_importances_, kind="stable").tolist() == order.tolist()

    def test_few_discoveries_cannot_meet_a_small_rate(self):
        rng = np.random.default_rng(2)
        X = rng.normal(size=(100, 6))
        model = Knockoffs(q=0.1, random_state=0).fit(X, X[:, 0])
        assert model.threshold_ == np.inf and not (model.feature_importances_ > 0).any()
        assert np.argmax(model.feature_importances_) == 0

    def test_a_constant_column_has_no_statistic(self):
        X = np.column_stack([np.random.default_rng(0).normal(size=(40, 3)), np.ones(40)])
        assert Knockoffs(random_state=0).fit(X, X[:, 0]).statistics_[3] == 0.0
        assert not Knockoffs(random_state=0).fit(X[:, 3:], X[:, 0]).statistics_.any()

    def test_more_features_than_rows_and_many_classes(self):
        rng = np.random.default_rng(3)
        X, y = rng.normal(size=(30, 60)), np.arange(30) % 3
        X[:, 5] += 5 * y
        for statistic in ("lasso", "margin", "forest"):
            model = Knockoffs(statistic=statistic, random_state=0).fit(X, y)
            assert np.isfinite(model.statistics_).all() and np.argmax(model.statistics_) == 5

    @pytest.mark.slow(reason="two hundred fits")
    def test_the_false_discovery_rate_is_at_most_the_promised_one(self):
        factor = np.linalg.cholesky(toeplitz(0.5 ** np.arange(40)))
        shares = []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            relevant = rng.choice(40, 10, replace=False)
            X = rng.standard_normal((300, 40)) @ factor.T
            y = 0.35 * X[:, relevant].sum(axis=1) + rng.standard_normal(300)
            chosen = np.flatnonzero(Knockoffs(q=0.2, random_state=seed).fit(X, y).feature_importances_ > 0)
            shares.append(np.mean(~np.isin(chosen, relevant)) if len(chosen) else 0.0)
        assert np.mean(shares) - 2.5 * np.std(shares) / np.sqrt(200) <= 0.2


class TestStabilitySelection:
    @pytest.mark.parametrize(("bound", "threshold", "p"), [(1.0, 0.75, 40), (2.5, 0.9, 100), (0.01, 0.6, 5)])
    def test_as_many_are_picked_as_the_bound_allows(self, bound, threshold, p):
        X = np.random.default_rng(0).normal(size=(20, p))
        model = StabilitySelection(false_selections=bound, threshold=threshold, n_pairs=1, random_state=0).fit(
            X, X[:, 0]
        )
        q = model.n_picked_
        assert q == 1 or q**2 / ((2 * threshold - 1) * p) <= bound + 1e-9
        assert (q + 1) ** 2 / ((2 * threshold - 1) * p) > bound

    def test_noise_is_selected_as_rarely_as_promised(self):
        counts = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            model = StabilitySelection(n_pairs=10, random_state=seed).fit(
                rng.normal(size=(60, 30)), rng.normal(size=60)
            )
            counts.append(np.count_nonzero(model.feature_importances_ > 0))
            assert model.frequencies_.sum() <= model.n_picked_ + 1e-9
        assert np.mean(counts) <= 1.0

    @pytest.mark.parametrize("selector", [None, LinearRegression(), CorrectedTests()])
    def test_any_selector_can_be_repeated(self, selector):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(200, 20))
        y = X[:, 4] + X[:, 9] + 0.5 * rng.normal(size=200)
        model = StabilitySelection(selector=selector, n_pairs=20, random_state=0).fit(X, y)
        assert np.flatnonzero(model.feature_importances_ > 0).tolist() == [4, 9]

    def test_halves_have_all_classes(self):
        rng = np.random.default_rng(6)
        y = np.repeat([0, 1, 2], [30, 4, 2])
        X = rng.normal(size=(36, 8)) + np.outer(y, np.eye(8)[3]) * 6
        model = StabilitySelection(n_pairs=10, random_state=0).fit(X, y)
        assert np.argmax(model.frequencies_) == 3 and model.frequencies_[3] == 1.0


class TestCorrectedTests:
    @pytest.fixture
    def table(self):
        rng = np.random.default_rng(7)
        y = np.arange(60) % 3
        X = rng.normal(size=(60, 25))
        X[:, :6] += 0.8 * (y == 1)[:, None]
        return X, y

    def test_p_values_are_those_of_an_analysis_of_variance(self, table):
        X, y = table
        expected = [f_oneway(*(column[y == k] for k in range(3))).pvalue for column in X.T]
        assert CorrectedTests().fit(X, y).p_values_ == pytest.approx(expected)

    @pytest.mark.parametrize("rate", ["fdr", "fdr-dependent", "fwer", "fpr"])
    def test_the_selected_are_those_of_the_step_procedures(self, table, rate):
        X, y = table
        model = CorrectedTests(rate=rate, level=0.1).fit(X, y)
        p, m = np.sort(model.p_values_), len(model.p_values_)
        steps = np.arange(1, m + 1)
        limits = {"fdr": 0.1 * steps / m, "fwer": 0.1 / (m + 1 - steps), "fpr": np.full(m, 0.1)}
        limits["fdr-dependent"] = limits["fdr"] / np.sum(1.0 / steps)
        passed = p <= limits[rate]
        number = (
            np.argmin(np.append(passed, False))
            if rate in ("fwer", "fpr")
            else np.flatnonzero(passed).max(initial=-1) + 1
        )
        assert number > 0
        assert np.count_nonzero(model.feature_importances_ > 0) == number

    def test_columns_that_separate_and_columns_that_do_not_vary(self):
        X = np.array([[0.1, 3.0, 1.0], [0.1, 3.0, 5.0], [0.7, 3.0, 2.0], [0.7, 3.0, 4.0]])
        model = CorrectedTests().fit(X, [0, 0, 1, 1])
        assert model.p_values_[:2].tolist() == [0.0, 1.0]
        assert np.isfinite(model.feature_importances_).all() and model.feature_importances_[0] > 0


class TestHeldOutImportance:
    def test_without_a_feature_a_linear_model_loses_the_variance_that_it_explains(self):
        rng = np.random.default_rng(8)
        X = rng.normal(size=(4000, 3))
        y = 2.0 * X[:, 0] - 1.0 * X[:, 1] + 0.1 * rng.normal(size=4000)
        left_out = HeldOutImportance(kind="leave-one-out", model=LinearRegression(), random_state=0).fit(X, y)
        assert left_out.means_ == pytest.approx([4.0, 1.0, 0.0], abs=0.2)
        permuted = HeldOutImportance(model=LinearRegression(), random_state=0).fit(X, y)
        assert permuted.means_ == pytest.approx([8.0, 2.0, 0.0], abs=0.4)
        for model in (left_out, permuted):
            assert (model.feature_importances_ < model.means_).all()
            assert (model.feature_importances_[:2] > 0).all()

    def test_of_two_equal_features_none_is_needed_and_one_is_used(self):
        rng = np.random.default_rng(9)
        x = rng.normal(size=200)
        X = np.column_stack([x, x, rng.normal(size=200)])
        y = (x > 0).astype(int)
        tree = DecisionTreeClassifier(max_depth=1)
        left_out, permuted = (HeldOutImportance(kind=kind, model=tree, random_state=0).fit(X, y) for kind in KINDS)
        assert left_out.feature_importances_.tolist() == [0.0, 0.0, 0.0]
        assert permuted.feature_importances_.max() > 0 and permuted.feature_importances_[2] == 0.0

    def test_rare_classes_and_a_single_column(self):
        y = np.repeat([0, 1, 2], [12, 9, 1])
        X = np.random.default_rng(0).normal(size=(22, 1)) + y[:, None]
        for kind in ("permutation", "leave-one-out"):
            assert np.isfinite(
                HeldOutImportance(kind=kind, n_folds=3, random_state=0).fit(X, y).feature_importances_
            ).all()


@pytest.mark.parametrize(
    ("estimator", "word"),
    [(Knockoffs(q=0.0), "'q'"), (Knockoffs(statistic="margin", target="numbers"), "margin"),
     (StabilitySelection(threshold=0.5), "threshold"), (CorrectedTests(level=1.0), "level"),
     (HeldOutImportance(n_folds=30), "folds")],
)  # fmt: skip
def test_a_parameter_out_of_range_is_refused_by_name(estimator, word):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=word):
        estimator.fit(rng.normal(size=(20, 3)), np.arange(20) % 2)
