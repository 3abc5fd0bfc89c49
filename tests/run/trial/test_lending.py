"""Shared rows: lent to estimators that are known to read only; others get copies, and cannot change what is shared."""

import numpy as np
import pytest
from scipy.linalg import qr
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from spies import Spy, fold_of, method, run

from mfbench.run.trial.guard import rows_for, shared
from mfbench_margin import ReliefF


@pytest.fixture
def rows():
    return shared(np.random.default_rng(0).normal(size=(20, 3)))


class Mine(KNeighborsClassifier):
    """Somebody's."""


def test_nothing_is_copied_for_estimators_that_are_known_to_read_only(subtests, rows):
    for estimator in [
        KNeighborsClassifier(),
        ReliefF(),
        make_pipeline(StandardScaler(), LogisticRegression(class_weight={0: 1.0, 1: 2.0})),
        BaggingClassifier(LogisticRegression(), random_state=np.random.RandomState(0)),
    ]:
        with subtests.test(estimator=estimator):
            assert rows_for(estimator, rows) is rows


def test_others_get_copies(subtests, rows):
    for estimator in [
        Mine(),
        make_pipeline(StandardScaler(), Mine()),
        BaggingClassifier(Mine()),
        make_pipeline(FunctionTransformer(np.negative), LogisticRegression()),
        KNeighborsClassifier(metric=lambda a, b: 0.0),
    ]:
        with subtests.test(estimator=estimator):
            given = rows_for(estimator, rows)
            assert given.flags.writeable
            assert not np.shares_memory(given, rows)
            np.testing.assert_array_equal(given, rows)


def test_rows_of_its_own_are_given_as_they_are():
    own = np.zeros((3, 2))
    assert rows_for(Mine(), own) is own


def test_neither_rows_nor_their_owner_can_be_made_writeable_again(rows):
    with pytest.raises(ValueError, match="WRITEABLE"):
        rows.flags.writeable = True


class InPlace(Spy):
    """Lets LAPACK overwrite its input, which the flag of a read-only array does not prevent."""

    def fit(self, X, y):
        qr(X.T, overwrite_a=True)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        qr(X.T, overwrite_a=True)
        X[:] = 0.0
        return self.classes_[:1].repeat(len(X))


@pytest.mark.parametrize("grid", [(), (("classifier", "a", (1, 2)),)], ids=["fixed", "tuned"])
def test_a_method_that_overwrites_its_input_does_not_change_the_next_one(grid):
    fold = fold_of()
    before = fold.encoded.train.tobytes(), fold.encoded.test.tobytes()
    result, _ = run(fold, method(None, grid=grid), factory=InPlace)
    assert result.error_message == ""
    assert (fold.encoded.train.tobytes(), fold.encoded.test.tobytes()) == before
