"""Costs learned from earlier trials: which evidence counts for how much."""

import math
from types import SimpleNamespace

import pytest

from mfbench.model.trials import Trial
from mfbench.run.forecast import costs as module
from mfbench.run.forecast.costs import LearnedCosts, Measured, forecast
from mfbench.suite.plan import Cost


def declared(seconds=1.0, memory=1000, limit=600.0):
    """Return declared costs that are the same for all."""
    return SimpleNamespace(of=lambda trial: Cost(seconds, memory), limit=limit)


def measured(dataset, method, ratio, memory=0):
    return Measured(dataset, method, None if ratio is None else math.log(ratio), memory, memory / 1000)


def seconds(learned, dataset, method, fold=0):
    return learned.of(Trial("", dataset, method, 0, fold, 0)).seconds


def test_without_earlier_trials_it_is_what_plugins_declare():
    assert seconds(LearnedCosts(declared(2.5), []), "d100", "A") == 2.5


def test_trials_of_the_same_method_and_dataset_decide():
    learned = LearnedCosts(declared(), [measured("d100", "A", 3.0), measured("d200", "A", 0.1)])
    assert seconds(learned, "d100", "A") == pytest.approx(3.0)
    assert seconds(learned, "d200", "A") == pytest.approx(0.1)


def test_the_median_of_other_datasets_gives_the_scale_of_a_method():
    cells = [measured("d1", "A", 4.0), measured("d2", "A", 5.0), measured("d3", "A", 100.0), measured("d1", "B", 0.1)]
    assert seconds(LearnedCosts(declared(), cells), "d180", "A") == pytest.approx(5.0)


def test_methods_that_were_not_measured_get_the_factor_of_the_machine():
    cells = [measured("d100", method, 3.0) for method in "ABC"]
    assert seconds(LearnedCosts(declared(2.0), cells), "d100", "Z") == pytest.approx(6.0)


def test_one_odd_method_is_not_the_machine():
    cells = [measured("d100", method, 1.0) for method in "ABCDE"] + [measured("d100", "F", 500.0)]
    assert seconds(LearnedCosts(declared(), cells), "d100", "Z") == 1.0


def test_no_trial_is_expected_to_take_longer_than_its_limit():
    learned = LearnedCosts(declared(limit=60.0), [measured("d100", "A", 1000.0)])
    assert seconds(learned, "d100", "A") == 60.0


def test_what_is_declared_beyond_the_limit_is_expected_to_be_stopped_though_the_machine_is_fast():
    def is_too_long(seconds, ratio):
        slow = SimpleNamespace(**{**vars(declared()), "of": lambda trial: Cost(seconds, 1000, 600.0)})
        cells = [measured("d100", method, ratio) for method in "BCDEF"]
        return LearnedCosts(slow, cells).of(Trial("", "d100", "A", 0, 0, 0)).is_too_long

    assert is_too_long(10_000.0, 0.5)
    assert not is_too_long(650.0, 0.5)
    assert is_too_long(400.0, 2.0)


def test_a_cell_without_a_time_counts_for_its_memory_alone():
    learned = LearnedCosts(declared(), [measured("d100", "A", None, memory=5000)])
    assert seconds(learned, "d100", "A") == 1.0
    assert learned.of(Trial("", "d100", "A", 0, 0, 0)).memory == 5000


def test_memory_comes_from_the_same_cell_or_from_the_ratio_of_the_method():
    learned = LearnedCosts(declared(), [measured("d100", "A", 1.0, memory=3000), measured("d200", "B", 1.0)])
    peaks = [learned.of(Trial("", *cell, 0, 0, 0)).memory for cell in [("d100", "A"), ("d200", "A"), ("d200", "B")]]
    assert peaks == [3000, 3000, 1000]


def test_a_cost_is_computed_once(monkeypatch):
    learned = LearnedCosts(declared(), [])
    first = learned.of(Trial("", "d100", "A", 0, 0, 0))
    monkeypatch.setattr(learned, "_cost", None)
    assert learned.of(Trial("other", "d100", "A", 7, 0, 1)) is first


class TestForecast:
    def test_it_knows_workers_and_the_estimators_that_compile(self, prepared):
        plan, folder, registry = prepared
        made = forecast(plan, registry, folder, 3)
        assert made.jobs == 3
        assert made.startup == module.STARTUP, "none of these methods compiles anything"
        assert not folder.exists()
        assert made.wall(plan.trials) >= module.STARTUP

    def test_a_run_leaves_what_the_next_one_is_predicted_from(self, prepared):
        from mfbench.report.progress import Silent
        from mfbench.run.runner import RunOptions, execute

        plan, folder, registry = prepared
        before = forecast(plan, registry, folder, 1).costs
        execute(plan, folder, registry, RunOptions(jobs=1), Silent())
        after = forecast(plan, registry, folder, 1).costs
        assert plan.forecast.jobs == 1
        assert [before.of(t) for t in plan.trials] != [after.of(t) for t in plan.trials]
