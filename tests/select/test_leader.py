"""The line on which pipeline leads while a run goes on."""

from types import SimpleNamespace

import pytest

from mfbench.model.trials import Status, Trial, TrialResult
from mfbench_select import leader as module
from mfbench_select.leader import Leader


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(time=0.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: now.time)
    return now


def run(leader, label, fold, score=None):
    result = TrialResult(key="", status=Status.OK if score is not None else Status.ERROR)
    if score is not None:
        result.scores["accuracy"] = score
    leader.finished(Trial(f"{label}{fold}", "d", label, 0, fold, 1), result)


def test_the_leader_is_the_best_of_the_pipelines_with_the_most_folds(clock):
    events, lines = [], []
    display = SimpleNamespace(finished=lambda trial, result: events.append(trial.key))
    leader = Leader(display, "accuracy", lines.append)
    for fold in range(3):
        run(leader, "F 3 > SVM", fold, 0.8)
        run(leader, "RF 2 > LOG", fold, 0.9)
        run(leader, "random 3 > SVM", fold, 0.99)
    run(leader, "RF 2 > LOG", 3)
    run(leader, "all > RF", 0, 1.0)
    assert len(events) == 11 and lines == []
    clock.time = 10.0
    run(leader, "all > RF", 1, 1.0)
    assert lines == ["So far forest 2 + logistic regression leads, with 90.0 % on 3 folds."]
    run(leader, "F 3 > SVM", 3, 0.8)
    assert len(lines) == 1
    clock.time = 20.0
    run(leader, "all > RF", 2, 1.0)
    assert lines[1] == "So far F-test 3 + SVM leads, with 80.0 % on 4 folds."


def test_few_folds_say_nothing(clock):
    leader = Leader(SimpleNamespace(finished=lambda trial, result: None), "r2", print)
    assert leader.line() == ""
    run(leader, "F 3 > SVM", 0, 0.8)
    assert leader.line() == ""
