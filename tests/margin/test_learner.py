"""What `fit` checks for every estimator: labels, classes, sample weights."""

import numpy as np
import pandas as pd
import pytest
from every_estimator import assert_same, every, make, quietly, results
from in_turn import in_turn
from sklearn.exceptions import NotFittedError

WEIGHTED = ["IM4E", "ImbalancedIM4E", "IMMIGRATE", "IM4EIMMIGRATE"]


@every
@in_turn(
    "labels", [np.array(["b", "a"]), np.array(["b", "a"], dtype=object), np.array([True, False]), np.array([2.0, -1.0])]
)
def test_labels_of_any_type_with_an_order(name, labels, table):
    X, y = table
    fitted = quietly(lambda: make(name).fit(X, labels[y]))
    assert fitted.classes_.tolist() == sorted(labels.tolist())
    if hasattr(fitted, "predict"):
        assert set(fitted.predict(X)) == set(labels)
        assert fitted.score(X, labels[y]) > 0.6


@every
def test_refuses_labels_that_scikit_learn_does_not_know(name, table):
    X, y = table
    with pytest.raises(TypeError, match="bytes"):
        make(name).fit(X, np.array([b"b", b"a"])[y])
    for labels in ([2.5, 1.5], [True, False]):
        with pytest.raises(ValueError, match="Unknown label type"):
            make(name).fit(X, np.array(labels, dtype=object)[y])


@every
@in_turn("labels, kinds", [(["b", 1], "int, str"), (["b", None], "NoneType, str")])
def test_refuses_labels_without_an_order(name, labels, kinds, table):
    X, y = table
    with pytest.raises(ValueError, match=rf"y mixes labels that cannot be sorted \({kinds}\)") as caught:
        make(name).fit(X, np.array(labels, dtype=object)[y])
    assert "\n" not in str(caught.value)


@every
def test_reports_the_only_class_as_it_is_written(name, table):
    X, _ = table
    for label in (7, "spam", 2.0):
        with pytest.raises(ValueError, match=rf"{name} needs .* only 1 class: {label}$"):
            make(name).fit(X, np.full(24, label))


@every
def test_refuses_too_few_samples(name, table):
    X, _ = table
    with pytest.raises(ValueError, match="2 classes"):
        make(name).fit(X[:1], [0])
    with pytest.raises(ValueError, match="at least 2 samples"):
        make(name).fit(X[:2], [0, 1])
    fitted = quietly(lambda: make(name).fit(X[:3], [0, 0, 1]))
    assert fitted.n_skipped_ == 1


@every
def test_reports_that_it_is_not_fitted(name, table):
    X, _ = table
    estimator = make(name)
    for method in (
        "transform",
        "predict",
        "predict_proba",
        "decision_function",
        "get_support",
        "get_feature_names_out",
    ):
        if hasattr(estimator, method):
            with pytest.raises(NotFittedError):
                getattr(estimator, method)(*([] if method.startswith("get") else [X]))


@in_turn("name", WEIGHTED)
@in_turn(
    "weights, message",
    [
        (np.where(np.arange(24) == 3, -1.0, 1.0), "[Nn]egative"),
        (np.full(24, np.nan), "NaN"),
        (np.full(24, np.inf), "infinity"),
        (np.zeros(24), "non-zero|positive weight"),
        (np.ones(23), "shape"),
        (np.ones((24, 1)), "1D"),
        (np.full(24, 1e308), "sums to inf"),
        (np.full(24, 1e-320), "sums to .*only its ratios matter"),
    ],
)
def test_refuses_wrong_sample_weights(name, weights, message, table):
    X, y = table
    with pytest.raises(ValueError, match=message):
        make(name).fit(X, y, sample_weight=weights)


@in_turn("name", WEIGHTED)
def test_sample_weights_of_any_type(name, table):
    X, y = table
    expected = results(make(name).fit(X, y), X)
    for weights in (
        np.ones(24, int),
        np.ones(24, np.float32),
        np.ones(24, bool),
        [1] * 24,
        pd.Series(np.ones(24)),
        1.0,
    ):
        assert_same(results(make(name).fit(X, y, sample_weight=weights), X), expected)
    only_one_class = make(name).fit(X, y, sample_weight=(y == 0).astype(float))
    assert np.isfinite(only_one_class.feature_importances_).all()
    assert set(only_one_class.predict(X)) == {0, 1}
