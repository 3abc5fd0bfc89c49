"""A stored run gives seconds and bytes of every trial that succeeded."""

import pytest
from stored_runs import FOLDS, right

from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.readers import read_run


def test_times_and_memory_of_trials_that_succeeded(make_run):
    result = read_run(make_run("a", {"A": {0: "timeout"}, "B": "error"}, seconds=2.0), "a")
    assert result.kind == "run"
    assert list(result.times) == [MeasuredCase("A", "d")]
    assert result.times["A", "d", ""] == {(0, fold): 2.0 for fold in range(1, FOLDS)}
    assert set(result.memory["A", "d", ""].values()) == {1000.0}


def test_memory_that_was_not_measured_is_absent(make_run):
    assert not read_run(make_run("a", {"A": right}, memory=0), "a").memory


def test_a_timing_run_has_a_place_for_each_size(make_run):
    result = read_run(make_run("a", {"A": right}, kind="timing"), "a")
    assert result.kind == "timing run"
    assert list(result.times) == [MeasuredCase("A", "d", "n=36, p=3")]


@pytest.mark.parametrize(
    ("environment", "version", "machine"),
    [
        ({}, "mfbench 0.1.0", "a processor"),
        (
            {"git_commit": "0123456789abcdef", "cpus": 4, "system": "Linux"},
            "mfbench 0.1.0 at 0123456789ab",
            "a processor, 4 processors, Linux",
        ),
    ],
)
def test_the_side_names_version_and_machine(make_run, environment, version, machine):
    side = read_run(make_run("a", {"A": right}, environment=environment), "mine").side
    assert (side.name, side.version, side.machine) == ("mine", version, machine)


def test_versions_of_plugins_are_part_of_the_libraries(make_run):
    run = make_run("a", {"A": right}, environment={"plugins": ["my-plugin 1.2 (my_plugin)", "loose_module"]})
    assert read_run(run, "a").libraries == {"Python": "3.11.2", "scikit-learn": "1.7", "my-plugin": "1.2"}
