"""The leaderboard: it says what the sentences say, its intervals agree with its groups, and no outlier stretches it."""

import numpy as np
import pytest

from mfbench.report.contents import answer_of
from mfbench.report.leaderboard import FIRST_SHOWN, MOST_SHOWN, leaderboards_of, question_of, size_of, state_of

MEANS = {"A": 0.90, "B": 0.895, "C": 0.86, "D": 0.84, "E": 0.30}
NAMES = {"A": "Alpha + k-NN", "B": "Beta", "C": "Gamma", "D": "Delta", "E": "Constant guess"}


def cells(n_datasets, means=None):
    rng = np.random.default_rng(0)
    return {
        (f"d{d:02}", method): list(mean + 0.02 * rng.standard_normal() + rng.normal(0, 0.01, 5))
        for d in range(n_datasets)
        for method, mean in (means or MEANS).items()
    }


@pytest.fixture
def make(write_run):
    def named(content, names=NAMES, **changes):
        run = write_run(content, report={"reference": "B"}, **changes)
        run.meta.names.update(names)
        return run

    return named


def test_methods_are_in_the_order_of_their_means_with_gaps_to_the_best(make):
    run = make(cells(8))
    (board, others) = leaderboards_of(run)
    means = run.overall().completed.scores.mean().sort_values(ascending=False)
    assert [one.label for one in board.standings] == list(means.index)
    assert [one.name for one in board.standings] == [NAMES[label] for label in means.index]
    assert [one.gap for one in board.standings] == pytest.approx(list(means - means.max()), abs=1e-12)
    assert (board.title, others.title) == ("These 8 datasets", "Datasets like these")
    # Differences count up to ten points, so a method that is far behind is less far behind.
    assert others.standings[-1].gap == pytest.approx(-0.1)
    gaps = [one.gap for one in others.standings]
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.parametrize("n", [6, 12, 20])
def test_a_method_is_hollow_if_and_only_if_the_sentence_separates_it(make, n):
    run = make(cells(n, {f"M{m}": 0.9 - 0.006 * m for m in range(8)}), names={})
    claims = run.overall().claims
    for board, frame, column in zip(
        leaderboards_of(run), (claims.these, claims.like_these), ("holm", "named"), strict=True
    ):
        rows = claims.against(claims.methods[0], frame).set_index("second")
        for one in board.standings:
            if one.gap == 0.0:
                assert not one.is_worse
                continue
            assert one.is_worse == (rows.loc[one.label, column] < claims.alpha)
            low, high = one.joint
            assert low <= one.single[0] <= one.gap <= one.single[1]
            # The interval of a method that is separated never crosses zero, the one of any other always does.
            assert high <= 0.0 if one.is_worse else high >= 0.0
    separated = sum(one.is_worse for one in leaderboards_of(run)[0].standings)
    assert f"than {separated} of 7 methods" in answer_of(run)[0] or separated in (0, 1, 2, 7)


def test_counts_are_those_of_the_reference_turned_round(make):
    run = make(cells(8))
    summary = run.summary().set_index("method")
    for one in leaderboards_of(run)[0].standings:
        wins = tuple(summary.loc[one.label, ["sound_win", "sound_tie", "sound_loss", "sound_no_verdict"]])
        assert one.outcomes == (() if one.label == "B" else wins)


def test_an_outlier_does_not_stretch_the_axis(make):
    board = leaderboards_of(make(cells(8)))[0]
    last, before = board.standings[-1], board.standings[-2]
    assert (last.label, board.is_outside(last.gap), board.is_outside(before.gap)) == ("E", True, False)
    assert board.axis[0] > -0.2
    assert board.place(last.gap) == 0.0
    assert 0.0 < board.place(before.gap) < board.place(0.0) < 100.0
    assert board.ticks == sorted(board.ticks)
    assert 2 <= len(board.ticks) <= 6
    assert "0" in [board.tick_text(tick) for tick in board.ticks]


def test_texts_of_gaps_and_ticks(make):
    board = leaderboards_of(make(cells(8)))[0]
    assert (board.size(-0.0123), board.size(0.9, ""), board.tick_text(-0.05)) == ("−1.2", "90.0", "−5")
    assert board.unit == "percentage points"
    assert (board.reference, board.is_folded(3)) == ("Beta", False)


