"""How every estimator of the plugin treats odd input: odd in type, layout, units or size."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from every_estimator import NAMES, RELIEF_FAMILY, WITH_MISSING, assert_same, every, make, quietly, results
from in_turn import in_turn
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone

import mfbench_margin

CLASSIFIERS = [name for name in NAMES if name not in RELIEF_FAMILY]
SOFT = ["BoostedIM4EIMMIGRATE", "BoostedIMMIGRATE", "IM4E", "IM4EIMMIGRATE", "IMMIGRATE", "ImbalancedIM4E"]
every_classifier = in_turn("name", CLASSIFIERS)


def takes(name, parameter):
    return parameter in getattr(mfbench_margin, name)().get_params()


# Types and layouts


@every
def test_layout_and_type_change_no_bit(name, table):
    X, y = table
    expected = results(quietly(lambda: make(name).fit(X, y)), X)
    read_only, labels = X.copy(), y.copy()
    read_only.flags.writeable = labels.flags.writeable = False
    strided = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    tables = [read_only, np.asfortranarray(X), strided, X.astype(">f8"), X.astype(object), X.tolist()]
    for other in tables:
        assert_same(results(quietly(lambda other=other: make(name).fit(other, labels)), X), expected)


@every
def test_float32_is_computed_in_float64(name, table):
    X, y = table
    single = X.astype(np.float32)
    fitted = quietly(lambda: make(name).fit(single, y))
    expected = quietly(lambda: make(name).fit(single.astype(np.float64), y))
    assert_array_equal(fitted.feature_importances_, expected.feature_importances_)
    assert fitted.feature_importances_.dtype == np.float64


@every
def test_integers_and_booleans_are_numbers(name, table):
    X, y = table
    for other in ((30 * X).astype(np.int8), X > 0, pd.DataFrame(X > 0)):
        fitted = quietly(lambda other=other: make(name).fit(other, y))
        expected = quietly(lambda other=other: make(name).fit(np.asarray(other, dtype=float), y))
        assert_array_equal(fitted.feature_importances_, expected.feature_importances_)


@every
def test_data_frames(name, table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(24) + 100)
    fitted = quietly(lambda: make(name).set_output(transform="pandas").fit(frame, pd.Series(y, index=frame.index)))
    assert_array_equal(fitted.feature_importances_, quietly(lambda: make(name).fit(X, y)).feature_importances_)
    selected = fitted.transform(frame)
    assert list(selected.columns) == fitted.get_feature_names_out().tolist()
    assert list(selected.columns) == [c for c, kept in zip("abcd", fitted.get_support(), strict=True) if kept]
    assert selected.index.equals(frame.index)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame[list("dcba")])


@in_turn("name", ["LFE", "IMMIGRATE"])
def test_metric_output(name, table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = make(name, output="metric").set_output(transform="pandas").fit(frame, y)
    mapped = fitted.transform(frame)
    assert list(mapped.columns) == [f"{name.lower()}{k}" for k in range(len(fitted.components_))]
    assert fitted.components_.shape[1] == 4
    assert_array_equal(mapped, X @ fitted.components_.T)
    # Selected features can be put back, coordinates of the metric cannot.
    assert not hasattr(fitted, "inverse_transform")
    assert make(name).fit(X, y).inverse_transform(make(name).fit(X, y).transform(X)).shape == X.shape


@every
def test_pickle_clone_and_parameters(name, table):
    X, y = table
    fitted = quietly(lambda: make(name).fit(X, y))
    expected = results(fitted, X)
    again = pickle.loads(pickle.dumps(fitted))
    assert_same(results(again, X), expected)
    assert_same(results(copy.deepcopy(fitted), X), expected)
    unfitted = clone(fitted)
    assert not hasattr(unfitted, "classes_")
    assert_same(results(quietly(lambda: unfitted.set_params(**fitted.get_params()).fit(X, y)), X), expected)
    with pytest.raises(ValueError, match="Invalid parameter"):
        fitted.set_params(colour="red")


@in_turn("name", [name for name in NAMES if name not in SOFT])
def test_fitted_arrays_may_be_read_only(name, table):
    check_read_only(name, *table)


@pytest.mark.nightly(reason="compiles their kernels once more, for read-only arrays")
@in_turn("name", SOFT)
def test_so_may_those_of_soft_margins(name, table):
    check_read_only(name, *table)


def check_read_only(name, X, y):
    """Fitted arrays are read-only if an estimator is passed between processes in shared memory."""
    fitted = quietly(lambda: make(name).fit(X, y))
    expected = results(fitted, X)
    shared = pickle.loads(pickle.dumps(fitted, protocol=5))
    seen = set()

    def lock(thing):
        if id(thing) in seen:
            return
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            thing.flags.writeable = False
        elif isinstance(thing, list | tuple):
            for part in thing:
                lock(part)
        elif hasattr(thing, "__dict__"):
            lock(list(vars(thing).values()))

    lock(shared)
    assert not shared.feature_importances_.flags.writeable
    assert_same(results(shared, X), expected)


@every
def test_fit_forgets_an_earlier_fit(name, table):
    X, y = table
    estimator = make(name)
    quietly(lambda: estimator.fit(np.column_stack([X, X[:, :1] ** 2]), np.arange(24) % 3))
    refitted = results(quietly(lambda: estimator.fit(X, y)), X)
    assert_same(refitted, results(quietly(lambda: make(name).fit(X, y)), X))


# Labels


# Shapes and sizes


@every
def test_refuses_what_is_not_a_table_of_numbers(name, table):
    X, y = table
    refused = [
        (ValueError, "could not convert string", np.full((24, 4), "a")),
        (ValueError, "contains infinity", np.where(X.max() == X, np.inf, X)),
        (TypeError, "Sparse", csr_matrix(X)),
        (ValueError, "1D array", X[:, 0]),
        (ValueError, "dim 3", X[:, :, None]),
        (ValueError, "Complex", X.astype(complex)),
        (ValueError, "0 sample", X[:0]),
        (ValueError, "0 feature", X[:, :0]),
        (ValueError, "inconsistent", X[:-1]),
    ]
    if name not in WITH_MISSING:
        refused.append((ValueError, "contains NaN", np.where(X.max() == X, np.nan, X)))
    for error, message, bad in refused:
        with pytest.raises(error, match=message):
            make(name).fit(bad, y[: len(bad)] if message == "0 sample" else y)


@every
@in_turn("copies", [1, 2])
def test_duplicates_constant_features_and_one_feature(name, table, copies):
    X, y = table
    tables = [
        (np.vstack([X] * copies), np.concatenate([y] * copies)),
        (np.vstack([X] * copies), np.concatenate([y, 1 - y][:copies])),
        (np.column_stack([X, np.full(24, 0.1)]), y),
        (X[:, :1], y),
        (np.ones((24, 3)), y),
        (np.random.default_rng(0).normal(size=(8, 40)), np.arange(8) % 2),
    ]
    for Z, labels in tables:
        fitted = quietly(lambda Z=Z, labels=labels: make(name).fit(Z, labels))
        weights = fitted.feature_importances_
        assert np.isfinite(weights).all()
        assert_array_equal(weights[(Z[0] == Z).all(axis=0)], 0)
        if hasattr(fitted, "predict_proba"):
            shares = fitted.predict_proba(Z)
            assert np.isfinite(shares).all()
            assert shares.sum(axis=1) == pytest.approx(1)


@every
@in_turn("factor", [1e-300, 1e-160, 1e-8, 1e8, 1e150, 1e300])
def test_any_unit_is_finite_or_refused(name, factor, table):
    X, y = table
    try:
        fitted = quietly(lambda: make(name).fit(factor * X, y))
    except ValueError as error:
        assert factor > 1e100
        assert str(error) == "the values of X are too large: distances overflow; scale them first"
        return
    assert np.isfinite(fitted.feature_importances_).all()
    assert (fitted.feature_importances_ != 0).any()
    if hasattr(fitted, "predict_proba"):
        assert np.isfinite(fitted.predict_proba(factor * X)).all()


HALF, ROOT = [0.5, 0.5, 0.0], [0.5**0.5, 0.5**0.5, 0.0]
# Weights and degenerate_ where hits are far, misses at the same place, and the last feature is constant.
WITHOUT_MARGIN = {
    "BoostedIM4EIMMIGRATE": (ROOT, True),
    "BoostedIMMIGRATE": (ROOT, True),
    "IM4E": (HALF, True),
    "IM4EIMMIGRATE": (ROOT, True),
    "IMMIGRATE": (ROOT, True),
    "IRelief": (ROOT, True),
    "ImbalancedIM4E": (HALF, True),
    "LFE": (ROOT, True),
    "MulRelief": (HALF, True),
    "NCADiagonal": ([1.0, 0.0, 0.0], False),
    "Relief": ([0.0, 0.0, 0.0], True),
    "ReliefF": ([0.0, 0.0, 0.0], True),
    "SURF": ([0.0, 0.0, 0.0], True),
    "SURFStar": ([0.0, 0.0, 0.0], True),
    "MultiSURF": ([0.0, 0.0, 0.0], True),
    "MultiSURFStar": ([0.0, 0.0, 0.0], True),
    "TuRF": ([0.0, 0.0, 0.0], True),
    "VLSRelief": ([0.0, 0.0, 0.0], True),
    "Simba": ([0.0, 1.0, 0.0], False),
}


@every
def test_without_a_margin(name):
    """As the table in docs/methods.md states."""
    X = np.array([[0.0, 0.0, 3.0], [1.0, 1.2, 3.0]] * 3)
    y = np.repeat([0, 1, 2], 2)
    estimator = make(name, sigma=0.1) if name == "IMMIGRATE" else make(name)
    weights, degenerate = WITHOUT_MARGIN[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    assert estimator.weights_ == pytest.approx(weights, abs=0.01)
    assert estimator.degenerate_ == degenerate
    warned = any(issubclass(warning.category, RuntimeWarning) for warning in caught)
    assert warned == (degenerate and name not in RELIEF_FAMILY)


# Prediction


@every_classifier
def test_predicting_odd_rows(name, table):
    X, y = table
    fitted = quietly(lambda: make(name).fit(X, y))
    for error, message, bad in [
        (ValueError, "2 features", X[:, :2]),
        (ValueError, "NaN", np.full((1, 4), np.nan)),
        (ValueError, "0 sample", X[:0]),
        (TypeError, "Sparse", csr_matrix(X)),
    ]:
        for method in (fitted.predict, fitted.predict_proba):
            with pytest.raises(error, match=message):
                method(bad)
    for method in (fitted.predict, fitted.predict_proba):
        try:
            values = quietly(lambda method=method: method(1e306 * X))
        except ValueError as error:
            assert str(error) == "the values of X are too large: distances overflow; scale them first"
        else:
            # Manhattan distances of such rows are finite.
            assert name in ("IM4E", "ImbalancedIM4E", "IRelief")
            assert np.isfinite(values).all()
    assert np.isfinite(fitted.predict_proba(1e6 * X)).all()


# Parameters

WRONG = {
    "sigma": [0, -1.0, np.nan, np.inf, None, "wide"],
    "sigma_max": [0, np.nan, np.inf, "wide"],
    "sigma_min": [0, np.nan, np.inf, "wide"],
    "max_iter": [0, -1, 1.5, "x"],
    "tol": [-1.0, np.nan, "x"],
    "solver": ["newton", None],
    "cone": ["cube", None, 3],
    "init": ["zeros", 3, np.eye(3), [[1.0]], np.full((4, 4), np.nan), np.full((4, 4), "a")],
    "prune": [-0.1, np.nan, np.inf, "x"],
    "degenerate": ["zero", None],
    "output": ["kernel", None],
    "n_neighbors": [0, 1.5, "x"],
    "n_samples": [0, 1.5],
    "n_components": [0, 1.5],
    "n_estimators": [0, 1.5],
    "threshold": [-1.0, np.nan, "x"],
    "max_features": [0, 1.5, None],
    "random_state": ["x", -1],
}


@every
def test_refuses_wrong_parameters(name, table):
    X, y = table
    for parameter, values in WRONG.items():
        for value in values if takes(name, parameter) else []:
            with pytest.raises(ValueError, match=f"{parameter}|could not convert string"):
                make(name, **{parameter: value}).fit(X, y)


SIGMAS = [1e-6, 1e-3, 1e3, 1e6]


@in_turn("name", [name for name in NAMES if takes(name, "sigma") or takes(name, "sigma_max")])
@in_turn("sigma", SIGMAS)
def test_any_sigma_is_finite(name, sigma, table):
    X, y = table
    variants = [{"sigma": sigma}] if takes(name, "sigma") else []
    if takes(name, "sigma_max"):
        variants = [{"sigma_max": sigma, "sigma_min": sigma}, {"sigma_max": 1e6, "sigma_min": sigma}]
    if takes(name, "cone"):
        cones, solvers = ("psd", "psd_clip", "nonneg", "dnn", "diag"), ("monotone", "published")
        variants = [{**v, "cone": cone, "solver": solver} for v in variants for cone in cones for solver in solvers]
    if takes(name, "objective"):
        variants = [{**v, "objective": objective} for v in variants for objective in ("margin", "nca")]
    for parameters in variants:
        fitted = quietly(lambda parameters=parameters: make(name, **parameters).fit(X, y))
        assert np.isfinite(fitted.feature_importances_).all()
        assert fitted.feature_importances_.any()
        assert np.isfinite(getattr(fitted, "objective_trace_", 0.0)).all()
        for factor in (1.0, 1e-6, 1e6):
            shares = quietly(lambda fitted=fitted, factor=factor: fitted.predict_proba(factor * X))
            assert np.isfinite(shares).all()
            assert shares.sum(axis=1) == pytest.approx(1)


@every
def test_numpy_numbers_are_numbers(name, table):
    X, y = table
    for parameter, value in {
        "sigma": 0.5,
        "sigma_max": 2.0,
        "tol": 0.125,
        "beta": 2.0,
        "rho": 0.5,
        "threshold": 1.0,
    }.items():
        if takes(name, parameter):
            expected = results(quietly(lambda p=parameter, v=value: make(name, **{p: v}).fit(X, y)), X)
            for kind in (np.float32, np.float64):
                arguments = {parameter: kind(value)}
                assert_same(
                    results(quietly(lambda arguments=arguments: make(name, **arguments).fit(X, y)), X), expected
                )
    if takes(name, "max_iter"):
        quietly(lambda: make(name, max_iter=np.int32(2)).fit(X, y))


# Simba's tolerance is its smallest step, and must be positive.
@in_turn("name", [name for name in NAMES if takes(name, "tol") and name != "Simba"])
def test_no_tolerance(name, table):
    X, y = table
    fitted = quietly(lambda: make(name, tol=0, max_iter=4).fit(X, y))
    assert 1 <= fitted.n_iter_ <= 4
    assert np.isfinite(fitted.feature_importances_).all()


# Sample weights
