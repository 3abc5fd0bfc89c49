"""No fit ever learns from a row that is tested, nor from one that chooses."""

import numpy as np
import pytest
from spies import NAN, TUNED, Log, Spy, fold_of, ids, maker, method, mixed, run, trial
from toy_metrics import metrics_of

from mfbench.model.trials import Status
from mfbench.run.trial.curve import run_trial


class TestLeakage:
    def test_no_fit_ever_sees_a_test_row(self, subtests):
        """Column 0 is the row's identity: weights are equal, so it is kept, first, and unscaled."""
        for how in [method(), method(selector=None), TUNED]:
            with subtests.test(how=how):
                for at in [(0, 0), (0, 3), (1, 2)]:
                    fold = fold_of(repeat=at[0], fold=at[1])
                    result, log = run(fold, how, at=trial(*at))
                    assert result.status is Status.OK, result.error_trace
                    fits = [event for event in log if event.what == "fit"]
                    assert fits
                    assert all(not ids(event.X) & set(fold.test) for event in fits)
                    assert all(np.array_equal(event.y, fold.y[[int(i) for i in event.X[:, 0]]]) for event in fits)

    def test_no_classifier_predicts_what_it_was_fitted_on(self):
        fold = fold_of()
        _, log = run(fold, TUNED)
        # Half of the twelve points have the same columns as the other half, since all weights are equal: scored once.
        assert len(log.predictions()) == 6 * 3 + 1
        for event in log.predictions():
            assert not ids(event.X) & ids(event.by.X_)
        # Test rows are met once, by the classifier that was fitted on all training rows.
        meetings = [event for event in log.predictions() if ids(event.X) & set(fold.test)]
        assert len(meetings) == 1
        assert ids(meetings[0].X) == set(fold.test)
        assert ids(meetings[0].by.X_) == set(fold.train)

    def test_inner_fits_are_those_of_the_inner_training_rows(self):
        fold = fold_of()
        _, log = run(fold, TUNED)
        inner = {frozenset(int(i) for i in part.train) for part in fold.inner}
        assert len(inner) == 3
        for kind in ("selector", "classifier"):
            assert {ids(event.X) for event in log.fits(kind)} == inner | {frozenset(int(i) for i in fold.train)}

    def test_the_selector_behind_a_fit_saw_the_same_rows(self):
        """The selector gives the column of ones a weight that tells which rows it was fitted on."""

        class Telling(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                self.feature_importances_ = np.array([1.0, (hash(ids(X)) % 997 + 1) / 1000, 0.5])[: X.shape[1]]
                return self

        def make(expression, kind, **overrides):
            return maker(log, Telling if kind == "selector" else Spy)(expression, kind, **overrides)

        log = Log()
        how = method(top="all-weighted", grid=(("classifier", "b", (1, 2)),))
        run_trial(trial(), how, fold_of(), metrics_of("accuracy"), make)
        fits = log.fits("classifier")
        assert len({ids(event.X) for event in fits}) == 4
        for event in fits:
            np.testing.assert_allclose(event.X[:, 1] ** 2, (hash(ids(event.X)) % 997 + 1) / 1000)

    POISON = (np.array([1e7, 9.0, 9.0]), np.full(3, NAN), np.array([-3.0, 0.0, 0.0]))

    @pytest.mark.parametrize("poison", POISON, ids=["outliers and new categories", "holes", "common values"])
    @pytest.mark.parametrize("scale", ["standard", "range", "none"])
    @pytest.mark.parametrize("raw", [False, True], ids=["encoded", "raw"])
    def test_what_test_rows_hold_reaches_no_fit(self, poison, scale, raw):
        """Fill values, categories, means and ranges, in outer and inner folds: bit by bit the same."""
        how = method(raw=raw, grid=TUNED.grid)
        options = {"scale": scale, "categorical": [False, True, True]}
        X, y = mixed()
        before, log_before = run(fold_of((X, y), **options), how)
        test = fold_of(**options).test
        X, y = X.copy(), y.copy()
        X[test], y[test] = poison, 1 - y[test]
        after, log_after = run(fold_of((X, y), **options), how)
        assert before.status is after.status is Status.OK, before.error_trace
        fits = [[event for event in log if event.what == "fit"] for log in (log_before, log_after)]
        assert len(fits[0]) == len(fits[1]) > 10
        for one, other in zip(*fits, strict=True):
            assert np.array_equal(one.X, other.X, equal_nan=True)
            assert np.array_equal(one.y, other.y)
        assert before.chosen == after.chosen
        assert np.array_equal(before.weights, after.weights)
        assert np.array_equal(before.selected, after.selected)

    def test_what_an_inner_test_part_holds_reaches_no_inner_fit(self):
        X, y = mixed()
        options = {"scale": "standard", "categorical": [False, True, True]}
        part = fold_of((X, y), **options).inner[1].test
        poisoned = X.copy()
        poisoned[part] = [1e7, 9.0, 9.0]
        how = method(grid=(("classifier", "b", (1,)),))
        logs = [run(fold_of((data, y), **options), how)[1] for data in (X, poisoned)]
        for kind in ("selector", "classifier"):
            one, other = (log.fits(kind) for log in logs)
            same = [np.array_equal(a.X, b.X) for a, b in zip(one, other, strict=True)]
            # Inner folds 0 and 2 and the outer one contain those rows, inner fold 1 does not.
            assert same == [False, True, False, False]

    def test_the_columns_of_a_fit_are_standardised_by_its_own_rows(self):
        _, log = run(fold_of(scale="standard"), TUNED)
        fits = log.fits("selector")
        assert len({len(event.X) for event in fits}) > 1
        for event in fits:
            np.testing.assert_allclose(event.X[:, [0, 2]].mean(axis=0), 0.0, atol=1e-12)
            np.testing.assert_allclose(event.X[:, [0, 2]].std(axis=0), 1.0)
