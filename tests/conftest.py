"""Shared fixtures: plugins built from a few specs, and a registry that contains nothing else."""

import types

import hypothesis
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from mfbench import ClassifierSpec, Dataset, DatasetSpec, SelectorSpec, hookimpl
from mfbench.host.registry import load_registry
from mfbench.run.metadata import Environment, RecordedSuite, RunMetadata
from mfbench.suite.schema import ProtocolSettings

# A busy machine must not fail a test: speed is measured in tests/benchmarks.
hypothesis.settings.register_profile("mfbench", deadline=None)
hypothesis.settings.load_profile("mfbench")


# The plugins whose functions numba compiles, which takes longer than their tests.
COMPILED = ("margin", "relevance", "similarity", "sqpfw")


def pytest_collection_modifyitems(items):
    """Require a reason wherever a test is left out of the usual run; let one process compile a plugin's functions."""
    for item in items:
        folder = item.path.relative_to(item.config.rootpath).parts[1].removeprefix("mfbench_")
        if folder in COMPILED:
            item.add_marker(pytest.mark.xdist_group(folder))
        for mark in item.iter_markers("slow"):
            if not mark.kwargs.get("reason"):
                raise pytest.UsageError(f"{item.nodeid} is marked slow without a reason")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Keep the tests, and the commands that they start, away from the user's cache of datasets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MFBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


class Weigh(BaseEstimator):
    """A selector: the distance between the first two class means, feature by feature."""

    def __init__(self, power=1.0, k=1, random_state=None):
        self.power, self.k, self.random_state = power, k, random_state

    def fit(self, X, y):
        classes = np.unique(y)
        means = [X[y == code].mean(axis=0) for code in classes[:2]]
        self.feature_importances_ = np.abs(means[0] - means[1]) ** self.power
        return self


class Nearest(ClassifierMixin, BaseEstimator):
    """A classifier: the nearest class mean."""

    def __init__(self, shift=0.0, k=1, random_state=None):
        self.shift, self.k, self.random_state = shift, k, random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == code].mean(axis=0) + self.shift for code in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((X[:, None, :] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


def blobs(n_samples=24, shift=2.0):
    """Load two Gaussian classes; only the first of three features separates them."""
    y = np.arange(n_samples) % 2
    X = np.random.default_rng(0).normal(size=(n_samples, 3))
    X[:, 0] += shift * y
    return Dataset(
        name="blobs",
        X=X,
        y=y.astype(np.int64),
        class_names=("no", "yes"),
        feature_names=("a", "b", "c"),
        categorical=np.zeros(3, bool),
    )


@pytest.fixture(scope="session")
def make_plugin():
    """Return a function that builds a plugin module from lists of specs; a callable becomes the hook itself."""

    def hook_of(value):
        @hookimpl
        def hook():
            return value() if callable(value) else list(value)

        return hook

    def make(name, **hooks):
        module = types.ModuleType(name)
        for kind, value in hooks.items():
            setattr(module, f"mfbench_{kind}", hook_of(value))
        return module

    return make


@pytest.fixture(scope="session")
def toy_plugin(make_plugin):
    """A plugin with two selectors, two classifiers and three datasets."""

    def broken():
        raise OSError("the disk is gone")

    return make_plugin(
        "toy_plugin",
        selectors=[
            SelectorSpec(name="weigh", summary="", factory=Weigh, grid={"power": (1.0, 2.0)}),
            SelectorSpec(name="raw", summary="", factory=Weigh, raw_input=True),
        ],
        classifiers=[
            ClassifierSpec(name="nearest", summary="", factory=Nearest, grid={"shift": (0.0, 0.5)}),
            ClassifierSpec(name="plain", summary="", factory=Nearest),
        ],
        datasets=[
            DatasetSpec(name="blobs", summary="", loader=blobs, n_samples=24, n_features=3, n_classes=2),
            DatasetSpec(name="other-blobs", summary="", loader=lambda: blobs(30)),
            DatasetSpec(name="broken", summary="", loader=broken),
        ],
    )


@pytest.fixture
def toy_registry(toy_plugin):
    """A registry that contains only that plugin."""
    return load_registry(only=[], extra=[("toy", toy_plugin)])


@pytest.fixture(scope="session")
def make_metadata():
    """Return a function that makes the metadata of a run; keywords replace fields."""

    def make(**changes):
        fields = {
            "suite": RecordedSuite.model_validate({"suite": {"name": "own", "seed": 7}}),
            "protocol": ProtocolSettings().completed(),
            "protocol_key": "key",
            "profile": "quick",
            "methods": {"A": "a → knn"},
            "environment": Environment(
                mfbench="0.1.0", python="3.11.2", cpu="a processor", jobs=2, libraries={"scikit-learn": "1.7"}
            ),
            "command": ["mfbench", "suite", "own", "--profile", "quick"],
        }
        return RunMetadata(**{**fields, **changes})

    return make
