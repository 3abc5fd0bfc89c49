"""What all selectors of this package have in common."""

import warnings

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_array_equal
from sklearn.metrics import mutual_info_score

from mfbench_learners.discretise import bin_codes
from mfbench_relevance import FVM, PSVM, RFVM, KernelRanking

SPARSE = [RFVM(), RFVM("paper"), RFVM(algorithm="sequential"), FVM(n_folds=3), PSVM(n_folds=3), FVM(tuning="null")]


EVERY = [*SPARSE, KernelRanking()]


sparse = in_turn("selector", SPARSE)


every = in_turn("selector", EVERY)


@pytest.fixture
def data(make_regression):
    return make_regression(0, 500)


@every
def test_finds_line_and_parabola(data, selector):
    fitted = selector.set_params(random_state=0).fit(*data)
    assert fitted.support_[[0, 2]].all()
    assert fitted.support_[4:].sum() <= 2
    assert_array_equal(fitted.get_support(), fitted.support_)


@sparse
def test_weights_and_selection_agree(data, selector):
    fitted = selector.set_params(random_state=0).fit(*data)
    assert_array_equal(fitted.support_, fitted.weights_ != 0)
    assert_array_equal(fitted.feature_importances_, np.abs(fitted.weights_))


@every
def test_same_seed_same_result_whatever_the_global_state(data, selector):
    fits = []
    for state in (0, 1):
        np.random.seed(state)  # noqa: NPY002
        fits.append(selector.set_params(random_state=4).fit(*data).weights_)
    assert_array_equal(*fits)


@every
@in_turn("classes", [2, 3, 5])
def test_classes(data, selector, classes):
    X, y = data
    labels = np.array(list("abcde"))[np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))]
    fitted = selector.set_params(random_state=0).fit(X, labels)
    assert fitted.support_[2]
    bins = bin_codes(X[:, [2]], fitted.settings_["bins"], fitted.settings_["binning"])
    expected = mutual_info_score(bins.ravel(), labels)
    if fitted.settings_["bias"] == "none":
        assert fitted.relevance_[2] == pytest.approx(expected / np.log(2), abs=1e-12)
    else:
        assert 0 < fitted.relevance_[2] < expected / np.log(2)


@in_turn("kernel", ["linear", "rbf", "polynomial"])
@in_turn("selector", [RFVM("paper"), FVM(n_folds=3), PSVM(tuning="null"), KernelRanking()])
def test_numeric_kernels_with_many_classes(kernel, selector):
    rng = np.random.default_rng(1)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 8))
    X[:, 5] += 2.0 * (y == 1)
    fitted = selector.set_params(kernel=kernel, random_state=0).fit(X, y)
    assert fitted.feature_importances_.argmax() == 5
    assert fitted.relevance_.shape == (3, 8)


@every
def test_odd_tables(selector):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(40, 1))
    y = (x[:, 0] > 0.5).astype(int)
    selector = selector.set_params(random_state=0)
    constant = np.column_stack([x, np.ones(40), x, rng.uniform(size=(40, 60))])
    one_member = y.copy()
    one_member[0] = 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert np.isfinite(selector.fit(x, y).weights_).all()  # p = 1
        found = selector.fit(constant, y).weights_  # n < p, a constant, a duplicate
        assert found[1] <= 0
        assert np.isfinite(found).all()
        assert np.isfinite(selector.fit(constant, one_member).weights_).all()
        assert np.isfinite(selector.fit(x[:2], y[:2]).weights_).all()


@every
def test_a_constant_response_selects_nothing(data, selector):
    with pytest.warns(RuntimeWarning, match="response is constant"):
        fitted = selector.fit(data[0], np.full(500, 2.5))
    assert not fitted.support_.any()


@in_turn("cls", [RFVM, FVM, PSVM, KernelRanking])
def test_every_parameter_is_stored_under_its_own_name(cls):
    given = {name: object() for name in cls().get_params()}
    assert cls(**given).get_params(deep=False) == given


@in_turn(
    "kind, name, values",
    [
        (KernelRanking, "quantile", [0.5, 0.9, 0.999]),
        (FVM, "one_standard_error", [False, True]),
        (PSVM, "one_standard_error", [False, True]),
    ],
)
def test_one_fit_gives_the_weights_of_separate_fits(kind, name, values):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 12))
    y = 0.6 * X[:, 0] + 0.4 * np.abs(X[:, 1]) + 0.3 * X[:, 2] + rng.normal(size=150)
    together = kind(**{name: max(values)}, random_state=3).fit(X, y)
    weights = [together.weights_at(value) for value in values]
    for value, of_this in zip(values, weights, strict=True):
        alone = kind(**{name: value}, random_state=3).fit(X, y)
        np.testing.assert_array_equal(of_this, alone.feature_importances_)
    assert (weights[0] != weights[-1]).any()


def test_a_quantile_out_of_range_is_refused():
    X = np.random.default_rng(1).normal(size=(100, 5))
    with pytest.raises(ValueError, match=r"quantile must be from 0 to 1; got 1\.5"):
        KernelRanking(random_state=0).fit(X, X[:, 0]).weights_at(1.5)
