"""Scores on the same folds: identical, worse, no worse, undecided."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from toy_metrics import SCORES

from mfbench_gate.comparison import CellVerdict, WorseLimits
from mfbench_gate.scores import SAME_PREDICTIONS, SAME_SCORES, judge_scores

RATIO = 1 / 9


def pairs_of(base, head, changed=1, method="m", measure="accuracy", rows=20):
    return pd.DataFrame(
        {"method": method, "dataset": "d", "size": "", "repeat": 0, "fold": np.arange(len(base)), "measure": measure,
         "base": np.asarray(base, float), "head": np.asarray(head, float), "n_rows": rows, "n_changed": changed}
    )  # fmt: skip


def judge(*frames, limits=None, level=0.05):
    return judge_scores(pd.concat(frames), SCORES, limits or WorseLimits(), level, lambda dataset: RATIO)


BASE = np.array([0.90, 0.85, 0.92, 0.88, 0.91, 0.87, 0.93, 0.86, 0.90, 0.89])
NOISE = np.array([0.01, -0.01, 0.0, 0.01, -0.01, 0.0, 0.01, -0.01, 0.0, 0.0])


def test_identical_predictions_are_no_worse_however_few():
    cells, changes = judge(pairs_of(BASE[:1], BASE[:1], changed=0))
    assert (cells[0].verdict, cells[0].reason, cells[0].difference) == (CellVerdict.NO_WORSE, SAME_PREDICTIONS, 0.0)
    assert not changes


def test_equal_scores_that_should_be_small_differ_by_a_positive_zero():
    cells, _ = judge(pairs_of(BASE, BASE, changed=0, measure="log_loss"))
    assert np.copysign(1.0, cells[0].difference) == 1.0


def test_identical_scores_without_predictions_are_no_worse():
    cells, changes = judge(pairs_of(BASE, BASE, changed=np.nan, rows=np.nan, measure="detection"))
    assert (cells[0].verdict, cells[0].reason) == (CellVerdict.NO_WORSE, SAME_SCORES)
    assert not changes


@pytest.mark.parametrize(
    ("loss", "verdict", "reason"),
    [
        (0.05, CellVerdict.WORSE, "loses 0.05, and 0.01 is accepted"),
        (-0.05, CellVerdict.NO_WORSE, "loses at most 0"),
        (0.009, CellVerdict.UNDECIDED, "may lose up to 0.0"),
    ],
)
def test_changed_predictions_are_tested_against_the_limit(loss, verdict, reason):
    cells, changes = judge(pairs_of(BASE, BASE - loss + NOISE))
    assert cells[0].verdict is verdict
    assert cells[0].reason.startswith(reason)
    assert (changes[0].n_rows, changes[0].n_changed) == (200, 10)


def test_a_small_loss_is_no_worse_if_its_bound_is_below_the_limit():
    cells, _ = judge(pairs_of(BASE, BASE - 0.009 + NOISE), limits=WorseLimits(scores={"accuracy": 0.03}))
    assert cells[0].verdict is CellVerdict.NO_WORSE


def test_the_bound_and_the_p_value_are_those_of_the_corrected_test():
    head = BASE - 0.009 + NOISE
    error = np.sqrt((1 / 10 + RATIO) * np.var(BASE - head, ddof=1))
    loss = float(np.mean(BASE - head))
    cells, _ = judge(pairs_of(BASE, head))
    assert cells[0].p_value == pytest.approx(stats.t.sf(loss / error, 9))
    assert f"up to {loss + stats.t.ppf(0.95, 9) * error:.3g}" in cells[0].reason


def test_the_adjustment_counts_every_tested_cell():
    alone, _ = judge(pairs_of(BASE, BASE - 0.02 + 2 * NOISE))
    others = [pairs_of(BASE, BASE + NOISE, method=f"m{number}") for number in range(30)]
    together, _ = judge(pairs_of(BASE, BASE - 0.02 + 2 * NOISE), *others)
    same, _ = judge(
        pairs_of(BASE, BASE - 0.02 + 2 * NOISE), *[pairs_of(BASE, BASE, 0, f"m{number}") for number in range(30)]
    )
    assert together[0].p_value == pytest.approx(min(1.0, 31 * alone[0].p_value))
    assert same[0].p_value == alone[0].p_value


def test_a_loss_of_a_score_that_should_be_small_is_an_increase():
    cells, _ = judge(pairs_of(BASE, BASE + 0.05 + NOISE, measure="log_loss"))
    assert cells[0].verdict is CellVerdict.WORSE
    assert cells[0].difference == pytest.approx(-0.05)


def test_what_cannot_be_tested_is_undecided():
    for base, head, reason in [
        (BASE[:3], BASE[:3] - 0.1, "there are 3 pairs of folds; a test needs 5"),
        (BASE[:1], BASE[:1] - 0.1, "there is 1 pair of folds"),
        (BASE, BASE - 0.1, "differ by the same amount"),
        (BASE, BASE, "every fold has the same score, although predictions differ"),
        (BASE, np.where(np.arange(10) < 2, np.nan, BASE), "undefined on one side or both in 2 folds of 10"),
    ]:
        cells, _ = judge(pairs_of(base, head))
        assert cells[0].verdict is CellVerdict.UNDECIDED
        assert reason in cells[0].reason
        assert np.isnan(cells[0].p_value)


def test_a_metric_that_is_undefined_on_both_sides_has_no_cell():
    nothing = np.full(5, np.nan)
    assert judge(pairs_of(nothing, nothing, measure="log_loss"))[0] == []


def test_nothing_to_judge():
    assert judge(pairs_of([], [])) == ([], [])


def test_equal_methods_raise_an_alarm_as_rarely_as_the_level_says():
    generator = np.random.default_rng(0)
    alarms = 0
    for _ in range(60):
        frames = [pairs_of(BASE, BASE + generator.normal(0, 0.03, 10), method=f"m{number}") for number in range(5)]
        cells, _ = judge(*frames, limits=WorseLimits(scores={"accuracy": 0.0}))
        alarms += any(cell.verdict is CellVerdict.WORSE for cell in cells)
    # The correction expects overlapping folds; without an overlap the test is conservative.
    assert alarms <= 6
