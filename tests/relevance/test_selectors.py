import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso
from sklearn.metrics import mutual_info_score
from sklearn.preprocessing import scale

from mfbench_relevance import FVM, PSVM, RFVM, KernelRanking
from mfbench_relevance._box.cross_validation import Curve
from mfbench_relevance._kernel.codes import bin_codes

BITS = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])
SPARSE = [RFVM(), RFVM("paper"), RFVM(algorithm="sequential"), FVM(n_folds=3), PSVM(n_folds=3), FVM(tuning="null")]
EVERY = [*SPARSE, KernelRanking()]
sparse = pytest.mark.parametrize("selector", SPARSE, ids=str)
every = pytest.mark.parametrize("selector", EVERY, ids=str)


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
@pytest.mark.parametrize("classes", [2, 3, 5])
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


@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
@pytest.mark.parametrize("selector", [RFVM("paper"), FVM(n_folds=3), PSVM(tuning="null"), KernelRanking()], ids=str)
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


def test_presets_resolve_and_are_told(data):
    paper = RFVM("paper").fit(*data)
    assert paper.settings_ == {
        "bins": 4,  # log2 of 12, rounded
        "target_bins": 4,
        "binning": "width",
        "bias": "none",
        "noise": "learned",
        "algorithm": "fixed-point",
    }
    ours = RFVM(target_bins=5, random_state=0).fit(*data)
    assert ours.settings_ == {
        "bins": 16,
        "target_bins": 5,
        "binning": "frequency",
        "bias": "null",
        "noise": "calibrated",
        "algorithm": "fixed-point",
    }


@pytest.mark.parametrize(("features", "bins"), [(1, 2), (99, 7), (100, 7), (5, 2)])
def test_bins_of_the_paper(features, bins):
    X = np.random.default_rng(0).uniform(size=(30, features))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert RFVM("paper").fit(X, X[:, 0] + 0.1).settings_["bins"] == bins


def test_indefinite_kernel_ends_well():
    with pytest.warns(RuntimeWarning, match="indefinite"):
        fitted = RFVM("paper", bins=4, target_bins=4).fit(BITS, np.arange(4))
    assert fitted.smallest_eigenvalue_ == pytest.approx((3 - np.sqrt(13)) / 2)
    assert np.isfinite(fitted.weights_).all()
    assert fitted.noise_variance_ > 0
    with pytest.raises(ValueError, match="indefinite"):
        RFVM("paper", bins=4, target_bins=4, repair="raise").fit(BITS, np.arange(4))


def test_calibrated_noise_is_the_quantile_of_the_null():
    rng = np.random.default_rng(0)
    shares = []
    for seed in range(10):
        X, y = rng.uniform(size=(400, 60)), rng.normal(size=400)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares.append(RFVM(quantile=0.9, random_state=seed).fit(X, y).support_.mean())
    assert 0.06 < np.mean(shares) < 0.15


def test_evidence_and_hyperparameters_are_told(data):
    fitted = RFVM("paper").fit(*data)
    assert np.diff(fitted.evidence_trace_).min() > -1e-8
    assert fitted.evidence_ == fitted.evidence_trace_[-1]
    assert_array_equal(np.isfinite(fitted.precisions_), fitted.support_)
    assert fitted.noise_variance_ > 0
    sequential = RFVM("paper", algorithm="sequential").fit(*data)
    assert sequential.evidence_ == pytest.approx(fitted.evidence_, abs=1e-4)


def test_linear_fvm_is_the_lasso_and_psvm_without_bound_is_fvm(data):
    X, y = data
    fvm = FVM(kernel="linear", penalty=60.0).fit(X, y)
    lasso = Lasso(alpha=60.0 / (2 * len(X)), fit_intercept=False, tol=1e-14, max_iter=100_000).fit(scale(X), scale(y))
    assert_allclose(fvm.weights_, lasso.coef_, atol=1e-9)
    assert_allclose(PSVM(kernel="linear", epsilon=30.0, C=np.inf).fit(X, y).weights_, fvm.weights_, atol=1e-12)
    assert fvm.optimality_gap_ < 1e-8


def test_bound_holds(data):
    fitted = PSVM(epsilon=0.01, C=0.004, random_state=0).fit(*data)
    assert fitted.feature_importances_.max() == 0.004
    assert fitted.optimality_gap_ < 1e-8


