"""A trial of ground-truth: what the selector is given, and that what it says comes back in canonical order."""

from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mfbench.data.rounds import reorder_columns
from mfbench.host.expressions import parse
from mfbench.model.specs import Dataset
from mfbench.model.trials import Status, Trial
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench_protocols.detection import RoundFold, learner_weights, run_round

N, P = 40, 5


def canonical(response=False, categorical=()):
    """Feature j has the standard deviation j + 1, except for categories; features 1 and 3 are relevant, and a pair."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    X = (X - X.mean(axis=0)) / X.std(axis=0) * np.arange(1, P + 1)
    mask = np.isin(np.arange(P), categorical)
    X[:, mask] = rng.integers(0, 3, size=(N, mask.sum()))
    numbers = rng.normal(size=N)
    return Dataset(
        name="d",
        X=X,
        y=(numbers > np.median(numbers)).astype(np.int64),
        class_names=("0", "1"),
        feature_names=tuple("abcde"),
        categorical=mask,
        relevant=(1, 3),
        interactions=((1, 3),),
        response=numbers if response else None,
    )


class Spread(BaseEstimator):
    """Weighs a column by its standard deviation, and a pair by the product; keeps what it was given."""

    seen: ClassVar[list] = []

    def __init__(self, sign=1.0, raises=False):
        self.sign, self.raises = sign, raises

    def fit(self, X, y):
        if self.raises:
            raise RuntimeError("no")
        Spread.seen.append(y)
        spread = X.std(axis=0)
        self.feature_importances_ = float(self.sign) * spread
        self.interaction_importances_ = np.outer(spread, spread)
        return self


def make(expression, kind, **overrides):
    return Spread(**{**expression.params, **overrides})


def run(order=None, *, top="positive", text="spread", numbers=False, selector=True, fold=None, **data):
    Spread.seen.clear()
    order = np.arange(P) if order is None else np.array(order)
    fold = fold or RoundFold(reorder_columns(canonical(**data), order), order, "none", 5, 1e-9)
    step = Step(parse(text), "selector" if selector else "classifier", numbers=numbers)
    method = ResolvedMethod("m", step if selector else None, None if selector else step, top)
    return run_round(Trial("key", "d", "m", 0, 0, 9), method, fold, make)


def test_results_come_in_canonical_order(subtests):
    for selector in [True, False]:
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 1, 0, 3]]:
            with subtests.test(selector=selector, order=order):
                result = run(order, top="relevant", selector=selector)
                assert result.status is Status.OK, result.error_trace
                np.testing.assert_allclose(result.weights, [1, 2, 3, 4, 5])
                assert result.selected.tolist() == [3, 4]
                assert (result.scores["detection"], result.scores["false_alarm"]) == (0.5, pytest.approx(1 / 3))
                # 2 < 3 and 5, 4 < 5: of six pairs of a relevant and an irrelevant feature three are in order
                assert result.scores["area"] == pytest.approx(3 / 6)
                told = {
                    tuple(pair): value
                    for pair, value in zip(result.interactions.pairs.tolist(), result.interactions.values, strict=True)
                }
                assert told[1, 3] == pytest.approx(8)
                assert told[3, 4] == pytest.approx(20)
                assert result.scores["pair_detection"] == 0


def test_what_counts_as_found():
    assert run(top="positive").n_selected == 5
    assert run(top="positive", text="spread(sign=-1.0)").n_selected == 0
    assert run(top=1).selected.tolist() == [4]
    assert run(top=0.5).selected.tolist() == [2, 3, 4]


def test_numbers_go_to_those_who_take_them():
    run(response=True, numbers=True)
    assert Spread.seen[0].dtype == np.float64
    run(response=True)
    assert sorted(set(Spread.seen[0].tolist())) == [0, 1]
    run(numbers=True)
    assert sorted(set(Spread.seen[0].tolist())) == [0, 1]


def test_a_classifier_gets_classes():
    run(response=True, selector=False)
    assert sorted(set(Spread.seen[0].tolist())) == [0, 1]


def test_a_category_counts_once():
    result = run(categorical=[1])
    assert len(result.weights) == P
    assert result.status is Status.OK


def test_fits_are_shared_and_so_is_a_failure():
    order = np.arange(P)
    fold = RoundFold(canonical(), order, "none", 5, 1e-9)
    first, second = run(top="relevant", fold=fold), run(top=1, fold=fold)
    assert len(fold.selections) == 1
    assert not Spread.seen  # the second made no fit
    assert first.select_wall == second.select_wall
    failed = run(text="spread(raises=True)", fold=fold)
    assert (failed.status, failed.error_type, failed.scores) == (Status.ERROR, "RuntimeError", {})
    assert failed.weights is None and failed.selected is None


def test_weights_of_classifiers():
    class Model:
        pass

    model = Model()
    with pytest.raises(ValueError, match="neither feature_importances_ nor coef_"):
        learner_weights(model, 2, "own")
    model.coef_ = np.array([1.0, -3.0])
    assert learner_weights(model, 2, "own").tolist() == [1, 3]
    model.feature_importances_ = [0.5]
    with pytest.raises(ValueError, match="shape"):
        learner_weights(model, 2, "own")


def test_infinite_weights_of_a_classifier_are_its_failure():
    result = run(text="spread(sign='inf')", selector=False)
    assert (result.status, result.error_type) == (Status.ERROR, "ValueError")
    assert result.error_message.startswith("classifier 'spread' gave the importance inf to feature ")
