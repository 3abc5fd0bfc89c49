"""SODA against a plain implementation on scikit-learn's logistic regression, and on planted terms."""

import warnings

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from mfbench.testing import sample
from mfbench_baselines import _multinomial
from mfbench_baselines._columns import strongest
from mfbench_baselines.soda import SODA


def planted(n=500, p=6, seed=0, slope=1.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, slope * (X[:, 1] + X[:, 2] * X[:, 3]) + rng.logistic(size=n) > 0


def column(X, term):
    return X[:, term[0]] if len(term) == 1 else X[:, term[0]] * X[:, term[1]]


def plain_ebic(X, y, terms, gamma):
    """The criterion, computed with scikit-learn's unpenalised regression."""
    n, p = X.shape
    n_classes = len(np.unique(y))
    if terms:
        D = np.column_stack([column(X, term) for term in terms])
        D = D / D.std(axis=0)
        model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, max_iter=200).fit(D, y)
        deviance = 2 * log_loss(y, model.predict_proba(D), normalize=False)
    else:
        shares = np.unique(y, return_counts=True)[1] / n
        deviance = -2 * n * (shares * np.log(shares)).sum()
    return deviance + (n_classes - 1) * (1 + len(terms)) * (np.log(n) + 2 * gamma * np.log(p))


def plain_path(X, y, gamma):
    """The three passes written plainly; every candidate is fitted from scratch."""
    p = X.shape[1]
    score = lambda terms: plain_ebic(X, y, terms, gamma)  # noqa: E731
    terms, path = [], []
    while True:
        options = [[*terms, (j,)] for j in range(p) if (j,) not in terms]
        if not options or min(map(score, options)) >= score(terms):
            break
        terms = min(options, key=score)
        path.append(("main", terms[-1], score(terms)))
    mains, paired = terms, []
    while len(paired) < p:
        options = {}
        for j in set(range(p)) - set(paired):
            grown = sorted([*paired, j])
            singles = [(i,) for i in grown if (i,) not in mains]
            options[j] = [*mains, *singles, *((i, k) for i in grown for k in grown if i <= k)]
        best = min(options, key=lambda j: score(options[j]))
        if len(paired) >= 3 and score(options[best]) >= score(terms):
            break
        paired.append(best)
        terms = options[best]
        path.append(("interaction", (best,), score(terms)))
    while terms:
        options = {term: [other for other in terms if other != term] for term in terms}
        best = min(options, key=lambda term: score(options[term]))
        if score(options[best]) >= score(terms):
            break
        terms = options[best]
        path.append(("backward", best, score(terms)))
    return terms, path


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_path_matches_a_plain_implementation(gamma, kind):
    X, y = planted(n=250, p=4, slope=1.0)
    if kind == "three classes":
        y = y.astype(int) + (X[:, 0] + np.random.default_rng(1).logistic(size=len(y)) > 1)
    terms, path = plain_path(X, y, gamma)
    model = SODA(gamma=gamma).fit(X, y)
    assert model.terms_ == terms
    assert [move[:2] for move in model.path_] == [move[:2] for move in path]
    np.testing.assert_allclose([move[2] for move in model.path_], [move[2] for move in path], rtol=1e-6)
    assert model.ebic_ == pytest.approx(path[-1][2], rel=1e-6)


@in_turn("seed", range(5))
def test_fitting_all_candidates_changes_nothing(seed):
    X, y = planted(n=200, p=25, seed=seed, slope=1.0)
    few, all_of_them = SODA(n_refits=10).fit(X, y), SODA(n_refits=25).fit(X, y)
    assert [move[:2] for move in few.path_] == [move[:2] for move in all_of_them.path_]


def test_planted_terms_are_selected():
    X, y = planted()
    model = SODA(gamma=1.0).fit(X, y)
    assert set(model.terms_) == {(1,), (2, 3)}
    assert np.flatnonzero(model.feature_importances_).tolist() == [1, 2, 3]
    assert model.get_support(indices=True).tolist() == [1, 2, 3]
    expected = np.zeros((6, 6))
    expected[2, 3] = expected[3, 2] = model.likelihood_ratios_[model.terms_.index((2, 3))]
    np.testing.assert_array_equal(model.interaction_importances_, expected)
    assert expected.max() > 50


def test_likelihood_ratios_are_differences_of_deviances():
    X, y = planted()
    model = SODA(gamma=0.0).fit(X, y)
    deviance = lambda terms: plain_ebic(X, y, terms, 0) - (1 + len(terms)) * np.log(len(y))  # noqa: E731
    for term, ratio in zip(model.terms_, model.likelihood_ratios_, strict=True):
        rest = [other for other in model.terms_ if other != term]
        assert ratio == pytest.approx(deviance(rest) - deviance(model.terms_), rel=1e-5)
        assert ratio > np.log(len(y)), "otherwise it would have been removed"


