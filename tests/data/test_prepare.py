"""Classes kept, and columns made numbers: everything learned comes from the rows that fit saw."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from mfbench.data.prepare import Columns, Encoder, restrict_classes
from mfbench.errors import DataError
from mfbench.model.specs import Dataset

NAN = np.nan


def dataset(y, names=None):
    y = np.asarray(y, dtype=np.int64)
    names = names or tuple("abcdefgh"[: int(y.max()) + 1])
    return Dataset(
        name="d",
        X=np.arange(2.0 * len(y)).reshape(-1, 2),
        y=y,
        class_names=names,
        feature_names=("u", "v"),
        categorical=np.zeros(2, bool),
    )


class TestRestrictClasses:
    def test_the_two_largest_stay_and_of_equal_ones_the_lower_code(self, subtests):
        for counts, kept in [
            ([3, 5, 4], "bc"),
            ([5, 1, 4], "ac"),
            ([3, 3, 3], "ab"),
            ([2, 3, 3], "bc"),
            ([3, 2, 3], "ac"),
            ([4, 3, 3], "ab"),
            ([2, 2, 3, 2], "ac"),
            ([0, 1, 0, 2], "bd"),
        ]:
            with subtests.test(counts=counts, kept=kept):
                y = np.repeat(np.arange(len(counts)), counts)
                order = np.random.default_rng(0).permutation(len(y))
                whole = dataset(y[order], tuple("abcd"[: len(counts)]))
                two = restrict_classes(whole, "two-largest")
                assert "".join(two.class_names) == kept
                rows = np.isin([whole.class_names[code] for code in whole.y], list(kept))
                assert np.array_equal(two.X, whole.X[rows])
                assert [two.class_names[code] for code in two.y] == [whole.class_names[code] for code in whole.y[rows]]
                assert two.y.dtype == np.int64

    def test_nothing_to_drop_gives_the_same_object(self):
        whole = dataset([0, 1, 0])
        assert restrict_classes(whole, "two-largest") is whole
        three = dataset([0, 1, 2])
        assert restrict_classes(three, "all") is three

    def test_a_class_without_rows_is_dropped_by_either_rule(self):
        for rule in ("all", "two-largest"):
            found = restrict_classes(dataset([2, 0, 2]), rule)
            assert (found.class_names, found.y.tolist()) == (("a", "c"), [1, 0, 1])

    @pytest.mark.parametrize("rule", ["all", "two-largest"])
    def test_one_class_is_refused(self, rule):
        with pytest.raises(DataError, match="'d' has rows of 1 class only"):
            restrict_classes(dataset([1, 1], ("a", "b")), rule)

    def test_the_rest_of_the_dataset_stays(self):
        whole = replace(dataset([0, 1, 2, 2, 0]), relevant=(1,), source="s")
        two = restrict_classes(whole, "two-largest")
        assert (two.feature_names, two.relevant, two.source) == (whole.feature_names, (1,), "s")


def encode(train, test=None, *, categorical=None, encoding="one-hot", scale="none", missing=None):
    train = np.asarray(train, dtype=float)
    test = train if test is None else np.asarray(test, dtype=float)
    mask = np.zeros(train.shape[1], bool) if categorical is None else np.asarray(categorical, bool)
    missing = bool(np.isnan(train).any() or np.isnan(test).any()) if missing is None else missing
    encoder = Encoder(Columns(mask, encoding, missing), scale).fit(train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return encoder.transform(test), encoder.groups_


class TestNumbers:
    TRAIN = np.array([[1.0, 10.0], [2.0, 30.0], [6.0, 20.0]])
    TEST = np.array([[100.0, -5.0]])

    @pytest.mark.parametrize(("scale", "oracle"), [("standard", StandardScaler), ("range", MinMaxScaler)])
    def test_scaling_is_scikit_learns_on_the_training_rows(self, scale, oracle):
        found, groups = encode(self.TRAIN, self.TEST, scale=scale)
        np.testing.assert_allclose(found, oracle().fit(self.TRAIN).transform(self.TEST), rtol=1e-14)
        assert groups.tolist() == [0, 1]

    def test_no_scaling_leaves_the_numbers(self):
        found, _ = encode(self.TRAIN, self.TEST)
        assert np.array_equal(found, self.TEST)

    @pytest.mark.parametrize("scale", ["standard", "range"])
    def test_a_constant_column_is_divided_by_1(self, scale):
        found, _ = encode([[3.0], [3.0]], [[3.0], [5.0]], scale=scale)
        assert found.tolist() == [[0.0], [2.0]]

    def test_missing_numbers_become_the_training_median(self):
        found, _ = encode([[1.0], [2.0], [9.0], [NAN]], [[NAN], [5.0]])
        assert found.tolist() == [[2.0], [5.0]]

    def test_the_filled_rows_are_those_that_are_scaled(self):
        found, _ = encode([[0.0], [2.0], [NAN]], [[NAN]], scale="standard")
        assert found.tolist() == [[0.0]]

    def test_a_column_that_training_never_saw_stays_and_is_harmless(self, subtests):
        for scale in ["standard", "range", "none"]:
            with subtests.test(scale=scale):
                found, groups = encode([[NAN, 1.0], [NAN, 2.0]], [[7.0, 1.5], [NAN, 1.0]], scale=scale)
                assert found.shape == (2, 2)
                assert np.isfinite(found).all()
                assert groups.tolist() == [0, 1]
                assert found[1, 0] == 0.0

    def test_a_value_missing_in_the_test_rows_alone_is_filled(self):
        found, _ = encode([[1.0], [3.0]], [[NAN]])
        assert found.tolist() == [[2.0]]


class TestCategories:
    def test_one_column_for_each_category_seen_and_one_for_two(self):
        train = [[0, 5, 2], [1, 6, 0], [0, 7, 1]]
        found, groups = encode(train, categorical=[True, False, True])
        assert groups.tolist() == [1, 0, 2, 2, 2]
        assert found.tolist() == [[5, 0, 0, 0, 1], [6, 1, 1, 0, 0], [7, 0, 0, 1, 0]]

    def test_a_category_never_seen_is_all_zero_and_silent(self):
        found, _ = encode([[0], [1], [2]], [[3]], categorical=[True])
        assert found.tolist() == [[0, 0, 0]]
        found, _ = encode([[0], [1]], [[3]], categorical=[True])
        assert found.tolist() == [[0]]

    def test_a_single_category_keeps_a_column(self):
        found, groups = encode([[4.0], [4.0]], [[4.0], [1.0]], categorical=[True])
        assert found.tolist() == [[1], [0]]
        assert groups.tolist() == [0]

    def test_indicators_are_not_scaled(self):
        found, _ = encode([[0, 1], [1, 3], [2, 5]], categorical=[True, False], scale="standard")
        assert set(found[:, 1:].ravel()) == {0.0, 1.0}
        assert found[:, 0].std() == pytest.approx(1.0)

    def test_ordinal_codes_stay_and_are_scaled_as_numbers(self):
        found, groups = encode([[0], [1], [4]], categorical=[True], encoding="ordinal")
        assert found.tolist() == [[0], [1], [4]]
        assert groups.tolist() == [0]
        found, _ = encode([[0], [1], [4]], categorical=[True], encoding="ordinal", scale="range")
        assert found.tolist() == [[0], [0.25], [1]]

    @pytest.mark.parametrize("encoding", ["one-hot", "ordinal"])
    def test_missing_categories_become_the_most_frequent_one(self, encoding):
        found, _ = encode([[2], [2], [0], [NAN]], [[NAN], [2]], categorical=[True], encoding=encoding)
        assert found[0].tolist() == found[1].tolist()
        if encoding == "ordinal":
            assert found[0, 0] == 2

    @pytest.mark.parametrize("encoding", ["one-hot", "ordinal"])
    def test_a_categorical_column_that_training_never_saw_is_harmless(self, encoding):
        found, groups = encode([[NAN], [NAN]], [[3], [NAN]], categorical=[True], encoding=encoding)
        assert np.isfinite(found).all()
        assert len(groups) == found.shape[1] == 1


def test_categories_are_encoded_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    train, test = (np.column_stack([rng.integers(0, size, rows) for size in (2, 3, 9, 1)]) for rows in (30, 200))
    train, test = train * 1.0, np.vstack([test, [5, 5, 5, 5]]) * 1.0
    oracle = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False).fit(train)
    encoder = Encoder(Columns(np.ones(4, bool)), "standard").fit(train)
    assert np.array_equal(encoder.transform(train), oracle.transform(train))
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a category that only the test part has
        assert np.array_equal(encoder.transform(test), oracle.transform(test))


def test_the_description_of_columns_is_read_off_the_dataset():
    whole = dataset([0, 1])
    assert not Columns.of(whole).missing
    holed = replace(
        whole, X=np.array([[1.0, NAN], [1.0, 2.0]]), encoding="ordinal", categorical=np.array([True, False])
    )
    columns = Columns.of(holed)
    assert (columns.missing, columns.encoding, columns.categorical.tolist()) == (True, "ordinal", [True, False])


def test_columns_of_some_features_keep_their_names():
    columns = Columns(np.array([True, False, False]), missing=True, names=("a", "b", "c"))
    some = columns.subset(np.array([0, 2]))
    assert (some.categorical.tolist(), some.names, some.missing) == ([True, False], ("a", "c"), True)
    assert Columns(np.array([True, False])).subset(np.array([1])).describe(0) == "feature 1"
    assert some.describe(1) == "feature 'c'"


@st.composite
def tables(draw):
    n, m, p = draw(st.integers(1, 8)), draw(st.integers(0, 5)), draw(st.integers(1, 5))
    categorical = np.array(draw(st.lists(st.booleans(), min_size=p, max_size=p)))
    number = st.one_of(st.just(NAN), st.floats(-1e6, 1e6, width=32))
    code = st.one_of(st.just(NAN), st.integers(0, 3).map(float))
    row = st.tuples(*(code if c else number for c in categorical))
    rows = np.array(draw(st.lists(row, min_size=n + m, max_size=n + m)), dtype=float).reshape(n + m, p)
    return rows[:n], rows[n:], categorical


@settings(deadline=None, max_examples=60)
@given(tables(), st.sampled_from(["one-hot", "ordinal"]), st.sampled_from(["standard", "range", "none"]))
def test_encoding_always_holds_its_promises(table, encoding, scale):
    train, test, categorical = table
    columns = Columns(categorical, encoding, missing=True)
    train_before, test_before = train.copy(), test.copy()
    encoder = Encoder(columns, scale).fit(train)
    whole = np.vstack([train, test])
    found = encoder.transform(whole)
    assert np.array_equal(train, train_before, equal_nan=True)
    assert np.array_equal(test, test_before, equal_nan=True)
    assert np.isfinite(found).all()
    assert found.shape == (len(whole), len(encoder.groups_))
    # Every feature has a column; only one-hot ones have several.
    assert set(encoder.groups_) == set(range(train.shape[1]))
    one_hot = np.isin(encoder.groups_, np.flatnonzero(categorical & (encoding == "one-hot")))
    assert len(set(encoder.groups_[~one_hot])) == (~one_hot).sum()
    assert set(np.unique(found[:, one_hot])) <= {0.0, 1.0}
    for feature in np.unique(encoder.groups_[one_hot]):
        assert (found[:, encoder.groups_ == feature].sum(axis=1) <= 1).all()
    # A row is encoded by itself: neighbours and order do not matter.
    for row in range(len(whole)):
        assert np.array_equal(encoder.transform(whole[row : row + 1])[0], found[row])
    numbers = found[: len(train), ~one_hot]
    if scale == "range":
        assert (numbers >= -1e-9).all()
        assert (numbers <= 1 + 1e-9).all()
    if scale == "standard":
        assert (np.abs(numbers.mean(axis=0)) < 1e-6).all()


@settings(deadline=None, max_examples=30)
@given(tables(), st.sampled_from(["one-hot", "ordinal"]), st.sampled_from(["standard", "range", "none"]))
def test_without_missing_values_the_flag_changes_nothing(table, encoding, scale):
    train, _, categorical = table
    train = np.nan_to_num(train)
    outputs = [Encoder(Columns(categorical, encoding, missing), scale).fit(train) for missing in (False, True)]
    np.testing.assert_array_equal(outputs[0].transform(train), outputs[1].transform(train))
