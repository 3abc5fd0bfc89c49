"""A fold: encoded by its training rows, inner folds within them, selector fits handed on."""

import numpy as np
import pytest

from mfbench.data.prepare import Columns, Encoder
from mfbench.run.trial.folds import OUTER, Fold, Selection

N = 40
CATEGORICAL = np.array([False, True, False])


def table(seed=0):
    """A number, a category of four and a number, with holes; two classes."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(5, 3, N), rng.integers(0, 4, N), rng.exponential(2.0, N)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.arange(N) % 2


def make_fold(X=None, y=None, *, inner_folds=4, seed=1, scale="standard"):
    default_X, default_y = table()
    X, y = default_X if X is None else X, default_y if y is None else y
    rows = np.random.default_rng(2).permutation(len(X))
    cut = len(X) // 4
    columns = Columns(CATEGORICAL[: X.shape[1]], missing=True)
    return Fold(X, y, columns, np.sort(rows[cut:]), np.sort(rows[:cut]), scale, inner_folds, seed)


def selection(value):
    return Selection(np.array([value]), np.array([value]), 0.0, 0.0)


class TestEncoding:
    def test_rows_are_encoded_by_what_the_training_rows_tell(self, subtests):
        for scale in ["standard", "range", "none"]:
            with subtests.test(scale=scale):
                fold = make_fold(scale=scale)
                encoder = Encoder(fold.columns, scale).fit(fold.X[fold.train])
                assert np.array_equal(fold.encoded.train, encoder.transform(fold.X[fold.train]))
                assert np.array_equal(fold.encoded.test, encoder.transform(fold.X[fold.test]))
                assert np.array_equal(fold.encoded.groups, encoder.groups_)

    def test_labels_and_raw_rows_are_those_of_the_indices(self):
        fold = make_fold()
        assert np.array_equal(fold.y_train, fold.y[fold.train])
        assert np.array_equal(fold.y_test, fold.y[fold.test])
        assert np.array_equal(fold.raw_train, fold.X[fold.train], equal_nan=True)

    def test_test_rows_change_nothing_in_the_training_columns(self, subtests):
        """Whatever the test rows hold: outliers, other categories, holes."""
        for position in [OUTER, 0, 1, 2, 3]:
            for scale in ["standard", "range", "none"]:
                with subtests.test(position=position, scale=scale):

                    def pick(fold, position=position):
                        return fold if position == OUTER else fold.inner[position]

                    before = pick(make_fold(scale=scale))
                    for poison in (np.array([1e9, 7.0, -1e9]), np.full(3, np.nan)):
                        X = table()[0]
                        X[before.test] = poison
                        after = pick(make_fold(X, scale=scale))
                        assert np.array_equal(after.encoded.train, before.encoded.train)
                        assert np.array_equal(after.encoded.groups, before.encoded.groups)

    def test_training_rows_do_change_them(self):
        """The test above is able to fail."""
        before = make_fold()
        X = table()[0]
        X[before.train[0]] = [1e9, 7.0, -1e9]
        assert not np.array_equal(make_fold(X).encoded.test, before.encoded.test)

    def test_inner_columns_have_statistics_of_their_own(self):
        fold = make_fold()
        for inner in fold.inner:
            numbers = inner.encoded.train[:, :2]
            np.testing.assert_allclose(numbers.mean(axis=0), 0.0, atol=1e-12)
            np.testing.assert_allclose(numbers.std(axis=0), 1.0, rtol=1e-12)


class TestInner:
    def test_inner_folds_part_the_training_rows(self):
        fold = make_fold()
        assert len(fold.inner) == 4
        assert sorted(np.concatenate([inner.test for inner in fold.inner])) == fold.train.tolist()
        for inner in fold.inner:
            assert sorted([*inner.train, *inner.test]) == fold.train.tolist()
            assert not set(inner.train) & set(fold.test)
            assert not set(inner.test) & set(fold.test)

    def test_they_are_stratified(self):
        y = np.repeat([0, 1], [30, 10])
        fold = make_fold(y=y)
        shares = [int((y[inner.test] == 1).sum()) for inner in fold.inner]
        assert max(shares) - min(shares) <= 1

    def test_they_are_a_function_of_the_seed(self):
        def tests(seed):
            return [inner.test.tolist() for inner in make_fold(seed=seed).inner]

        assert tests(1) == tests(1)
        assert tests(1) != tests(2)

    def test_their_number_shrinks_to_the_largest_class(self):
        X, y = np.arange(8.0).reshape(-1, 1), np.array([0, 1, 2, 3] * 2)
        fold = Fold(X, y, Columns(np.array([False])), np.arange(8), np.arange(0), "none", 5, 0)
        assert len(fold.inner) == 2

    def test_classes_of_one_row_each_say_so_in_our_words(self):
        from mfbench.errors import MfbenchError

        X, y = np.arange(3.0).reshape(-1, 1), np.array([0, 1, 2])
        fold = Fold(X, y, Columns(np.array([False])), np.arange(3), np.arange(0), "none", 5, 0)
        with pytest.raises(MfbenchError):
            _ = fold.inner

    def test_they_keep_scale_and_columns(self):
        fold = make_fold(scale="range")
        assert all(inner.scale == "range" and inner.columns is fold.columns for inner in fold.inner)


class TestSharing:
    def test_what_one_copy_exports_another_adopts(self):
        one, other = make_fold(), make_fold()
        one.selections[OUTER, "a()"] = selection(1.0)
        inner = one.inner[2]
        assert inner.path == (2,)
        inner.selections[inner.path, "a()"] = selection(2.0)
        shared = one.export("a()")
        assert set(shared) == {(OUTER, "a()"), ((2,), "a()")}
        other.adopt(shared)
        assert other.inner[2].selections == shared

    def test_only_the_selector_asked_for_is_exported(self):
        fold = make_fold()
        fold.selections |= {(OUTER, "a()x"): selection(1.0), (OUTER, "b()x"): selection(2.0)}
        assert set(fold.export("a()")) == {(OUTER, "a()x")}

    def test_exporting_makes_no_inner_folds(self):
        fold = make_fold()
        fold.selections[OUTER, "a()"] = selection(1.0)
        fold.export("a()")
        assert "inner" not in vars(fold)

    def test_what_is_there_already_stays(self):
        fold = make_fold()
        fold.selections[OUTER, "a()"] = selection(1.0)
        fold.adopt({(OUTER, "a()"): selection(9.0)})
        assert fold.selections[OUTER, "a()"].weights[0] == 1.0
