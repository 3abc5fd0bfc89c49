"""Tuned per dataset: every grid point is measured on the outer fold, fits are shared, and what is stored comes back."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.host.expressions import parse
from mfbench.model.trials import Candidate, Status, Trial
from mfbench.run.store.formats import pack_candidates, unpack_candidates
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.protocols import stratified_splits

N = 24
Y = np.arange(N) % 2
X = np.column_stack([np.arange(N), np.random.default_rng(0).normal(size=N) + 2 * Y])
GRID = (("selector", "a", (1, 2)), ("classifier", "b", (1, 2, 3)))


class Spy(ClassifierMixin, BaseEstimator):
    """Selector and classifier; writes down the rows it is fitted on, predicts class 1 if `b` is odd."""

    log: list

    def __init__(self, a=0, b=0):
        self.a, self.b = a, b

    def fit(self, X, y):
        self.log.append((self.kind, self.a, self.b, frozenset(X[:, 0].round())))
        if self.a < 0 or self.b < 0:
            raise ValueError(f"a = {self.a}, b = {self.b}")
        self.classes_, self.feature_importances_ = np.unique(y), np.array([1.0, 0.1 * self.a])[: X.shape[1]]
        return self

    def predict(self, X):
        return np.full(len(X), self.b % 2)


def fold():
    train, test = stratified_splits(Y, 4, 0)[0]
    return Fold(X, Y, Columns(np.zeros(2, bool)), train, test, "none", 3, 1)


def run(grid, at=None, selector=True):
    log = []

    def make(expression, kind, **overrides):
        estimator = Spy(**overrides)
        estimator.log, estimator.kind = log, kind
        return estimator

    selecting, learning = (Step(parse("spy"), kind) for kind in ("selector", "classifier"))
    method = ResolvedMethod("m", selecting if selector else None, learning, "all", tuple(grid), "per-dataset")
    result = run_trial(Trial("key", "d", "m", 0, 0, 1), method, at or fold(), metrics_of("accuracy"), make)
    return result, log


class TestTrial:
    def test_every_point_is_a_candidate_in_the_grids_order(self):
        result, _ = run(GRID)
        assert result.status is Status.OK
        assert [tuple(point.chosen.values()) for point in result.candidates] == [
            (a, b) for a in (1, 2) for b in (1, 2, 3)
        ]
        assert [point.predictions.tolist() for point in result.candidates] == [[b % 2] * 6 for b in (1, 2, 3)] * 2
        assert all(set(point.scores) == {"accuracy"} and point.n_selected == 2 for point in result.candidates)
        assert [point.weights[1] for point in result.candidates] == pytest.approx([0.1] * 3 + [0.2] * 3)
        assert (result.scores, result.predictions, result.chosen) == ({}, None, {})

    def test_only_training_rows_of_the_outer_fold_are_fitted_on_and_there_are_no_inner_folds(self):
        at = fold()
        _, log = run(GRID, at)
        assert {rows for *_, rows in log} == {frozenset(at.train)}
        assert "inner" not in vars(at)

    def test_a_selector_is_fitted_once_for_all_points_that_share_it(self):
        at = fold()
        result, log = run(GRID, at)
        assert [kind for kind, *_ in log].count("selector") == 2
        again, log = run(GRID[:1], at)
        assert [kind for kind, *_ in log] == ["classifier"] * 2
        # What another trial fitted is charged in full.
        assert again.tune_wall >= sum({point.select_wall for point in result.candidates}) > 0

    def test_a_point_that_fails_is_out_and_said_so(self):
        result, _ = run((("selector", "a", (-1, 1)), ("classifier", "b", (-1, 1))))
        assert [point.chosen for point in result.candidates] == [{"selector.a": 1, "classifier.b": 1}]
        assert result.status is Status.OK
        assert result.n_warnings == 3
        assert "'selector.a': -1, 'classifier.b': -1} failed: ValueError: a = -1" in result.warning

    def test_if_all_fail_the_trial_does(self):
        result, _ = run((("classifier", "b", (-1, -2)),), selector=False)
        assert (result.status, result.error_message, result.candidates) == ("error", "a = 0, b = -2", [])


class TestPacking:
    POINTS = (
        Candidate(
            chosen={"k": np.int64(3), "top": 0.5, "x": None},
            scores={"accuracy": 0.1 + 0.2, "log_loss": float("inf")},
            fit_wall=1e-9,
            n_selected=1,
            selected=np.array([7]),
            weights=np.array([0.1, -np.inf, 1e-300, 2.0]),
            predictions=np.array([0, 1]),
        ),
        Candidate(chosen={}, weights=np.array([1.0]), predictions=np.array([1])),
        Candidate(chosen={"k": 1}),
    )

    def test_what_goes_in_comes_out(self):
        for one, other in zip(self.POINTS, unpack_candidates(pack_candidates(self.POINTS)), strict=True):
            for name in ("selected", "weights", "predictions"):
                before, after = getattr(one, name), getattr(other, name)
                assert (before is None and after is None) or np.array_equal(before, after)
                assert after is None or after.dtype == (np.float64 if name == "weights" else np.int64)
            assert (one.chosen, one.scores, one.fit_wall) == (other.chosen, other.scores, other.fit_wall)

    def test_equal_arrays_stand_once(self):
        weights = np.random.default_rng(0).normal(size=20_000)
        one, twelve = (
            len(pack_candidates([Candidate(chosen={"k": k}, weights=weights.copy()) for k in range(count)]))
            for count in (1, 12)
        )
        assert twelve < 1.01 * one


def test_equal_arrays_are_one_array_however_many_grid_points_name_them():
    weights = np.arange(3.0)
    first, second = unpack_candidates(pack_candidates([Candidate(chosen={"k": k}, weights=weights) for k in (1, 3)]))
    assert first.weights is second.weights and np.array_equal(first.weights, weights)
