"""Information criteria against their definitions, written out over a table of counts, and against closed forms."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.feature_selection import f_classif
from sklearn.metrics import mutual_info_score

from mfbench_information._levels import levels_of
from mfbench_information.filters import FisherScore, InformationFilter
from mfbench_information.greedy import CRITERIA, GreedyInformation
from mfbench_information.subsets import CFS, FCBF

MEASURES = ("gain", "gain-ratio", "symmetric-uncertainty", "chi2", "gini")


def entropy(*columns):
    """The entropy of some columns together, in bits."""
    shares = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(columns[0])
    return float(-(shares * np.log2(shares)).sum())


def information(x, y, given=None):
    """I(x; y | given) by entropies of the columns together."""
    if given is None:
        return entropy(x) + entropy(y) - entropy(x, y)
    return entropy(x, given) + entropy(y, given) - entropy(x, y, given) - entropy(given)


def pair(a, b):
    return np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)[1].ravel()


DEFINITIONS = {
    "jmi": lambda x, y, S: sum(information(pair(x, k), y) for k in S),
    "disr": lambda x, y, S: sum(information(pair(x, k), y) / entropy(x, k, y) for k in S),
    "jmim": lambda x, y, S: min(information(pair(x, k), y) for k in S),
    "njmim": lambda x, y, S: min(information(pair(x, k), y) / entropy(x, k, y) for k in S),
    "cmim": lambda x, y, S: min([information(x, y), *(information(x, y, k) for k in S)]),
    "cife": lambda x, y, S: information(x, y) - sum(information(x, k) - information(x, k, y) for k in S),
    "icap": lambda x, y, S: information(x, y) - sum(max(0.0, information(x, k) - information(x, k, y)) for k in S),
    "mifs": lambda x, y, S: information(x, y) - 0.7 * sum(information(x, k) for k in S),
}


@pytest.fixture(scope="module", params=["wine", "coarse"])
def table(request):
    """Levels of a real table with three classes, or of few values with many ties and a constant."""
    if request.param == "wine":
        X, y = load_wine(return_X_y=True)
    else:
        rng = np.random.default_rng(1)
        y = rng.integers(0, 2, 40)
        X = np.column_stack([rng.integers(0, 3, (40, 5)) + y[:, None] * [2, 1, 0, 0, 1], np.ones(40)])
    return X.astype(float), y


@pytest.mark.parametrize("criterion", list(CRITERIA))
def test_each_step_takes_the_largest_score_of_the_definition(table, criterion):
    X, y = table
    model = GreedyInformation(criterion=criterion, n_ranked=6, bins=4, beta=0.7).fit(X, y)
    columns, sizes = levels_of(X, y, "frequency", 4)
    assert len(model.order_) == min(6, np.count_nonzero(sizes > 1))
    for step, (taken, score) in enumerate(zip(model.order_, model.scores_, strict=True)):
        before = [columns[k] for k in model.order_[:step]]
        scores = {
            j: information(columns[j], y) if not before else DEFINITIONS[criterion](columns[j], y, before)
            for j in range(len(columns))
            if j not in model.order_[:step] and sizes[j] > 1
        }
        assert score == pytest.approx(scores[taken], abs=1e-12)
        assert scores[taken] == pytest.approx(max(scores.values()), abs=1e-12)
        assert taken == min(j for j, other in scores.items() if other > scores[taken] - 1e-12)


def test_pairs_are_seen_once_one_of_them_is_selected():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 6)).astype(float)
    y = (X[:, 2] != X[:, 4]).astype(int)
    X[:8, 2] = y[:8]  # a trace of relevance, so that the first is one of the pair
    order = GreedyInformation(criterion="jmi").fit(np.column_stack([X, y ^ (rng.random(400) < 0.3)]), y).order_
    assert order[0] == 6
    assert 4 in GreedyInformation(criterion="jmi", n_ranked=2).fit(X[:, 2:5], y).order_ + 2


def test_numbers_to_predict_and_threads():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 12))
    y = X[:, 3] + 0.5 * X[:, 7] + 0.1 * rng.normal(size=300)
    for criterion in CRITERIA:
        one, four = (GreedyInformation(criterion=criterion, n_jobs=n).fit(X, y) for n in (1, 4))
        assert one.order_[0] == 3
        assert one.order_.tolist() == four.order_.tolist() and one.scores_.tolist() == four.scores_.tolist()
    assert np.argmax(InformationFilter(target="numbers").fit(X, np.round(y)).feature_importances_) == 3


class TestFilters:
    def test_information_is_that_of_scikit_learn(self, table):
        X, y = table
        columns, _ = levels_of(X, y, "frequency", 5)
        gain = InformationFilter().fit(X, y).feature_importances_
        assert gain == pytest.approx([mutual_info_score(c, y) / np.log(2) for c in columns], abs=1e-12)
        ratio = InformationFilter(measure="gain-ratio").fit(X, y).feature_importances_
        assert ratio == pytest.approx([g / entropy(c) if g else 0.0 for g, c in zip(gain, columns, strict=True)])
        both = InformationFilter(measure="symmetric-uncertainty").fit(X, y).feature_importances_
        assert both == pytest.approx([2 * g / (entropy(c) + entropy(y)) for g, c in zip(gain, columns, strict=True)])

    def test_chi_squared_is_that_of_scipy(self, table):
        X, y = table
        model = InformationFilter(measure="chi2").fit(X, y)
        for j, column in enumerate(levels_of(X, y, "frequency", 5)[0]):
            counts = np.array([[np.sum((column == a) & (y == b)) for b in np.unique(y)] for a in np.unique(column)])
            if len(counts) == 1:
                assert (model.feature_importances_[j], model.p_values_[j]) == (0.0, 1.0)
                continue
            expected = chi2_contingency(counts, correction=False)
            assert model.feature_importances_[j] == pytest.approx(expected.statistic)
            assert model.p_values_[j] == pytest.approx(expected.pvalue)

    def test_gini_is_the_decrease_of_the_impurity(self, table):
        X, y = table

        def impurity(labels):
            return 1.0 - float(((np.unique(labels, return_counts=True)[1] / len(labels)) ** 2).sum())

        expected = [
            impurity(y) - sum(np.mean(column == level) * impurity(y[column == level]) for level in np.unique(column))
            for column in levels_of(X, y, "frequency", 5)[0]
        ]
        assert InformationFilter(measure="gini").fit(X, y).feature_importances_ == pytest.approx(expected, abs=1e-12)

    def test_the_fisher_score_is_the_f_statistic_without_its_degrees_of_freedom(self):
        X, y = load_wine(return_X_y=True)
        n, k = len(X), 3
        expected = f_classif(X, y)[0] * (k - 1) / (n - k)
        assert FisherScore().fit(X, y).feature_importances_ == pytest.approx(expected, rel=1e-9)

    def test_separated_constant_and_extreme_columns_have_a_fisher_score(self):
        X = np.array([[0.1, 3.0, -1.7e308], [0.1, 3.0, -1.6e308], [0.7, 3.0, 1.6e308], [0.7, 3.0, 1.7e308]])
        first, second, third = FisherScore().fit(X, [0, 0, 1, 1]).feature_importances_
        assert (first, second) == (np.finfo(float).max, 0.0)
        assert third == pytest.approx(33.0**2)

    @pytest.mark.parametrize("measure", MEASURES)
    def test_a_copy_of_the_classes_is_first_and_a_constant_last(self, measure):
        rng = np.random.default_rng(5)
        y = rng.integers(0, 3, 90)
        X = np.column_stack([rng.normal(size=90), y, np.full(90, 4.0)])
        importances = InformationFilter(measure=measure).fit(X, y).feature_importances_
        assert np.argmax(importances) == 1 and importances[2] == 0.0


def symmetric_uncertainty(a, b):
    total = entropy(a) + entropy(b)
    return 2.0 * information(a, b) / total if total else 0.0


class TestSubsets:
    def test_fcbf_keeps_what_the_rule_of_its_paper_keeps(self, table):
        X, y = table
        columns = levels_of(X, y, "frequency", 4)[0]
        relevance = [symmetric_uncertainty(column, y) for column in columns]
        left = sorted((j for j in range(len(columns)) if relevance[j] > 0.02), key=lambda j: -relevance[j])
        for first in list(left):
            if first in left:
                left = [
                    j
                    for j in left
                    if left.index(j) <= left.index(first)
                    or symmetric_uncertainty(columns[first], columns[j]) < relevance[j]
                ]
        model = FCBF(threshold=0.02, binning="frequency", bins=4).fit(X, y)
        assert np.flatnonzero(model.feature_importances_).tolist() == sorted(left)
        assert model.feature_importances_[left] == pytest.approx([relevance[j] for j in left], abs=1e-11)

    @pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
    def test_the_merit_of_cfs_is_that_of_its_definition_and_no_single_change_raises_it(self, load):
        X, y = load(return_X_y=True)
        model = CFS(binning="frequency", bins=4).fit(X, y)
        columns = levels_of(X, y, "frequency", 4)[0]

        def merit(subset):
            between = [symmetric_uncertainty(columns[a], columns[b]) for a, b in itertools.combinations(subset, 2)]
            own = sum(symmetric_uncertainty(columns[j], y) for j in subset)
            return own / np.sqrt(len(subset) + 2 * sum(between))

        assert model.merit_ == pytest.approx(merit(model.order_), abs=1e-10)
        for j in set(range(len(columns))) - set(model.order_):
            assert merit([*model.order_, j]) <= model.merit_ + 1e-10

    def test_nothing_relevant_is_an_empty_subset(self):
        X = np.random.default_rng(0).normal(size=(60, 5))
        y = np.arange(60) % 2
        model = CFS().fit(X, y)
        assert (model.order_.tolist(), model.merit_) == ([], 0.0)
        assert not FCBF().fit(X, y).feature_importances_.any()

    def test_of_two_copies_one_is_kept(self):
        rng = np.random.default_rng(2)
        y = rng.integers(0, 2, 80)
        noisy = y ^ (rng.random(80) < 0.1)
        X = np.column_stack([rng.normal(size=80), noisy, noisy]).astype(float)
        assert np.flatnonzero(FCBF().fit(X, y).feature_importances_).tolist() == [1]
        assert CFS().fit(X, y).order_.tolist() == [1]


@pytest.mark.parametrize(
    "estimator",
    [GreedyInformation(criterion="jmii"), GreedyInformation(bins=1), InformationFilter(binning="even"),
     FCBF(threshold=2.0), GreedyInformation(n_ranked=0), CFS(n_features_to_select=4)],
)  # fmt: skip
def test_a_parameter_out_of_range_is_refused_by_name(estimator):
    with pytest.raises(ValueError, match=r"criterion|bins|binning|threshold|n_ranked|n_features_to_select"):
        estimator.fit(np.eye(3)[[0, 1, 2, 0]], [0, 1, 0, 1])


def test_one_class_is_refused():
    for estimator in (GreedyInformation(), InformationFilter(), FisherScore(), FCBF(), CFS()):
        with pytest.raises(ValueError, match="at least two classes"):
            estimator.fit(np.eye(3), [1, 1, 1])
