"""An estimator that stops before it has converged says so once: the same test for all that document `converged_`."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mfbench.host.factories import resolve_factory
from mfbench.host.registry import load_registry

# Parameters with which a method iterates at all, or often enough to settle.
SETTINGS = {
    "IMMIGRATE": {"max_iter": 500},
    "IM4EIMMIGRATE": {"max_iter": 500},
    "IM4E": {"max_iter": 200},
    "ImbalancedIM4E": {"max_iter": 200},
    "SiLA": {"max_iter": 200},
    "SRBS": {"solver": "lbfgs"},
    "Simba": {"mode": "batch"},
    "SQPFeatureWeighting": {"theta": 0.1},
}


def iterative() -> dict[str, tuple[type, dict[str, object]]]:
    """Return each built-in estimator with `converged_` and `max_iter`, and the parameters of its name."""
    registry, estimators = load_registry(), {}
    for specs in (registry.listed("classifier"), registry.listed("selector")):
        for name, method in specs.items():
            if method.plugin.distribution != "mfbench" or not str(method.spec.factory).startswith("mfbench_"):
                continue
            factory = resolve_factory(method)
            documents = "converged_" in (inspect.getdoc(factory) or "")
            if documents and "max_iter" in inspect.signature(factory).parameters:
                estimators.setdefault(name, (factory, dict(method.spec.defaults)))
    return estimators


ITERATIVE = iterative()


def data(overlap):
    """Return three features: two informative ones whose classes overlap to a degree, and noise."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3))
    X[:, :2] += (3 - 2.5 * overlap) * (2 * y - 1)[:, None]
    return X, y


def fitted(name, overlap, **parameters):
    """Return the fitted estimator and the texts of its warnings of convergence."""
    factory, defaults = ITERATIVE[name]
    seed = {"random_state": 0} if "random_state" in inspect.signature(factory).parameters else {}
    estimator = factory(**{**defaults, **seed, **SETTINGS.get(factory.__name__, {}), **parameters})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(*data(overlap))
    return estimator, [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]


def test_many_estimators_iterate():
    assert {"immigrate", "im4e", "irelief", "lmnn", "rfvm", "rvm-linear", "sila", "sqpfw", "srbs"} <= set(ITERATIVE)


@pytest.mark.parametrize("name", ITERATIVE)
def test_says_once_that_it_has_not_converged(name):
    estimator, texts = fitted(name, 1.0, max_iter=1)
    assert not estimator.converged_
    assert len(texts) == 1
    assert type(estimator).__name__ in texts[0]
    assert "increase" in texts[0] or "raise" in texts[0]


@pytest.mark.parametrize("name", ITERATIVE)
def test_says_nothing_once_it_has_converged(name):
    estimator, texts = fitted(name, 0.0)
    assert estimator.converged_
    assert not texts
