"""An estimate on the terminal."""

import io

from mfbench.base.console import PlainConsole
from mfbench.model.trials import Unavailable
from mfbench.report.progress import METHODS, show_estimate
from mfbench.run.forecast.estimate import Estimate, Share


def estimate(**changes):
    fields = {
        "suite": "own",
        "profile": "quick",
        "folder": "reports/own/quick-0",
        "planned": 100,
        "stored": 20,
        "pending": 80,
        "seconds": 7200.0,
        "wall": 3700.0,
        "jobs": 2,
        "worker_memory": 2**30,
        "memory_limit": 2**33,
        "datasets": (Share("iris", 80, 7200.0, 100.0, 2**20),),
        "methods": tuple(Share(f"M{i}", 8, 720.0, 90.0, 2**20) for i in range(10)),
        "left_out": {},
        "unavailable": {},
    }
    return Estimate(**{**fields, **changes})


def shown(**changes):
    console = PlainConsole(file=io.StringIO(), width=160)
    show_estimate(estimate(**changes), "own.toml", console)
    return console.file.getvalue()


def test_it_states_size_time_and_memory():
    lines = shown().splitlines()
    assert lines[:3] == [
        "own, profile quick: 100 trials, 20 stored in reports/own/quick-0",
        "To run: 80 trials, 2.0 h in all, about 1 h 2 min on 2 workers",
        "Memory: up to 1.0 GiB per worker, 2.0 GiB in all",
    ]


def test_it_says_from_where_results_would_come():
    text = shown(elsewhere=(("claim.zip (sha256 0a)", 20), ("other.zip (sha256 1b)", 0)))
    assert "100 trials, 0 stored in reports/own/quick-0, 20 from claim.zip (sha256 0a), none from other.zip" in text


def test_a_budget_says_what_it_reaches():
    text = shown(budget=5400.0, reached=31)
    assert "\nWithin the budget of 1h30m: about 31 of them, fold by fold, the cheapest first\n" in text
    text = shown(budget=5400.0, reached=31, unreached=("M8", "M9"))
    assert "about 31 of them, fold by fold, the cheapest first; no result of M8 and M9\n" in text
    assert "budget" not in shown()


def test_tables_list_datasets_and_the_most_expensive_methods():
    text = shown()
    assert "iris" in text
    assert f"M{METHODS - 1}" in text
    assert f"M{METHODS} " not in text
    assert "and 2 methods that cost less" in text


def test_too_little_memory_is_pointed_out():
    assert "a worker is stopped at 0.5 GiB, so run it with fewer --jobs" in shown(memory_limit=2**29)


def test_trials_that_would_be_stopped_are_named():
    cells = [("iris", f"M{i}", 5) for i in range(8)] + [("wine", "M0", 5)]
    named = "45 trials (M0, M1, M2, M3, M4, M5 and 2 more on iris and M0 on wine)"
    line = shown(too_long=tuple(cells), time_limit=120.0).splitlines()[3]
    assert line.startswith(f"Expected to exceed the time limit of 120 s: {named}. ")
    assert "Expected to exceed" not in shown()


def test_what_is_left_out_comes_with_the_command_that_downloads_it():
    text = shown(left_out={"a": "damaged", "b": "is unavailable"}, unavailable={"b": Unavailable(can_pull=True)})
    assert "Left out: a: damaged" in text
    assert "Left out as unavailable: b; to download, run: mfbench datasets pull own.toml" in text


def test_a_complete_run_and_an_empty_plan_are_one_sentence():
    assert shown(pending=0, stored=100).splitlines()[1:] == ["Nothing is left to run."]
    assert shown(planned=0, pending=0) == "own, profile quick: nothing is planned\n"