def test_noise_gives_the_empty_model():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    model = SODA(gamma=1.0).fit(X, y)
    assert model.terms_ == []
    counts = np.bincount(y)
    empty = -2 * (counts * np.log(counts / 300)).sum() + np.log(300) + 2 * np.log(5)
    assert model.ebic_ == pytest.approx(empty, rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X[:2]), [counts / 300] * 2, rtol=1e-6)
    assert not model.feature_importances_.any()


@pytest.mark.parametrize("seed", range(3))
def test_the_empty_model_of_equal_classes_has_equal_shares(seed):
    rng = np.random.default_rng(seed)
    model = SODA(gamma=1.0).fit(rng.normal(size=(200, 12)), np.arange(200) % 2)
    assert model.terms_ == []
    np.testing.assert_array_equal(model.predict_proba(np.zeros((1, 12))), [[0.5, 0.5]])


def test_backward_never_raises_the_criterion():
    X, y = load_iris(return_X_y=True)
    model = SODA(gamma=0.5).fit(X - X.mean(axis=0), y)
    after = [score for stage, _, score in model.path_ if stage != "main"]
    removals = sum(stage == "backward" for stage, _, _ in model.path_)
    assert removals > 3
    assert (np.diff(after[-removals - 1 :]) < 0).all()


def test_order_of_columns_and_labels_does_not_matter():
    X, y = planted(p=5)
    order = np.array([3, 0, 4, 1, 2])
    one, other = SODA().fit(X, y), SODA().fit(X[:, order], np.where(y, "a", "b"))
    renamed = {tuple(sorted(int(order[j]) for j in term)) for term in other.terms_}
    assert renamed == set(one.terms_)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X[:, order])[:, ::-1], atol=1e-4)


def test_separation_constants_and_copies_are_harmless():
    X, _ = planted(n=80, p=4)
    X = np.column_stack([X, X[:, 0], np.full(80, 3.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SODA().fit(X, X[:, 0] > 0)
    assert model.separated_ and model.score(X, X[:, 0] > 0) == 1.0
    assert np.isfinite(model.coef_).all()
    assert model.terms_ in ([(0,)], [(4,)]), "one of the two copies, and no product with the constant"
    assert SODA().fit(np.full((6, 2), 3.0), [0, 1] * 3).terms_ == []


@pytest.mark.parametrize("seed", [0, 1])
def test_terms_of_features_without_a_marginal_effect_are_selected_by_default(seed):
    """The example of the authors' package: correlated features, of which x9 and x19 act together alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(250, 1000))
    for j in range(1, 1000):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    y = rng.logistic(size=250) < 1 + X[:, 0] - X[:, 9] ** 2 + X[:, 9] * X[:, 19]
    assert not {9, 19} & set(strongest(X, y.astype(int), 200))
    assert {(0,), (9, 9), (9, 19)} <= set(SODA().fit(X, y).terms_)


def test_a_limit_on_the_features_bounds_the_search():
    X, y = planted(n=200, p=50)
    X[:, 7] += y
    model = SODA(max_features=10).fit(X, y)
    assert {j for term in model.terms_ for j in term} <= set(strongest(X, y.astype(int), 10))
    wide = np.zeros((30, 5001))
    wide[:, 0] = np.arange(30)
    assert not hasattr(SODA(max_features=3).fit(wide, np.arange(30) > 15), "interaction_importances_")


def test_a_regression_that_does_not_converge_warns(monkeypatch):
    climb, descend = _multinomial.climb, _multinomial.descend
    X, y = planted()
    assert SODA().fit(X, y).converged_
    monkeypatch.setattr(_multinomial, "climb", lambda *a: (*climb(*a)[:2], False))
    monkeypatch.setattr(_multinomial, "descend", lambda *a: (*descend(*a)[:2], False))
    with pytest.warns(ConvergenceWarning, match="SODA: Newton's method has not converged") as caught:
        assert not SODA().fit(X, y).converged_
    assert len(caught) == 1


@in_turn("parameters", [{"gamma": -0.1}, {"max_features": 0}, {"n_refits": 0}])
def test_invalid_parameters_raise(parameters):
    with pytest.raises(ValueError, match="gamma must be at least 0"):
        SODA(**parameters).fit(*planted())


def test_weights_of_separated_classes_are_likelihood_ratios():
    """The model separates the classes, and no removal may stop before the maximum of the smaller model."""
    X, y = sample(seed=1)
    X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    fitted = SODA().fit(X, y)
    columns = {term: X[:, list(term)].prod(axis=1) for term in fitted.terms_}

    def deviance(terms):
        design = StandardScaler().fit_transform(np.column_stack([columns[term] for term in terms]))
        logistic = LogisticRegression(C=1e9, max_iter=20_000, tol=1e-9).fit(design, y)
        return 2 * log_loss(y, logistic.predict_proba(design), normalize=False)

    whole = deviance(fitted.terms_)
    assert whole < 0.1
    for feature, weight in enumerate(fitted.feature_importances_):
        ratios = [deviance([t for t in columns if t != own]) - whole for own in columns if feature in own]
        assert weight == pytest.approx(max(ratios, default=0.0), rel=0.01)
