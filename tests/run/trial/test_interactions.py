"""Interactions that methods report: mapped to original features, kept small, ranked, and part of a trial's result."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, ClassifierMixin
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.host.expressions import parse
from mfbench.model.trials import Status, Trial
from mfbench.run.store.formats import pack_document
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.run.trial.steps import PAIRS_KEPT, read_interactions
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.protocols import stratified_splits


def read(weights, groups=None, n_features=None, known=(), p_values=None):
    weights = np.array(weights, dtype=float)
    told = {"interaction_importances_": weights}
    if p_values is not None:
        told["interaction_pvalues_"] = p_values
    groups = np.arange(len(weights)) if groups is None else np.array(groups)
    n_features = int(groups.max()) + 1 if n_features is None else n_features
    return read_interactions(SimpleNamespace(**told), groups, n_features, known)


def as_dict(found):
    return dict(zip(map(tuple, found.pairs.tolist()), found.values.tolist(), strict=True))


class TestReading:
    def test_an_estimator_that_says_nothing(self):
        assert read_interactions(SimpleNamespace(), np.arange(3), 3) is None

    def test_pairs_by_absolute_weight_with_their_sign(self):
        found = read([[9, 1, -3], [1, 9, 2], [-3, 2, 9]])
        assert list(as_dict(found).items()) == [((0, 2), -3.0), ((1, 2), 2.0), ((0, 1), 1.0)]
        assert found.ranks.tolist() == [1, 2, 3]
        assert (found.norm, found.n_pairs) == (np.sqrt(3 * 81 + 2 * (1 + 9 + 4)), 3)
        assert found.p_values is None

    def test_either_triangle_will_do(self):
        assert as_dict(read([[0, 0], [-2, 0]])) == as_dict(read([[0, -2], [0, 0]])) == {(0, 1): -2.0}

    def test_columns_of_a_feature_are_put_together(self):
        """Features 0 (one column), 1 (two columns), 2 (one): the largest entry counts, those within 1 do not."""
        weights = np.zeros((4, 4))
        weights[0, 1], weights[0, 2], weights[1, 2], weights[2, 3] = 1, -4, 100, 2
        found = read(weights + weights.T, groups=[0, 1, 1, 2])
        assert as_dict(found) == {(0, 1): -4.0, (1, 2): 2.0}
        assert found.n_pairs == 3

    def test_p_values_go_with_their_weights(self):
        p_values = np.array([[np.nan, 0.5, 0.1], [0.5, np.nan, np.nan], [0.1, np.nan, np.nan]])
        found = read([[0, 1, 3], [1, 0, 2], [3, 2, 0]], p_values=p_values)
        np.testing.assert_array_equal(found.p_values, [0.1, np.nan, 0.5])

    def test_only_the_largest_are_kept_and_the_known_ones(self):
        rng = np.random.default_rng(0)
        weights = np.triu(rng.normal(size=(20, 20)), 1)
        sizes = np.sort(np.abs(weights[np.triu_indices(20, 1)]))[::-1]
        smallest = np.unravel_index(np.where(weights == 0, np.inf, np.abs(weights)).argmin(), weights.shape)
        found = read(weights, known=[smallest[::-1]])
        assert len(found.pairs) == PAIRS_KEPT + 1
        np.testing.assert_allclose(np.abs(found.values[:-1]), sizes[:PAIRS_KEPT])
        assert tuple(found.pairs[-1]) == smallest
        assert found.ranks.tolist() == [*range(1, PAIRS_KEPT + 1), 190]
        assert len(pack_document(found)) < 2000

    def test_a_known_pair_without_weight_ranks_last(self):
        found = read([[0, 1], [1, 0]], groups=[0, 2], n_features=4, known=[(3, 1)])
        assert as_dict(found) == {(0, 2): 1.0, (1, 3): 0.0}
        assert found.ranks.tolist() == [1, 6]

    def test_ties_count_against(self):
        assert read(np.ones((3, 3))).ranks.tolist() == [3, 3, 3]
        assert read(np.zeros((3, 3)), known=[(0, 1)]).ranks.tolist() == [3]

    def test_one_column_has_no_pairs(self):
        found = read([[2.0]])
        assert (len(found.pairs), found.n_pairs, found.norm) == (0, 0, 2.0)

    def test_another_shape_and_what_is_not_finite_are_refused(self, subtests):
        for weights in [np.ones((2, 3)), np.ones(3), np.full((3, 3), np.nan), [[0, np.inf], [0, 0]]]:
            with (
                subtests.test(weights=weights),
                pytest.raises(ValueError, match="gave interaction_importances_ of shape"),
            ):
                read(weights, groups=[0, 1, 2])

    def test_p_values_of_another_shape_are_refused(self):
        with pytest.raises(ValueError, match=r"gave interaction_pvalues_ of shape \(2,\), expected \(3, 3\)"):
            read(np.ones((3, 3)), p_values=[0.1, 0.2])

    @given(
        hnp.arrays(float, (5, 5), elements=st.sampled_from([0.0, -1.0, 1.0, 2.0, -3.0])),
        st.lists(st.integers(0, 2), min_size=5, max_size=5),
    )
    def test_against_the_definition(self, weights, groups):
        found = as_dict(read(weights, groups=groups, n_features=3))
        for a in range(3):
            for b in range(a + 1, 3):
                entries = [weights[i, j] for i in range(5) for j in range(5) if {groups[i], groups[j]} == {a, b}]
                assert abs(found.get((a, b), 0.0)) == max(np.abs(entries), default=0.0)


class Pairs(ClassifierMixin, BaseEstimator):
    """Selector and classifier that weighs the pairs of its columns by the products of their numbers from 1."""

    def __init__(self, tells=True, shape=0, factor=1.0):
        self.tells, self.shape, self.factor = tells, shape, factor

    def fit(self, X, y):
        count = X.shape[1] + self.shape
        self.classes_, self.feature_importances_ = np.unique(y), np.arange(X.shape[1], 0, -1.0)
        if self.tells:
            self.interaction_importances_ = self.factor * np.outer(np.arange(1, count + 1), np.arange(1, count + 1))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def fold(true_pairs=()):
    """A number, a category of three, a number: five columns, those of the category last."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=24), np.arange(24) % 3, rng.normal(size=24)])
    y = np.arange(24) % 2
    train, test = stratified_splits(y, 4, 0)[0]
    return Fold(X, y, Columns(np.array([False, True, False])), train, test, "standard", 3, 1, true_pairs)


