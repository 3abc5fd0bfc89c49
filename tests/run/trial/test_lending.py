"""Shared rows: estimators cannot change them, and one that writes is fitted on a copy with the same result."""

import random
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from spies import Spy, fold_of, method, run

from mfbench.run.trial import lending
from mfbench.run.trial.lending import lend, shared
from mfbench.run.trial.steps import fit_on


@pytest.fixture(autouse=True)
def no_writers(monkeypatch):
    monkeypatch.setattr(lending, "_writers", set())


@pytest.fixture
def rows():
    return shared(np.random.default_rng(0).normal(size=(20, 3)))


class Centring:
    """Centres the rows where they are, after it has drawn, warned and kept something."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.kept_ = [*getattr(self, "kept_", []), 1]
        self.drawn_ = random.random(), np.random.normal()  # noqa: NPY002 - as careless methods do
        warnings.warn("centred", stacklevel=2)
        X -= X.mean(axis=0)
        self.sum_ = float(np.abs(X).sum())
        return self


def test_nothing_is_copied_for_an_estimator_that_only_reads(rows):
    seen = []

    class Reading:
        def fit(self, X, y):
            seen.append(X)

    fit_on(rows, np.zeros(20), Reading)
    assert np.shares_memory(seen[0], rows)


def test_a_writer_gets_a_copy_and_the_rows_stay(rows):
    before = rows.tobytes()
    fitted = fit_on(rows, np.zeros(20), Centring).estimator
    assert rows.tobytes() == before
    assert fitted.sum_ == float(np.abs(rows - rows.mean(axis=0)).sum())
    assert fitted.kept_ == [1]


def test_the_second_writer_of_a_class_is_not_refused_again(rows, monkeypatch):
    monkeypatch.setattr(Centring, "fits", 0)
    results = []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            results.append((fit_on(rows, np.zeros(20), Centring).estimator.drawn_, len(caught)))
    assert Centring.fits == 3
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "write",
    [
        lambda X: X.sort(axis=0),
        lambda X: np.add(X, 1.0, out=X),
        lambda X: setattr(X.flags, "writeable", True) or X.fill(0.0),
        lambda X: X.__setitem__((0, 0), 9.0),
        lambda X: memoryview(X).cast("B").__setitem__(0, 1),
    ],
    ids=["sort", "out", "flag", "item", "memory"],
)
def test_each_way_to_write_is_refused_and_then_done_on_a_copy(rows, write):
    before = rows.tobytes()
    changed = lend(rows, object, lambda X: (write(X), X)[1])
    assert rows.tobytes() == before
    assert changed.tobytes() != before


def test_a_compiled_writer_too(rows):
    from sklearn.utils._cython_blas import _axpy_memview

    before = rows.tobytes()
    changed = lend(rows, object, lambda X: (_axpy_memview(1.0, np.ones(3), X[0]), X)[1])
    assert rows.tobytes() == before
    np.testing.assert_array_equal(changed[0], rows[0] + 1.0)


def test_the_reason_may_lie_behind_another_exception(rows):
    def wrapped(X):
        try:
            X[0] = 0.0
        except ValueError as error:
            raise TypeError("the fit failed") from error
        return X[0, 0]

    assert lend(rows, object, wrapped) == 0.0


def test_other_failures_are_not_repeated(rows):
    calls = []

    def failing(X):
        calls.append(1)
        raise ValueError("needs two classes")

    with pytest.raises(ValueError, match="needs two classes"):
        lend(rows, object, failing)
    assert len(calls) == 1


def test_rows_of_its_own_are_given_as_they_are():
    own = np.zeros((3, 2))
    assert lend(own, object, lambda X: X) is own


def test_the_fit_is_the_same_to_the_bit(rows):
    y = np.arange(20) % 2
    lent = fit_on(rows, y, LogisticRegression).estimator.coef_
    assert lent.tobytes() == LogisticRegression().fit(rows.copy(), y).coef_.tobytes()


class Keeping(Spy):
    """Keeps the rows it is fitted on, and centres them only when it predicts."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict(self, X):
        self.X_ -= 1.0
        return self.y_[:1].repeat(len(X)) + (self.X_[:1, 0] > 1e9).repeat(len(X))


@pytest.mark.parametrize("grid", [(), (("classifier", "a", (1, 2)),)], ids=["fixed", "tuned"])
def test_a_classifier_that_writes_into_the_rows_it_keeps_is_fitted_again(grid):
    fold = fold_of()
    before = fold.encoded.train.tobytes()
    results = [run(fold, method(None, grid=grid), factory=Keeping)[0] for _ in range(2)]
    assert [result.error_message for result in results] == ["", ""]
    assert results[0].scores == results[1].scores
    assert fold.encoded.train.tobytes() == before
