"""A budget of time: what may start, in which order, how durations are written, and what a real run leaves."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbench.errors import UsageError
from mfbench.model.trials import Trial
from mfbench.run.forecast.order import Budget, duration_text, in_rounds, parse_duration, seconds_of


def trials_of(n_datasets, n_methods, n_folds):
    """Return the trials of a plan, in its order."""
    return [
        Trial(f"{d}/{m}/{f}", f"d{d}", f"m{m}", f // 2, f % 2, 0)
        for d in range(n_datasets)
        for f in range(n_folds)
        for m in range(n_methods)
    ]


def folds_of(trials):
    """Return the folds of each cell."""
    cells = {}
    for trial in trials:
        cells.setdefault((trial.dataset, trial.method), set()).add((trial.repeat, trial.fold))
    return cells


SIZES = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5))


class TestOrder:
    @given(SIZES)
    def test_two_cells_never_differ_by_more_than_a_fold(self, sizes):
        order = in_rounds(trials_of(*sizes), ())
        counts = dict.fromkeys(folds_of(order), 0)
        for trial in order:
            counts[trial.dataset, trial.method] += 1
            assert max(counts.values()) - min(counts.values()) <= 1

    @given(SIZES)
    def test_the_methods_of_a_fold_are_together(self, sizes):
        order = in_rounds(trials_of(*sizes), ())
        for start in range(0, len(order), sizes[1]):
            together = order[start : start + sizes[1]]
            assert len({(trial.dataset, trial.repeat, trial.fold) for trial in together}) == 1
            assert len({trial.method for trial in together}) == sizes[1]

    @given(SIZES, st.integers(0, 5))
    def test_after_each_round_all_cells_have_the_same_folds(self, sizes, rounds):
        order = in_rounds(trials_of(*sizes), ())
        folds = folds_of(order[: min(rounds, sizes[2]) * sizes[0] * sizes[1]])
        assert len(set(map(frozenset, folds.values()))) <= 1

    @given(SIZES, st.data())
    def test_whatever_has_run_before_all_that_is_left_runs_once_and_datasets_even_out(self, sizes, data):
        trials = trials_of(*sizes)
        done = data.draw(st.sets(st.sampled_from([trial.key for trial in trials])))
        order = in_rounds(trials, done)
        assert sorted(trial.key for trial in order) == sorted({trial.key for trial in trials} - done)
        complete = {f"d{d}": 0 for d in range(sizes[0])}
        left = {}
        for trial in trials:
            left.setdefault((trial.dataset, trial.repeat, trial.fold), set()).add(trial.key)
        for fold, keys in left.items():
            keys -= done
            complete[fold[0]] += not keys
        for trial in order:
            # What runs next belongs to a dataset with the fewest complete folds of those with anything left.
            open_ones = {fold[0] for fold, keys in left.items() if keys}
            assert complete[trial.dataset] == min(complete[dataset] for dataset in open_ones)
            keys = left[trial.dataset, trial.repeat, trial.fold]
            keys.remove(trial.key)
            complete[trial.dataset] += not keys

    @given(SIZES, st.data())
    def test_the_cheapest_come_first_in_each_round(self, sizes, data):
        trials = trials_of(*sizes)
        seconds = {trial.key: data.draw(st.integers(1, 3)) for trial in trials}
        order = in_rounds(trials, (), seconds)
        size = sizes[0] * sizes[1]
        for start in range(0, len(order), size):
            together = order[start : start + size]
            assert len({(trial.dataset, trial.method) for trial in together}) == size
            assert [seconds[trial.key] for trial in together] == sorted(seconds[trial.key] for trial in together)

    def test_folds_that_lack_the_fewest_methods_come_first(self):
        trials = trials_of(1, 3, 3)
        order = in_rounds(trials, {"0/0/2", "0/1/2", "0/0/1"})
        assert [trial.key for trial in order] == ["0/2/2", "0/1/1", "0/2/1", "0/0/0", "0/1/0", "0/2/0"]


class TestBudget:
    @pytest.fixture
    def clock(self):
        return SimpleNamespace(now=100.0)

    def test_it_counts_down_and_is_over(self, clock):
        budget = Budget(10.0, now=lambda: clock.now)
        (trial,) = trials_of(1, 1, 1)
        assert (budget.remaining, budget.is_over, budget.admits(trial)) == (10.0, False, True)
        clock.now = 110.0
        assert (budget.remaining, budget.is_over, budget.admits(trial)) == (0.0, True, False)

    def test_a_trial_that_would_take_longer_than_what_is_left_does_not_start(self, clock):
        long, short = trials_of(2, 1, 1)
        budget = Budget(10.0, predict={long: 8.0, short: 2.0}.__getitem__, now=lambda: clock.now)
        assert [budget.admits(trial) for trial in (long, short)] == [True, True]
        clock.now = 103.0
        assert [budget.admits(trial) for trial in (long, short)] == [False, True]
        clock.now = 109.0
        assert [budget.admits(trial) for trial in (long, short)] == [False, False]

    def test_no_trial_starts_after_the_end_whatever_it_takes(self, clock):
        budget = Budget(10.0, now=lambda: clock.now)
        clock.now = 120.0
        assert not budget.admits(*trials_of(1, 1, 1))


def test_durations_that_are_none(subtests):
    for text in ["", "10", "m", "-5m", "10 minutes", "1e3s", "nan"]:
        with (
            subtests.test(text=text),
            pytest.raises(UsageError, match="is not a duration: write a number with s, m or h"),
        ):
            parse_duration(text)


def test_durations_that_are_none_either(subtests):
    for text in ["1h30", "30m1h", "1h1h", "-1h", "h30m", "1.h."]:
        with subtests.test(text=text), pytest.raises(UsageError, match="is not a duration"):
            parse_duration(text)


def test_a_duration_of_nothing_says_so(subtests):
    for text in ["0s", "0m", "0h0m"]:
        with (
            subtests.test(text=text),
            pytest.raises(UsageError, match="leaves no time: write a longer duration"),
        ):
            parse_duration(text)


@given(st.integers(1, 10**7))
def test_a_duration_is_written_as_it_is_read(milliseconds):
    assert parse_duration(duration_text(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


def test_seconds_that_leave_no_time_are_refused(subtests):
    for budget in [0, -1.0, float("nan"), float("inf")]:
        with subtests.test(budget=budget), pytest.raises(UsageError, match="leaves no time"):
            seconds_of(budget)
