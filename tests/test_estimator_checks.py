"""scikit-learn's estimator checks on every registered selector and classifier, by the names in the registry.

The usual run makes those checks that differ most between estimators, on each method once; ``mfbench check`` makes all.
``-m slow`` makes them on further parameters of a method. A new method is checked without an entry here.
"""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from mfbench.host.expressions import parse
from mfbench.host.registry import load_registry

# Further parameters of a method that take other code paths: as many checks again, with -m slow.
VARIANTS = {
    "classifier": [
        "boosted-im4e-immigrate(n_estimators=3, screen='per-round')",
        "hiernet(relative_penalty=0.2, hierarchy='strong', family='gaussian')",
        "immigrate(solver='published', cone='psd', prune=True)",
        "immigrate(output='metric')",
        "knn-euclidean(n_neighbors=3, mode='one-vs-rest')",
        "lfe(output='metric')",
        "mulrelief(max_iter=3, n_samples=20)",
        "nca-diag(objective='nca', n_random_starts=0)",
        "rbs(n_neighbors=3, matrix='diagonal', rule='sknn-a', mode='one-vs-rest')",
        "sila(matrix='diagonal', prediction='voted', max_iter=2)",
        "simba(mode='batch')",
        "sqpfw(kappa=2, lam=1, theta=0.02, working_set=5, n_neighbors=3)",
        "srbs(matrix='symmetric', solver='lbfgs')",
    ],
    "selector": [
        "fvm(preset='paper', penalty=0.1)",
        "information-gain(binning='mdl')",
        "jmi(binning='mdl', n_jobs=2)",
        "kernel-ranking(preset='paper', kernel='rbf')",
        "psvm(kernel='polynomial', tuning='null')",
        "rfvm(preset='paper')",
        "rfvm(algorithm='sequential', kernel='rbf')",
    ],
}

# Made in the usual run, on each method once: those that need no fit, and a few that differ most between estimators.
WITHOUT_FIT = {
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}
WITH_FIT = {
    "check_dict_unchanged",
    "check_estimators_nan_inf",
    "check_fit_check_is_fitted",
    "check_n_features_in",
}


def registered() -> list[tuple[str, str]]:
    """Return kind and name of each built-in method of installed packages; one of both kinds comes once."""
    registry = load_registry()
    methods: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, specs in (("classifier", registry.listed("classifier")), ("selector", registry.listed("selector"))):
        for name, method in specs.items():
            if method.plugin.distribution == "mfbench" and not method.spec.requires:
                methods.setdefault((str(method.spec.factory), repr(method.spec.defaults)), (kind, name))
    return list(methods.values())


METHODS = registered()


def failures(kind: str, text: str, names: set[str] | None = None) -> list[str]:
    """Make the checks of some names, or all, and return those that did not end as declared."""
    expression = parse(text)
    spec = load_registry().entry(kind, expression.name).spec
    estimator = load_registry().make(expression, kind)
    parameters = estimator.get_params(deep=False)
    settings = {"random_state": 0, **({} if expression.params else spec.check_parameters)}
    estimator.set_params(**{key: value for key, value in settings.items() if key in parameters})
    declared = {name.removeprefix("scikit-learn:") for name in spec.expected_failures}
    wrong = []
    for fresh, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if names is not None and name not in names:
            continue
        try:
            check(fresh)
        except SkipTest:
            continue
        except Exception as error:
            if name not in declared:
                wrong.append(f"{name}{check.keywords or ''}: {type(error).__name__}: {error}")
        else:
            if name in declared:
                wrong.append(f"{name} passes: remove the exception")
    return wrong


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_the_checks_that_differ_most_between_methods(kind, name):
    # Compiling a method takes up to a minute; other tests fit these methods anyway.
    compiles = load_registry().entry(kind, name).spec.warm_up
    assert not failures(kind, name, WITHOUT_FIT if compiles else WITHOUT_FIT | WITH_FIT)


@pytest.mark.slow(reason="thousands of fits; methods are compiled a second time, for read-only arrays")
@pytest.mark.sampled(4, reason="thousands of fits; methods are compiled a second time, for read-only arrays")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in VARIANTS for text in VARIANTS[kind]])
def test_all_checks(kind, text):
    assert not failures(kind, text)