def run(selector, classifier, at=None, raw=False, **more):
    def make(expression, kind, **overrides):
        return Pairs(**{**expression.params, **overrides})

    step = None if selector is None else Step(parse(selector), "selector", raw)
    method = ResolvedMethod("m", step, Step(parse(classifier), "classifier"), **{"top": "all", **more})
    return run_trial(Trial("key", "d", "m", 0, 0, 1), method, at or fold(), metrics_of("accuracy"), make)


class TestTrial:
    def test_a_classifiers_columns_are_features_again(self):
        found = run(None, "pairs").interactions
        assert as_dict(found) == {(0, 1): 5.0, (0, 2): 2.0, (1, 2): 10.0}

    def test_the_selector_goes_first(self):
        assert as_dict(run("pairs(factor=-1.0)", "pairs").interactions) == {(0, 1): -5.0, (0, 2): -2.0, (1, 2): -10.0}
        assert as_dict(run("pairs(tells=False)", "pairs(factor=2.0)").interactions)[0, 1] == 10.0
        assert run("pairs(tells=False)", "pairs(tells=False)").interactions is None

    def test_a_raw_selector_has_features_already(self):
        assert as_dict(run("pairs", "pairs(tells=False)", raw=True).interactions) == {(0, 1): 2, (0, 2): 3, (1, 2): 6}

    def test_a_classifier_behind_a_selection_speaks_of_the_features_kept(self):
        found = run("pairs(tells=False)", "pairs", top=2, at=fold([(1, 2)])).interactions
        assert as_dict(found) == {(0, 2): 2.0, (1, 2): 0.0}
        assert found.n_pairs == 3

    @pytest.mark.parametrize(("selector", "classifier"), [("pairs(shape=1)", "pairs"), (None, "pairs(shape=1)")])
    def test_a_matrix_of_another_shape_fails_the_trial(self, selector, classifier):
        result = run(selector, classifier)
        assert (result.status, result.error_type) == (Status.ERROR, "ValueError")
        assert "gave interaction_importances_ of shape (6, 6)" in result.error_message

    def test_each_grid_point_has_its_own(self):
        grid = (("classifier", "factor", (1.0, 3.0)),)
        candidates = run(None, "pairs", grid=grid, selection="per-dataset").candidates
        assert [as_dict(point.interactions)[0, 1] for point in candidates] == [5.0, 15.0]
        assert as_dict(run(None, "pairs", grid=grid).interactions)[0, 1] == 5.0

    def test_whoever_fitted_the_selector(self):
        at = fold()
        one, other = run("pairs", "pairs(tells=False)", at), run("pairs", "pairs", at)
        assert as_dict(one.interactions) == as_dict(other.interactions)
