"""Places: who is used, who is avoided and why, and when the run gives up waiting."""

import pytest

from mfbench.errors import RunError
from mfbench_cluster.pool.messages import Machine
from mfbench_cluster.pool.places import ATTEMPTS, Places

MACHINE = Machine("cache", "host", "kind")


@pytest.fixture
def notices():
    return []


@pytest.fixture
def places(notices):
    return Places(notices.append, 60.0)


def test_only_places_that_have_introduced_themselves_are_used(places):
    assert places.look({"p": 2, "q": 3}, 0.0) == ["p", "q"]
    assert (places.slots, places.barred) == (0, {"p", "q"})
    assert places.accept("p", MACHINE)
    assert (places.slots, places.barred) == (2, {"q"})
    assert places.look({"p": 4, "q": 3}, 1.0) == []
    assert places.slots == 4
    assert not places.accept("gone", MACHINE)


def test_a_place_that_comes_back_introduces_itself_again(places):
    places.look({"p": 1}, 0.0)
    places.accept("p", MACHINE)
    places.look({}, 1.0)
    assert places.look({"p": 1}, 2.0) == ["p"]


def test_an_avoided_place_is_named_once(places, notices):
    places.look({"p": 1, "q": 1}, 0.0)
    places.avoid("p", ("a", "b"))
    places.avoid("p", ("a", "b"))
    assert notices == ["p is not used: a; b"]
    assert not places.accept("p", MACHINE)


def test_a_place_that_never_answers_is_avoided(places, notices):
    for now in range(ATTEMPTS):
        assert places.look({"p": 1, "q": 1}, float(now))[:1] == ["p"]
        places.lose("p", "no module named mfbench")
    assert notices == ["p is not used: it does not answer (no module named mfbench)"]


def test_patience_ends(places, notices):
    for now in (0.0, 10.0, 59.0):
        places.look({}, now)
    assert notices == ["there is no worker; waiting for 1m at most"]
    with pytest.raises(RunError, match="no worker has come within 1m"):
        places.look({}, 60.0)


def test_workers_that_are_starting_have_more_time_before_the_user_is_notified(places, notices):
    for now in (0.0, 10.0, 29.0):
        places.look({"p": 1}, now)
    assert not notices
    places.look({"p": 1}, 30.0)
    assert notices == ["no worker has answered yet; waiting for 1m at most"]


def test_patience_begins_again_when_a_place_was_there(places):
    places.look({"p": 1}, 0.0)
    places.accept("p", MACHINE)
    places.look({"p": 1}, 50.0)
    places.look({}, 70.0)
    places.look({}, 100.0)
