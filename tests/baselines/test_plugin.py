"""Every registered specification works as described."""

import subprocess
import sys
import warnings
from importlib import import_module

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import StandardScaler

from mfbench_baselines import plugin

ALL_SELECTORS, ALL_CLASSIFIERS = plugin.mfbench_selectors(), plugin.mfbench_classifiers()
# tests/outside has those of packages that are not installed with this one.
SELECTORS = [spec for spec in ALL_SELECTORS if not spec.requires]
CLASSIFIERS = [spec for spec in ALL_CLASSIFIERS if not spec.requires]
WITHOUT_PAPER = {"variance", "columns", "random", "dummy"}
FEW_FEATURES = {"logistic-interactions"}
BOTH = ["lasso", "elastic-net", "soda", "hiernet"]
# Parameters that make slow methods fast enough for generic tests.
QUICK = {"boruta": {"max_iter": 15, "n_estimators": 20}, "hiernet": {"relative_penalty": 0.2}}

every_spec = in_turn("spec", SELECTORS + CLASSIFIERS)
every_selector = in_turn("spec", SELECTORS)
every_classifier = in_turn("spec", CLASSIFIERS)


def build(spec, **parameters):
    """Build an estimator as the host does: defaults, then a seed if it has `random_state`."""
    module, _, name = spec.factory.partition(":")
    estimator = getattr(import_module(module), name)(**{**spec.defaults, **QUICK.get(spec.name, {})})
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator.set_params(**parameters)


def standardised(loader):
    X, y = loader(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_names():
    assert [spec.name for spec in ALL_SELECTORS] == [
        "variance",
        "anova-f",
        "mutual-info",
        "columns",
        "random-forest",
        "xgboost",
        "xgboost-shap",
        "lasso-cv",
        "elastic-net-cv",
        "lasso-path",
        "rfe",
        "sequential-forward",
        "mrmr",
        "boruta",
        "rank-ensemble",
        "mcp",
        "scad",
        "slope",
        "random",
        *BOTH,
    ]
    assert [spec.name for spec in ALL_CLASSIFIERS] == [
        "knn",
        "svm-rbf",
        "svm-sigmoid",
        "svm-linear",
        "decision-tree",
        "naive-bayes",
        "nearest-centroid",
        "lda",
        "adaboost",
        "random-forest",
        "extra-trees",
        "hist-boosting",
        "logistic-regression",
        "mlp",
        "gaussian-process",
        "lightgbm",
        "catboost",
        "ebm",
        "xgboost",
        "xgboost-interactions",
        "lmnn",
        "nca",
        "rbf-network",
        "logistic-interactions",
        "dummy",
        *BOTH,
    ]


@every_spec
def test_specification_is_complete(spec):
    assert spec.summary
    assert "\n" not in spec.summary
    assert "baseline" in spec.tags
    assert bool(spec.paper) == (spec.name not in WITHOUT_PAPER)
    estimator = build(spec)
    assert set(spec.defaults) | set(spec.grid) <= set(estimator.get_params())
    assert estimator.get_params().get("n_jobs") in (1, None)
    assert len(ParameterGrid({name: list(values) for name, values in spec.grid.items()})) <= 12


@pytest.mark.slow(reason="fits every point of every grid")
@every_spec
def test_every_grid_point_fits_without_a_warning(spec):
    X, y = standardised(load_wine)
    scores = []
    for point in ParameterGrid({name: list(values) for name, values in spec.grid.items()}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if spec.name == "boruta":  # few rounds leave features undecided, which it says
                warnings.filterwarnings("ignore", category=ConvergenceWarning)
            fitted = build(spec, **point).fit(X, y)
        scores.append(fitted.score(X, y) if spec in CLASSIFIERS else 1.0)
    assert spec.name == "dummy" or max(scores) > 0.95


@in_turn("spec", [spec for spec in SELECTORS + CLASSIFIERS if spec.name not in FEW_FEATURES])
def test_more_features_than_samples(spec):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 200)) + 3 * (y[:, None] == np.arange(200))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Boruta: .* are tentative")  # QUICK has few rounds
        build(spec).fit(X, y)


@every_selector
def test_selector_ranks_iris_and_repeats_itself(spec):
    X, y = standardised(load_iris)
    first, second = build(spec).fit(X, y), build(spec).fit(X, y)
    assert first.feature_importances_.shape == (4,)
    np.testing.assert_array_equal(first.feature_importances_, second.feature_importances_)
    if "control" not in spec.tags:
        assert set(np.argsort(first.feature_importances_)[2:]) == {2, 3}


@every_classifier
def test_classifier_learns_iris_and_repeats_itself(spec):
    X, y = standardised(load_iris)
    train = np.arange(len(y)) % 2 == 0
    first, second = (clone(build(spec)).fit(X[train], y[train]).predict(X[~train]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    accuracy = np.mean(first == y[~train])
    assert accuracy == pytest.approx(1 / 3) if spec.name == "dummy" else accuracy > 0.8


def test_importing_the_plugin_loads_no_numerical_library():
    code = (
        "import sys, mfbench_baselines.plugin as plugin\n"
        "plugin.mfbench_selectors(), plugin.mfbench_classifiers()\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'xgboost', 'pandas'} & set(sys.modules)))"
    )
    environment_paths = [path for path in sys.path if path]
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {environment_paths!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "[]"
