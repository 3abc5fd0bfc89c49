"""Series: one for each cell, measure and kind of machine."""

import pytest

from mfbench.errors import UnknownNameError, UsageError
from mfbench_gate.history.storage import Machine
from mfbench_gate.history.trends import select_series


def values(series):
    return [point.value for point in series.points]


def test_kinds_of_machine_suites_and_sizes_are_never_mixed(make_entry):
    entries = [
        make_entry(0),
        make_entry(1, 2.0, machine=Machine("another", 2, "Linux")),
        make_entry(2, 3.0, profile="full"),
        make_entry(3, 4.0, suite="other"),
        make_entry(4, 5.0, measured={"size": "n=10, p=2"}),
        make_entry(5, 6.0),
    ]
    assert [values(one) for one in select_series(entries)] == [[1.0, 6.0], [2.0], [3.0], [4.0], [5.0]]


def test_measures(make_entry):
    for measure, value in [
        ("time", 1.25),
        ("fit", 1.0),
        ("predict", 0.25),
        ("wall", 1.75),
        ("memory", 2e6),
        ("accuracy", 0.9),
    ]:
        entry = make_entry(0, measured={"predict_cpu": 0.25, "predict_wall": 0.75})
        (series,) = select_series([entry], measure)
        assert values(series) == [value]
        assert series.is_score == (measure == "accuracy")
        assert series.is_time == (measure not in ("accuracy", "memory"))


def test_patterns(make_entry):
    entries = [make_entry(0, {("RFF", "iris"): 1.0, ("RF", "wine"): 2.0, ("KNN", "wine"): 3.0})]
    assert {one.name for one in select_series(entries, method="RF*")} == {"RFF/iris", "RF/wine"}
    assert {one.name for one in select_series(entries, method="R*", dataset="wine")} == {"RF/wine"}
    with pytest.raises(UsageError, match=r"no measurement matches --method 'X\*' and .* KNN, RF, RFF and the datasets"):
        select_series(entries, method="X*")


def test_an_unknown_measure(make_entry):
    with pytest.raises(UnknownNameError, match="unknown measure 'acuracy' of this history: did you mean 'accuracy'"):
        select_series([make_entry(0)], "acuracy")


def test_zero_seconds_are_counted_and_left_out(make_entry):
    (series,) = select_series([make_entry(0, 0.0), make_entry(1, 1.0)])
    assert (values(series), series.n_zero) == ([1.0], 1)
    (scores,) = select_series([make_entry(0, measured={"scores": {"mcc": 0.0}})], "mcc")
    assert (values(scores), scores.n_zero) == ([0.0], 0)


def test_memory_that_was_not_reported_is_no_point(make_entry):
    entries = [make_entry(0, measured={"memory": None}), make_entry(1)]
    assert [point.commit for point in select_series(entries, "memory")[0].points] == [entries[1].commit]


def test_the_direction_of_a_measure(make_entry):
    entry = make_entry(0, measured={"scores": {"accuracy": 0.5, "log_loss": 1.0}})
    directions = {name: select_series([entry], name)[0].greater_is_better for name in ("time", "accuracy", "log_loss")}
    assert directions == {"time": False, "accuracy": True, "log_loss": False}
