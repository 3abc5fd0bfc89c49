"""Bencher Metric Format, checked against the rules of its published schema."""

import json

from mfbench_gate.formats import to_bencher


def check_schema(content):
    """Names to measures to metrics; a metric has a number `value` and at most two more numbers."""
    assert isinstance(content, dict)
    for name, measures in content.items():
        assert name
        for measure, metric in measures.items():
            assert 0 < len(measure) <= 64
            assert {"value"} <= set(metric) <= {"value", "lower_value", "upper_value"}
            assert all(isinstance(number, float) for number in metric.values())


def test_head_measurements(comparison):
    content = json.loads(to_bencher(comparison))
    check_schema(content)
    assert set(content) == {"RFF/wine", "1NN/wine"}
    latency = content["RFF/wine"]["latency"]
    assert latency["value"] == 12e6
    assert latency["lower_value"] < latency["value"] < latency["upper_value"]
    assert content["RFF/wine"]["memory"] == {"value": 3e6}
    assert content["1NN/wine"]["accuracy"] == {"value": 0.94}


def test_hostile_names(hostile):
    content = json.loads(to_bencher(hostile))
    check_schema(content)
    assert len(content) == 2
