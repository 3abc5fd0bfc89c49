"""Methods that are registered, but whose packages only .ci/outside installs: the extra ``methods``."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

import mfbench
from mfbench_baselines.boosting import CatBoost, ExplainableBoosting, LightGBM
from mfbench_baselines.nonconvex import PenalisedLinear

pytestmark = pytest.mark.outside(reason="needs packages that nothing else needs")
QUICK = {
    "lightgbm": LightGBM(n_estimators=20, random_state=0),
    "catboost": CatBoost(n_estimators=20, random_state=0),
    "ebm": ExplainableBoosting(outer_bags=1, max_rounds=100, random_state=0),
    "mcp": PenalisedLinear(),
    "scad": PenalisedLinear(penalty="scad"),
    "slope": PenalisedLinear(penalty="slope"),
}


@pytest.mark.parametrize("name", QUICK)
def test_scikit_learn_accepts_it(name):
    failed = [
        record["check_name"]
        for record in check_estimator(QUICK[name], on_skip=None, on_fail=None)
        if record["status"] == "failed"
    ]
    assert failed == []


@pytest.mark.parametrize("name", ["lightgbm", "catboost", "ebm"])
def test_a_learner_learns_and_weighs(name):
    X, y = load_iris(return_X_y=True)
    model = mfbench.make(f"{name}(random_state=0)", kind="classifier").fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert set(np.argsort(model.feature_importances_)[2:]) == {2, 3}
    constant = QUICK[name].fit(np.ones((9, 2)), [0, 0, 0, 0, 0, 0, 1, 1, 1])
    assert constant.predict_proba(np.ones((1, 2))) == pytest.approx(np.array([[2 / 3, 1 / 3]]))
    assert constant.feature_importances_.tolist() == [0.0, 0.0]


def test_explainable_boosting_finds_the_pair():
    X = np.random.default_rng(0).normal(size=(600, 6))
    pairs = ExplainableBoosting(n_pairs=3, random_state=0).fit(X, X[:, 1] * X[:, 4] > 0).interaction_importances_
    assert np.argmax(pairs) == 1 * 6 + 4 and (pairs == pairs.T).all()


@pytest.mark.parametrize("penalty", ["mcp", "scad", "slope"])
def test_penalties_select_by_the_criterion(penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40)) * np.linspace(0.1, 9.0, 40)
    y = X[:, 30] / X[:, 30].std() + 0.5 * X[:, 5] / X[:, 5].std() + 0.5 * rng.normal(size=200)
    model = PenalisedLinear(penalty=penalty).fit(X, y)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {5, 30}
    if penalty != "slope":
        # Large coefficients are those of least squares on the selected features.
        assert model.get_support(indices=True).tolist() == [5, 30]
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        free = np.linalg.lstsq(Z[:, [5, 30]], (y - y.mean()) / y.std(), rcond=None)[0]
        assert model.coef_[0, [5, 30]] == pytest.approx(free, abs=1e-4)
    classes = np.digitize(y, [-0.5, 0.5])
    assert {5, 30} <= set(PenalisedLinear(penalty=penalty).fit(X, classes).get_support(indices=True))
