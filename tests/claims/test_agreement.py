"""What counts as equal, as rounding and as different."""

import dataclasses

import numpy as np
import pytest

from mfbench.model.trials import Candidate, Curve, Interactions
from mfbench.run.trial.steps import PAIRS_KEPT
from mfbench_claims.agreement import COLUMNS, AgreementKind, RunLimits, agreement

EQUAL, ROUNDING, DIFFERENT, NOT_COMPARABLE, _ = AgreementKind
NAN = float("nan")
NEXT = np.nextafter(0.9, 1)


def result(**changes):
    curve = Curve(np.array([1, 2]), ("accuracy",), np.array([[0.5, 0.75]]), np.array([0.1, 0.1]), ({"k": 1}, {"k": 2}))
    pairs = Interactions(np.array([[0, 1]]), np.array([0.5]), np.array([1]), np.array([np.nan]), 1.0, 3)
    candidate = Candidate(chosen={"k": 3}, scores={"accuracy": 0.5}, weights=np.array([1.0]), interactions=pairs)
    values = {
        "status": "ok",
        "scores": {"accuracy": 0.9, "roc_auc": float("nan")},
        "n_selected": 2,
        "selected": np.array([0, 2]),
        "weights": np.array([0.5, np.nan, 0.25]),
        "predictions": np.array([0, 1, 1]),
        "chosen": {"C": 0.1},
        "curve": curve,
        "interactions": pairs,
        "candidates": [candidate],
    }
    return dict.fromkeys(COLUMNS) | values | changes


def test_equal_to_the_bit():
    assert agreement(result(), result()).outcome is EQUAL
    slower = dataclasses.replace(result()["curve"], seconds=np.ones(2))
    assert agreement(result(), result(curve=slower)).outcome is EQUAL


def test_what_differs_is_named(subtests):
    for changes, outcome, detail in [
        ({"scores": {"accuracy": NEXT, "roc_auc": NAN}}, ROUNDING, "accuracy is 0.9 in the bundle and"),
        ({"weights": np.array([0.5 + 1e-9, np.nan, 0.25])}, ROUNDING, "1 of 3 values of weights differ, by up to 1e-"),
        ({"weights": np.array([0.5, np.nan, 0.3])}, DIFFERENT, "1 of 3 values of weights differ, by up to 0.05"),
        ({"weights": np.array([0.5, 0.5, 0.25])}, DIFFERENT, "1 of 3 values of weights differ"),
        ({"weights": None}, DIFFERENT, "weights only in the bundle"),
        ({"decisions": np.array([1])}, DIFFERENT, "decisions only here"),
        ({"scores": {"accuracy": 0.8, "roc_auc": NAN}}, DIFFERENT, "accuracy is 0.9 in the bundle and 0.8 here"),
        ({"scores": {"accuracy": 0.9, "roc_auc": 0.5}}, DIFFERENT, "roc_auc is nan in the bundle and 0.5 here"),
        ({"predictions": np.array([0, 1, 0])}, DIFFERENT, "1 of 3 values of predictions differ"),
        ({"predictions": np.array([0, 1])}, DIFFERENT, "predictions have 3 values in the bundle and 2 here"),
        ({"selected": np.array([0, 1])}, DIFFERENT, "1 of 2 values of selected differ"),
        ({"n_selected": 3}, DIFFERENT, "n_selected is 2 in the bundle and 3 here"),
        ({"chosen": {"C": 1.0}}, DIFFERENT, "selected parameters are {'C': 0.1} in the bundle and"),
        ({"candidates": []}, DIFFERENT, "grid point 1: accuracy only in the bundle"),
        ({"interactions": None}, DIFFERENT, "interactions only in the bundle"),
        ({"curve": None}, DIFFERENT, "sizes of the curve only in the bundle"),
        ({"status": "error", "error_type": "ValueError"}, DIFFERENT, "it succeeded in the bundle and failed (Val"),
        ({"status": "timeout"}, NOT_COMPARABLE, "it succeeded in the bundle and reached the time limit here"),
    ]:
        with subtests.test(changes=changes, outcome=outcome, detail=detail):
            answer = agreement(result(), result(**changes))
            assert answer.outcome is outcome and answer.detail.startswith(detail), answer


def weighted(values, **changes):
    """Return a summary as a run has it: pairs in order of their weights, which are not 0."""
    order = sorted((pair for pair in values if values[pair]), key=lambda pair: -abs(values[pair]))
    sizes = np.abs([values[pair] for pair in order])
    summary = {
        "pairs": np.array(order, dtype=int).reshape(-1, 2),
        "values": np.array([values[pair] for pair in order]),
        "ranks": np.array([(sizes >= size).sum() for size in sizes]),
        "p_values": None,
        "norm": 1.0,
        "n_pairs": 3000,
    }
    return Interactions(**summary | changes)


