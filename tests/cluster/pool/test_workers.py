"""Workers: which are used, which are avoided and why, and when the run gives up waiting."""

import pytest

from mfbench.errors import RunError
from mfbench_cluster.pool.remote import ATTEMPTS, Workers


@pytest.fixture
def notices():
    return []


@pytest.fixture
def workers(notices):
    return Workers(notices.append, 60.0)


def test_only_workers_that_have_the_job_are_used(workers):
    assert workers.update({"p": 2, "q": 3}, 0.0) == ["p", "q"]
    assert (workers.slots, workers.barred) == (0, {"p", "q"})
    workers.accept("p", 1)
    assert (workers.slots, workers.barred) == (2, {"q"})
    assert workers.update({"p": 4, "q": 3}, 1.0) == []
    assert workers.slots == 4
    workers.accept("gone", 1)
    assert "gone" not in workers.accepted


def test_a_worker_that_comes_back_gets_the_job_again(workers):
    workers.update({"p": 1}, 0.0)
    workers.accept("p", 1)
    workers.update({}, 1.0)
    assert workers.update({"p": 1}, 2.0) == ["p"]


def test_a_worker_that_lacks_the_job_gets_it_again_once(workers):
    workers.update({"p": 1}, 0.0)
    workers.accept("p", 7)
    workers.forget("p", 6)  # asked before it had the job
    assert workers.update({"p": 1}, 1.0) == [] and workers.slots == 1
    workers.forget("p", 8)
    assert workers.slots == 0 and workers.update({"p": 1}, 2.0) == ["p"]
    workers.forget("p", 9)
    assert workers.update({"p": 1}, 3.0) == []


def test_an_avoided_worker_is_named_once(workers, notices):
    workers.update({"p": 1, "q": 1}, 0.0)
    workers.avoid("p", ("a", "b"))
    workers.avoid("p", ("a", "b"))
    assert notices == ["p is not used: a; b"]
    workers.accept("p", 1)
    assert not workers.accepted


def test_a_worker_that_never_answers_is_avoided(workers, notices):
    for now in range(ATTEMPTS):
        assert workers.update({"p": 1, "q": 1}, float(now))[:1] == ["p"]
        workers.lose("p", "no module named mfbench")
    assert notices == ["p is not used: it does not answer (no module named mfbench)"]


def test_patience_ends(workers, notices):
    for now in (0.0, 10.0, 59.0):
        workers.update({}, now)
    assert notices == ["there is no worker; waiting for 1m at most"]
    with pytest.raises(RunError, match="no worker has come within 1m"):
        workers.update({}, 60.0)


def test_workers_that_are_starting_have_more_time_before_the_user_is_notified(workers, notices):
    for now in (0.0, 10.0, 29.0):
        workers.update({"p": 1}, now)
    assert not notices
    workers.update({"p": 1}, 30.0)
    assert notices == ["no worker has answered yet; waiting for 1m at most"]


def test_patience_begins_again_when_a_worker_was_there(workers):
    workers.update({"p": 1}, 0.0)
    workers.accept("p", 1)
    workers.update({"p": 1}, 50.0)
    workers.update({}, 70.0)
    workers.update({}, 100.0)
