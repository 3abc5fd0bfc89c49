"""The estimators and the dataset of the generated package do what their docstrings state."""

import importlib

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.utils.estimator_checks import check_estimator

from mfbench_check.scaffold.render import render, write


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The imported package."""
    folder = tmp_path_factory.mktemp("scaffold")
    write(render("scaffold-examples"), folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder / "src"))
        package = importlib.import_module("mfbench_scaffold_examples")
        for module in ("selector", "classifier", "regressor", "data"):
            importlib.import_module(f"{package.__name__}.{module}")
        yield package


@pytest.fixture
def data(package):
    return package.data.thirds()


def test_the_selector_is_the_definition(package, data):
    gaps, spread = [], np.zeros(data.n_features)
    for a in range(3):
        rows = data.X[data.y == a]
        spread += ((rows - rows.mean(axis=0)) ** 2).sum(axis=0) / (data.n_samples - 3)
        gaps += [np.abs(rows.mean(axis=0) - data.X[data.y == b].mean(axis=0)) for b in range(a)]
    for gap, distance in (("largest", np.max(gaps, axis=0)), ("mean", np.mean(gaps, axis=0))):
        squared = distance**2 / spread
        selector = package.selector.ScaffoldExamplesSelector(gap=gap).fit(data.X, data.y)
        np.testing.assert_allclose(selector.feature_importances_, squared / (1 + squared), rtol=1e-10)


def test_the_weights_do_not_change_with_units(package, data):
    scales = np.linspace(-1e6, 1e-3, data.n_features)
    weights = [
        package.selector.ScaffoldExamplesSelector().fit(X, data.y).feature_importances_
        for X in (data.X, scales * data.X + 17)
    ]
    np.testing.assert_allclose(*weights, rtol=1e-6)


@pytest.mark.parametrize("value", [0.1, 1e-300, 1e9 + 0.3])
def test_constant_features_and_those_that_separate_the_classes_have_finite_weights(package, value):
    X = np.column_stack([np.full(30, value), np.repeat([0.0, 0.1, 0.3], 10), np.tile([0.1, 0.2], 15)])
    y = np.repeat([0, 1, 2], 10)
    weights = package.selector.ScaffoldExamplesSelector().fit(X, y).feature_importances_
    np.testing.assert_allclose(weights, [0, 1, 0], atol=1e-12)
    classifier = package.classifier.ScaffoldExamplesClassifier().fit(X, y)
    assert classifier.score(X, y) == 1
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore:Skipping check")
def test_scikit_learn_accepts_the_estimators(package):
    check_estimator(package.selector.ScaffoldExamplesSelector())
    check_estimator(package.classifier.ScaffoldExamplesClassifier())
    check_estimator(package.regressor.ScaffoldExamplesRegressor())


@pytest.mark.parametrize("power", [0.0, 1.0, 3.0])
def test_the_regressor_is_the_definition(package, power):
    X = np.random.default_rng(0).normal(size=(60, 4)) * [1, 10, 1e-3, 0] + 7
    y = X[:, 0] - 0.2 * X[:, 1] + 5
    model = package.regressor.ScaffoldExamplesRegressor(power=power).fit(X, y)
    varying = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    correlation = np.array([np.corrcoef(column, y)[0, 1] for column in varying.T])
    scores = varying @ (np.sign(correlation) * np.abs(correlation) ** power)
    slope, intercept = np.polyfit(scores, y, 1)
    np.testing.assert_allclose(model.predict(X), slope * scores + intercept, rtol=1e-9)
    assert model.coef_[3] == 0
    if power == 1:
        peer = PLSRegression(n_components=1).fit(X[:, :3], y)
        np.testing.assert_allclose(model.predict(X), peer.predict(X[:, :3]).ravel(), rtol=1e-9)


def test_the_dataset_is_balanced_and_has_its_seed(package):
    thirds = package.data.thirds
    assert np.bincount(thirds().y).tolist() == [67, 67, 66]
    assert (thirds(seed=1).X == thirds(seed=1).X).all()
    assert (thirds(seed=1).X != thirds(seed=2).X).any()