def test_pairs_of_equal_weight_have_no_order_and_a_pair_that_is_not_listed_weighs_nothing(subtests):
    ab, ac, bc = (0, 1), (0, 2), (1, 2)
    bit, tied = 2.0**-52, {ab: 0.5, ac: 0.25, bc: 0.25}
    many = {(3, 4 + k): 1.0 - k / 100 for k in range(PAIRS_KEPT - 1)}  # one pair less than a full list
    one = weighted(tied)
    for claimed, repeated, outcome, detail in [
        (one, weighted(tied | {bc: 0.25 + bit}), ROUNDING, "1 of 3 values of interactions (weights) differ, by up to"),
        (one, weighted({ab: 0.25, ac: 0.5, bc: 0.25}), DIFFERENT, "2 of 3 values of interactions (weights)"),
        (one, weighted(tied | {bc: -0.25}), DIFFERENT, "1 of 3 values of interactions (weights)"),
        (one, weighted({ab: 0.5, ac: 0.25}), DIFFERENT, "1 of 3 values of interactions (weights)"),
        (one, weighted({}), DIFFERENT, "3 of 3 values of interactions (weights)"),
        (one, weighted(tied, ranks=np.array([2, 3, 3])), DIFFERENT, "1 of 1 values of interactions (ranks)"),
        (one, weighted(tied, p_values=np.zeros(3)), DIFFERENT, "3 of 3 values of interactions (p-values)"),
        (one, weighted(tied, norm=2.0), DIFFERENT, "interactions (norm) is 1.0 in the bundle"),
        (weighted({ab: 0.5, ac: bit}), weighted({ab: 0.5}), ROUNDING, "1 of 2 values of interactions (weights)"),
        (weighted({ac: bit}), weighted({}), ROUNDING, "1 of 1 values of interactions (weights)"),
        # The last pair of a full list is one of several of equal weight; of the others nothing is stored.
        (weighted(many | {ac: 0.125 + bit}), weighted(many | {bc: 0.125}), ROUNDING, "1 of 65 values of"),
        (weighted(many | {ac: 0.125}), weighted(many | {bc: 0.25}), DIFFERENT, "1 of 65 values of"),
    ]:
        with subtests.test(detail=detail):
            one_way, other_way = (
                agreement(result(interactions=first, candidates=[]), result(interactions=second, candidates=[]))
                for first, second in ((claimed, repeated), (repeated, claimed))
            )
            assert one_way.outcome is other_way.outcome is outcome and one_way.detail.startswith(detail), one_way


@pytest.mark.filterwarnings("error")
def test_values_that_are_missing_or_infinite_on_one_side_have_no_distance():
    one, other = np.array([NAN, 1.0, np.inf]), np.array([0.5, NAN, np.inf])
    assert agreement(result(weights=one), result(weights=other)).detail == "2 of 3 values of weights differ"


def test_failures():
    one = result(status="error", error_type="ValueError", error_message="3 rows in …/a")
    assert agreement(one, one | {"error_message": "3 rows in /b/a"}).outcome is EQUAL
    assert agreement(one, one | {"error_type": "KeyError"}).outcome is DIFFERENT
    assert agreement(one | {"status": "memory"}, one).outcome is NOT_COMPARABLE
    assert agreement(one | {"status": "memory"}, one | {"status": "memory"}).outcome is EQUAL
    # A method that ends its process is no matter of the machine's limits.
    assert agreement(one | {"status": "crash"}, result()).outcome is DIFFERENT
    assert agreement(one | {"status": "crash"}, one | {"status": "timeout"}).outcome is NOT_COMPARABLE
    assert agreement(one | {"status": "crash"}, one | {"status": "crash"}).outcome is EQUAL


def test_a_limit_that_the_repetition_misses_by_a_wide_margin(subtests):
    limits = RunLimits(seconds=600.0, memory=2.0**32)
    for status, needed, outcome in [
        ("timeout", {"duration": 59.0}, DIFFERENT),
        ("timeout", {"duration": 61.0}, NOT_COMPARABLE),
        ("timeout", {"duration": None}, NOT_COMPARABLE),
        ("memory", {"peak_memory": 2**29}, DIFFERENT),
        ("memory", {"peak_memory": 2**31}, NOT_COMPARABLE),
        ("timeout", {"duration": 1.0, "status": "memory"}, NOT_COMPARABLE),
    ]:
        with subtests.test(status=status, needed=needed):
            assert agreement(result(status=status), result(**needed), limits).outcome is outcome
    assert agreement(result(status="memory"), result(peak_memory=1), RunLimits(seconds=600.0)).outcome is NOT_COMPARABLE
    detail = agreement(result(status="timeout"), result(duration=0.5), limits).detail
    assert detail == "it reached the time limit in the bundle and succeeded here, with 0.5 of 600 s"


def test_reaching_a_lowered_limit_on_both_sides_says_nothing():
    stopped = result(status="timeout")
    answer = agreement(stopped, stopped, RunLimits(0.1, lowered=("0.1 s instead of 600 s",)))
    assert answer.outcome is NOT_COMPARABLE
    assert answer.detail == "it reached the time limit on both sides: 0.1 s instead of 600 s"
    assert agreement(stopped, stopped, RunLimits(600.0)).outcome is EQUAL


def test_a_long_list_is_cut():
    other = result(scores={}, selected=None, predictions=None, weights=None, curve=None)
    assert agreement(result(), other).detail.endswith(" more") and len(agreement(result(), other).detail) < 300
