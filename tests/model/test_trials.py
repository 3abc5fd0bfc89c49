"""The nouns of a run."""

import pytest

from mfbench.model.trials import Status, Trial, TrialResult


def test_statuses_are_texts():
    assert [str(status) for status in Status] == ["ok", "error", "timeout", "memory", "crash"]


def test_a_result_starts_empty_and_well():
    first, second = TrialResult(key="a"), TrialResult(key="b")
    assert first.status is Status.OK
    first.scores["accuracy"] = 1.0
    assert second.scores == {}


def test_a_trial_has_no_room_for_other_attributes():
    trial = Trial("k", "d", "m", 0, 0, 1)
    with pytest.raises((AttributeError, TypeError)):
        trial.extra = 1