def test_constant_features_do_not_lower_the_null_level(data):
    X, y = data
    alone = FVM(tuning="null", random_state=0).fit(X, y)
    padded = FVM(tuning="null", random_state=0).fit(np.column_stack([X, np.ones((len(X), 30))]), y)
    assert padded.penalty_ == pytest.approx(alone.penalty_, rel=1e-12)


def test_kernel_loss_selects_nearly_everything(data):
    X, y = data
    fitted = FVM("paper", tuning="kernel", random_state=0).fit(X, y)
    assert fitted.support_.mean() > 0.9
    assert fitted.cv_loss_.shape == (10, 25)
    assert fitted.penalty_ in fitted.penalties_


def test_one_standard_error_is_sparser():
    curve = Curve(np.array([[5.0, 2.2, 2.0], [5.0, 2.1, 2.2], [5.0, 2.2, 1.8]]))
    assert (curve.best(False), curve.best(True)) == (2, 2)
    uneven = curve.losses + np.array([[0, 0, -0.3], [0, 0, 0.3], [0, 0, 0.1]])
    assert Curve(uneven).best(True) == 1


@pytest.mark.parametrize(
    ("selector", "y", "message"),
    [
        (RFVM(target="numbers"), np.array(["a", "b"] * 10), "target='numbers'"),
        (FVM(kernel="linear", bias="miller-madow"), np.arange(20.0) / 3, "mutual-information kernel"),
        (RFVM(bins=5000), np.arange(20.0) / 3, "at most 4096"),
    ],
)
def test_bad_input_is_told(selector, y, message):
    with pytest.raises(ValueError, match=message):
        selector.fit(np.random.default_rng(0).normal(size=(20, 3)), y)


# -- plain ranking -----------------------------------------------------------------------------------------------------


def test_ranking_is_the_mutual_information_above_the_quantile_of_permutations(data):
    X, y = data
    fitted = KernelRanking("paper", random_state=3).fit(X, y)
    codes, target = bin_codes(X, 4, "width"), bin_codes(y[:, None], 4, "width")[:, 0]
    alone = np.array([mutual_info_score(column, target) for column in codes.T]) / np.log(2)
    random = np.random.RandomState(3)
    orders = [random.permutation(len(y)) for _ in range(20)]
    null = np.array([[mutual_info_score(column, target[order]) for column in codes.T] for order in orders]) / np.log(2)
    assert_allclose(fitted.relevance_, alone - null.mean(), atol=1e-12)
    assert fitted.threshold_ == pytest.approx(np.quantile(null, 0.99) - null.mean(), abs=1e-12)
    assert_array_equal(fitted.support_, alone > np.quantile(null, 0.99))
    assert_allclose(fitted.feature_importances_, alone - np.quantile(null, 0.99), atol=1e-12)


@pytest.mark.parametrize("kernel", ["mutual-information", "linear"])
def test_ranking_keeps_the_wanted_part_of_noise(kernel):
    rng = np.random.default_rng(2)
    shares = []
    for seed in range(10):
        X, y = rng.uniform(size=(400, 60)), rng.normal(size=400)
        X[:, :20] = 1.0  # constant columns are not counted among the null
        found = KernelRanking(kernel=kernel, quantile=0.9, random_state=seed).fit(X, y).support_
        assert not found[:20].any()
        shares.append(found[20:].mean())
    assert 0.06 < np.mean(shares) < 0.15


def test_ranking_sees_negative_dependence_of_a_numeric_kernel(data):
    X, y = data
    fitted = KernelRanking(kernel="linear", random_state=0).fit(X, y)
    assert fitted.relevance_[3] < 0
    assert fitted.support_[3]


def test_ranking_keeps_both_of_a_pair_of_duplicates(data):
    X, y = data
    fitted = KernelRanking(random_state=0).fit(np.column_stack([X, X[:, 2]]), y)
    assert fitted.weights_[2] == fitted.weights_[-1] > 0


@pytest.mark.parametrize("cls", [RFVM, FVM, PSVM, KernelRanking])
def test_every_parameter_is_stored_under_its_own_name(cls):
    given = {name: object() for name in cls().get_params()}
    assert cls(**given).get_params(deep=False) == given
