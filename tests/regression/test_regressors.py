"""Regressors: scikit-learn's rules, targets of any scale, and a run whose scores are those of scikit-learn."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mfbench
from mfbench.host.registry import load_registry
from mfbench.report.heading import setting_of
from mfbench_regression.regressors import SVR, ElasticNet, GaussianProcess, LinearSVR

REGRESSORS = sorted(load_registry(only=["regression"]).listed("regressor"))
FAILURES = {"check_sample_weight_equivalence_on_dense_data": "libsvm stops elsewhere"}
SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
repeats = 2
inner_folds = 2
[[datasets]]
use = ["friedman-regression-1(n_samples=90)"]
[[methods]]
label = "RIDGE"
regressor = "ridge(alpha=2.0)"
[[methods]]
label = "TUNED"
selector = "anova-f"
regressor = "knn"
tune = { top = [2, 5], n_neighbors = [1, 5] }
[[methods]]
label = "CURVE"
selector = "random-forest(n_estimators=5)"
regressor = "svr-linear"
curve = [1, 5, "all"]
[[methods]]
label = "MEAN"
regressor = "constant"
[report]
missing = "impute-dummy"
"""


@parametrize_with_checks(
    [ElasticNet(), LinearSVR(), SVR(), GaussianProcess()],
    expected_failed_checks=lambda estimator: FAILURES if isinstance(estimator, SVR) else {},
)
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return mfbench.load_dataset("friedman-regression-1(n_samples=120, seed=3)")


def seeded_regressor(name):
    model = mfbench.make(name, kind="regressor")
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


@pytest.mark.parametrize("name", REGRESSORS)
def test_predictions_do_not_depend_on_the_scale_of_the_target(name, data):
    """Up to rounding; a learner whose penalty refers to the target would be useless on euros and good on millions."""
    train, test = slice(0, 80), slice(80, None)
    predicted = []
    for factor, shift in ((1.0, 0.0), (1000.0, -5e5)):
        model = seeded_regressor(name)
        model.fit(data.X[train], factor * data.y[train] + shift)
        predicted.append((model.predict(data.X[test]) - shift) / factor)
    if name == "constant":
        np.testing.assert_allclose(predicted[1], predicted[0])
        return
    assert r2_score(predicted[0], predicted[1]) > 0.98  # trees grow from other roundings
    assert r2_score(data.y[test], predicted[0]) > 0.2


def test_the_global_random_state_is_left_alone(data):
    before = str(np.random.get_state()[1:])  # noqa: NPY002 - the state that must not change
    for name in REGRESSORS:
        seeded_regressor(name).fit(data.X, data.y)
        assert str(np.random.get_state()[1:]) == before, name  # noqa: NPY002


def test_a_gaussian_process_refuses_many_rows():
    with pytest.raises(ValueError, match=r"at most 2,000 rows, got 2,001: sample some"):
        GaussianProcess().fit(np.zeros((2001, 1)), np.arange(2001.0))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "own.toml").write_text(SUITE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mfbench.run_suite(str(folder / "own.toml"), out=folder, jobs=1, strict=True)


def test_the_scores_are_those_of_scikit_learn(run):
    data = mfbench.load_dataset("friedman-regression-1(n_samples=90)")
    rows = run.test_rows("friedman-regression-1(n_samples=90)")
    assert len(rows) == 6 and sorted(np.concatenate([rows[0, fold] for fold in range(3)])) == list(range(90))
    for trial in run.trials[run.trials["method"] == "RIDGE"].to_dict("records"):
        test = rows[trial["repeat"], trial["fold"]]
        train = np.setdiff1d(np.arange(90), test)
        centre, scale = data.X[train].mean(axis=0), data.X[train].std(axis=0)
        ridge = Ridge(alpha=2.0).fit((data.X[train] - centre) / scale, data.y[train])
        predicted = ridge.predict((data.X[test] - centre) / scale)
        np.testing.assert_allclose(trial["predictions"], predicted, rtol=1e-10)
        assert trial["r2"] == pytest.approx(r2_score(data.y[test], predicted), rel=1e-10)
        assert trial["rmse"] == pytest.approx(np.sqrt(np.mean((predicted - data.y[test]) ** 2)), rel=1e-10)


def test_every_method_has_results(run):
    assert set(run.trials["status"]) == {"ok"}
    assert {"regressor.n_neighbors", "top"} == set(run.trials[run.trials["method"] == "TUNED"]["chosen"].iloc[0])
    means = run.scores.set_index("method")["mean"]
    assert means["MEAN"] < 0 < means["RIDGE"]
    by_loss = run.summary(metric="rmse").set_index("method")["rank"]
    assert by_loss["MEAN"] == 4 and by_loss.min() == 1


def test_the_report_speaks_of_numbers(run):
    setting = setting_of(run)
    assert "a number as the target" in setting and "stratified" not in setting


def test_values_on_which_liblinear_does_not_end_are_refused():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20.0)
    with pytest.raises(ValueError, match=r"takes values up to 1e\+75, and X has .*e\+150: scale the columns"):
        LinearSVR().fit(1e150 * X, y)
    assert np.isfinite(LinearSVR().fit(1e74 * X, y).predict(1e74 * X)).all()