def test_of_many_methods_the_first_and_the_reference_are_shown(make):
    n = MOST_SHOWN + 1
    run = make(cells(1, {f"M{m:02}": 0.9 - 0.01 * m for m in range(n - 1)} | {"B": 0.2}), names={})
    board = leaderboards_of(run)[0]
    assert [place for place in range(n) if board.is_folded(place)] == list(range(FIRST_SHOWN, n - 1))
    assert [board.title for board in leaderboards_of(run)] == ["This dataset"]


def test_the_folds_of_one_dataset_are_drawn_if_they_are_few(make):
    first, second = [0.9, 0.8, 0.9, 0.7, 0.8], [0.8, 0.85, 0.7, 0.7, 0.7]
    board = leaderboards_of(make({("x", "A"): first, ("x", "B"): second}))[0]
    best, other = board.standings
    assert (best.trials, other.trials) == ((), pytest.approx(tuple(np.subtract(second, first))))
    assert all(board.axis[0] <= trial <= board.axis[1] for trial in other.trials)
    assert "Small dots: single folds." in board.note
    many = {("x", f"M{m}"): [0.9 - 0.01 * m, 0.8, 0.9, 0.7, 0.8] for m in range(9)} | {("x", "B"): 0.7}
    for cells_of_many in (many, cells(3)):
        board = leaderboards_of(make(cells_of_many))[0]
        assert not any(one.trials for one in board.standings)
        assert "Small dots" not in board.note


def test_times_are_on_a_logarithmic_axis(make):
    board = leaderboards_of(make(cells(6)))[0]
    assert board.place_of_time(board.standings[0].seconds) == 50.0  # all take the same time


def test_ties_have_a_leaderboard(make):
    board = leaderboards_of(make({(d, m): 0.9 for d in ("x", "y") for m in "AB"}))[0]
    assert [one.gap for one in board.standings] == [0.0, 0.0]
    assert not any(one.is_worse for one in board.standings)
    assert board.axis[0] < 0.0 < board.axis[1]
    assert board.ticks


def test_one_method_has_none(make):
    assert leaderboards_of(make({("x", "A"): 0.9})) == []


def test_the_question_names_what_is_compared(make):
    run = make(cells(6))
    assert question_of(run) == "Which method has the highest accuracy on 6 datasets?"
    assert size_of(run) == "5 methods, 6 datasets, 5 folds"
    two = make({("x", "A"): [0.9, 0.8, 0.9, 0.7, 0.8], ("x", "B"): [0.8, 0.8, 0.7, 0.9, 0.7]})
    assert question_of(two) == "Is Beta better than Alpha + k-NN on x?"
    assert not leaderboards_of(two)[0].has_several_datasets


def test_datasets_without_the_scores_of_all_methods_are_not_counted(make):
    run = make({**cells(6), ("new", "A"): [None] * 5})
    assert size_of(run) == "5 methods, 6 of 7 datasets, 5 folds"


def test_a_metric_whose_small_values_are_good(make):
    run = make({(f"d{d}", m): [0.1 + 0.1 * k, 0.2, 0.3, 0.2, 0.1] for d in range(3) for k, m in enumerate("AB")}
               | {(f"d{d}", "C"): 0.9 for d in range(3)}, metrics=("log_loss",))  # fmt: skip
    assert question_of(run) == "Which method has the lowest log loss on 3 datasets?"
    board = leaderboards_of(run)[0]
    assert [one.label for one in board.standings] == ["A", "B", "C"]
    assert board.standings[-1].gap < 0.0


def test_the_state_counts_what_failed_and_what_is_to_come(make, failure):
    assert state_of(make({("x", "A"): 0.9, ("x", "B"): 0.8})) == "All 10 trials have run, and none failed."
    run = make({("x", "A"): 0.9, ("x", "B"): [failure(), 0.8, None, None, None]})
    assert state_of(run) == "7 of 10 trials have run; 1 failed (B 1)."
