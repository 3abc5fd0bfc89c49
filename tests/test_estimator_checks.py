"""scikit-learn's estimator checks on every registered selector and classifier, by the names in the registry.

The usual run makes those checks that differ most between estimators, on each method once. ``-m slow`` makes all checks,
also on further parameters of a method. A new method is checked without an entry here.
"""

from unittest import SkipTest

import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from mfbench.host.expressions import parse
from mfbench.host.registry import load_registry

# Parameters that make a method fast enough for dozens of fits; they leave its code paths as they are.
SMALL = {
    "adaboost": {"n_estimators": 5},
    "bim": {"n_estimators": 5},
    "boosted-im4e-immigrate": {"n_estimators": 5},
    "boruta": {"max_iter": 2, "n_estimators": 3},
    "fvm": {"n_folds": 3},
    "hiernet": {"relative_penalty": 0.2},
    "lasso-cv": {"cv": 2},
    "lasso-path": {"n_penalties": 10},
    "random-forest": {"n_estimators": 10},
    "relief-similarity": {"n_samples": 20},
    "sequential-forward": {"n_ranked": 2, "cv": 2},
    "sqpfw-cv": {"theta_max": 0.05, "n_thetas": 4, "cv": 2, "neighbourhoods": ((1, 1),)},
    "sqpfw-path": {"theta_max": 0.05},
    "psvm": {"tuning": "kernel", "n_folds": 3},
    "xgboost": {"n_estimators": 5},
    "xgboost-interactions": {"n_estimators": 10},
}

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
        "kernel-ranking(preset='paper', kernel='rbf')",
        "psvm(kernel='polynomial', tuning='null')",
        "rfvm(preset='paper')",
        "rfvm(algorithm='sequential', kernel='rbf')",
    ],
}

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
SPARSE = "check_sample_weight_equivalence_on_sparse_data"
TARGETS_ONLY = "a weight counts for a sample as a target; as a neighbour of others it always counts once"
DRAWS = "each tree draws as many rows as there are, so a row of weight 2 is not drawn like two rows"
SOLVER = "scikit-learn declares it: liblinear and libsvm stop elsewhere if a row of weight 2 replaces two rows"
# The checks that a method does not pass, and why. Any other failure is an error, and so is an exception that passes.
EXCEPTIONS = {
    "im4e": {WEIGHTS: TARGETS_ONLY},
    "im4e-immigrate": {WEIGHTS: TARGETS_ONLY},
    "imim4e": {WEIGHTS: TARGETS_ONLY},
    "immigrate": {WEIGHTS: TARGETS_ONLY},
    "random-forest": {WEIGHTS: DRAWS, SPARSE: DRAWS},
    "svm-linear": {WEIGHTS: SOLVER, SPARSE: SOLVER},
    "svm-rbf": {WEIGHTS: SOLVER, SPARSE: SOLVER},
    "svm-sigmoid": {WEIGHTS: SOLVER, SPARSE: SOLVER},
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
    """Return kind and name of each built-in method; one that is both kinds with the same defaults comes once."""
    registry = load_registry()
    methods: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, specs in (("classifier", registry.classifiers), ("selector", registry.selectors)):
        for name, method in specs.items():
            if method.plugin.distribution == "mfbench":
                methods.setdefault((str(method.spec.factory), repr(method.spec.defaults)), (kind, name))
    return list(methods.values())


METHODS = registered()


def failures(kind: str, text: str, names: set[str] | None = None) -> list[str]:
    """Make the checks of some names, or all, and return those that did not end as declared."""
    expression = parse(text)
    if "skrebate" in getattr(load_registry(), kind)(expression.name).spec.tags:
        pytest.importorskip("skrebate")
    estimator = load_registry().make(expression, kind)
    parameters = estimator.get_params(deep=False)
    settings = {"random_state": 0, **SMALL.get(text, {})}
    estimator.set_params(**{key: value for key, value in settings.items() if key in parameters})
    # Of a name that is both, the exceptions are the classifier's, unless one estimator is both.
    declared = EXCEPTIONS.get(expression.name, {}) if is_classifier(estimator) else {}
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
    compiles = getattr(load_registry(), kind)(name).spec.warm_up
    assert not failures(kind, name, WITHOUT_FIT if compiles else WITHOUT_FIT | WITH_FIT)


@pytest.mark.slow(reason="thousands of fits; methods are compiled a second time, for read-only arrays")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "text"), [*METHODS, *((kind, text) for kind in VARIANTS for text in VARIANTS[kind])])
def test_all_checks(kind, text):
    assert not failures(kind, text)


def test_every_exception_and_every_setting_is_of_a_registered_method():
    registry = load_registry()
    assert {*EXCEPTIONS, *SMALL} <= {*registry.classifiers, *registry.selectors}
