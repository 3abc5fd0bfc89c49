"""The list that github-action-benchmark reads as ``customSmallerIsBetter``."""

import json

import pytest

from mfbench_gate.formats import to_github_action_benchmark


def check_entries(entries):
    for entry in entries:
        assert {"name", "unit", "value"} <= set(entry) <= {"name", "unit", "value", "range", "extra"}
        assert isinstance(entry["value"], float)
        assert all(isinstance(entry[key], str) for key in entry if key != "value")


def test_head_measurements(comparison):
    entries = json.loads(to_github_action_benchmark(comparison))
    check_entries(entries)
    assert [(entry["name"], entry["unit"]) for entry in entries] == [
        ("RFF/wine: time", "s"),
        ("1NN/wine: time", "s"),
        ("1NN/wine: 1 - accuracy", "score"),
        ("RFF/wine: memory", "B"),
    ]
    assert entries[0]["range"] == "0.0115 … 0.0125"
    assert entries[0]["extra"].splitlines()[0] == "verdict: worse"
    assert entries[2]["value"] == pytest.approx(0.06)
    assert "range" not in entries[2]


def test_hostile_names(hostile):
    check_entries(json.loads(to_github_action_benchmark(hostile)))
