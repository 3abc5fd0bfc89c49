"""Metrics with one mistake each, a plugin. `MISTAKES` names the one check that must find each."""

import numpy as np

from mfbench import MetricSpec, hookimpl

_calls = []


def right(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def weighed(y_true, y_pred, weight):
    return weight * right(y_true, y_pred)


def array(y_true, y_pred):
    return np.array([right(y_true, y_pred)])


def typo(y_true, y_pred):
    return y_true.maen()


def two_arguments(y_true, y_pred):
    return right(y_true, y_pred)


def never(y_true, y_pred):
    raise ValueError("it is undefined")


def n_right(y_true, y_pred):
    return float(np.sum(y_true == y_pred))


def first_half(y_true, y_pred):
    return right(y_true[:50], y_pred[:50])


def counting(y_true, y_pred):
    _calls.append(None)
    return right(y_true, y_pred) / len(_calls)


def sorting(y_true, y_pred):
    value = right(y_true, y_pred)
    y_pred.sort()
    return value


def needs_writeable(y_true, y_pred):
    if not y_pred.flags.writeable:
        raise ValueError("buffer source array is read-only")
    return right(y_true, y_pred)


def indexing(predictions):
    return float(np.mean(predictions.y_score[np.arange(len(predictions.y_true)), predictions.y_true]))


def of_one_class(y_true, y_pred):
    return right(y_true, y_pred) if len(np.unique(y_true)) > 1 else 2.0


def of_two_classes(y_true, y_pred):
    if len(np.unique(y_true)) > 2:
        raise ValueError("it is a score of two classes")
    return right(y_true, y_pred)


# (name, function, check, fields of the spec)
MISTAKES = [
    ("no_summary", right, "spec", {"summary": ""}),
    ("unknown_check", right, "spec", {"expected_failures": {"metric-ordre": "a reason"}}),
    ("not_there", "unsound_metrics:nowhere", "metric-function", {}),
    ("no_default", weighed, "metric-function", {}),
    ("unknown_default", right, "metric-function", {"defaults": {"beta": 2}}),
    ("of_predictions", two_arguments, "metric-function", {"needs": "predictions"}),
    ("array", array, "metric-value", {}),
    ("typo", typo, "metric-value", {}),
    ("never", never, "metric-value", {}),
    ("no_share", n_right, "metric-range", {}),
    ("above_range", n_right, "metric-range", {"percent": False, "highest": 10.0}),
    ("wrong_way", right, "metric-direction", {"greater_is_better": False}),
    ("first_half", first_half, "metric-order", {}),
    ("counting", counting, "metric-again", {}),
    ("sorting", sorting, "metric-arguments", {}),
    ("needs_writeable", needs_writeable, "metric-arguments", {}),
    ("indexing", indexing, "metric-edges", {"needs": "probabilities"}),
    ("of_one_class", of_one_class, "metric-edges", {}),
]
SOUND = [
    ("two_classes", of_two_classes, {}),
    ("weight_in_spec", weighed, {"defaults": {"weight": 0.5}}),
    ("n_right", n_right, {"percent": False, "lowest": 0.0}),
]


@hookimpl
def mfbench_metrics():
    for name, function, _, fields in MISTAKES:
        yield MetricSpec(**{"name": name, "summary": name, "function": function, **fields})
    for name, function, fields in SOUND:
        yield MetricSpec(name=name, summary=name, function=function, **fields)
