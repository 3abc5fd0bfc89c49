"""Everything the plugin registers can be created, fitted and tuned over its own grid."""

import subprocess
import sys

import pytest
from in_turn import in_turn
from sklearn.datasets import load_iris
from sklearn.model_selection import ParameterGrid

from mfbench.host.registry import load_registry
from mfbench_similarity import plugin


@pytest.fixture(scope="module")
def registry():
    return load_registry(strict=True, only=[], extra=[("similarity", plugin)])


CLASSIFIERS = [spec.name for spec in plugin.mfbench_classifiers()]
SELECTORS = [spec.name for spec in plugin.mfbench_selectors()]


def test_names(registry):
    assert set(registry.listed("classifier")) == set(CLASSIFIERS)
    assert set(CLASSIFIERS) == {
        "sila",
        "rbs",
        "rbs-psd",
        "srbs",
        "srbs-psd",
        "relief-psd",
        "relief-similarity",
        "knn-cosine",
        "knn-euclidean",
    }
    assert set(SELECTORS) == set(CLASSIFIERS) - {"relief-similarity", "knn-cosine", "knn-euclidean"}


@pytest.mark.filterwarnings("ignore:.*sigmoid is flat")
@in_turn("name", CLASSIFIERS)
def test_classifiers(name):
    spec = next(spec for spec in plugin.mfbench_classifiers() if spec.name == name)
    X, y = load_iris(return_X_y=True)
    for point in list(ParameterGrid(dict(spec.grid)))[::5]:
        classifier = _factory(spec.factory)(**{**spec.defaults, **point})
        assert classifier.fit(X[::3] - X.mean(axis=0), y[::3]).predict(X).shape == (150,)


@in_turn("name", SELECTORS)
def test_selectors(name):
    spec = next(spec for spec in plugin.mfbench_selectors() if spec.name == name)
    X, y = load_iris(return_X_y=True)
    selector = _factory(spec.factory)(**spec.defaults).fit(X - X.mean(axis=0), y)
    assert selector.feature_importances_.shape == (4,)
    assert (selector.matrix_ == selector.matrix_ * [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]).all()


def _factory(text):
    module, _, name = text.partition(":")
    return getattr(__import__(module, fromlist=[name]), name)


def test_listing_loads_no_numeric_library():
    code = "import sys, mfbench_similarity.plugin as p; p.mfbench_classifiers() + p.mfbench_selectors(); "
    code += "print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "sklearn", "pandas", "numba"} & set(loaded)
