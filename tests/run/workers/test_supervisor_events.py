"""The order in which the events of a worker reach its supervisor, without processes."""

import pickle
from types import SimpleNamespace

import pytest

from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.processes.monitor import Ended, Prepared
from mfbench.run.workers import supervisor
from mfbench.run.workers.job import BUILT_IN
from mfbench.run.workers.supervisor import Supervisor
from mfbench.run.workers.trial_queue import QueuedTrial


class Channel:
    """The connection to one worker: what arrives at each look at it."""

    is_closed = False

    def __init__(self, *arrivals):
        self.arrivals, self.sent = list(arrivals), []

    def messages(self):
        return self.arrivals.pop(0) if self.arrivals else []

    def send(self, message):
        self.sent.append(pickle.loads(message)[0].key)

    def flush(self):
        pass

    def close(self):
        self.is_closed = True


class Child:
    """A monitor whose workers are given channels."""

    is_ended = False

    def __init__(self, *channels):
        self.channels, self.control, self.queue = list(channels), SimpleNamespace(is_closed=False), [Prepared()]

    def prepare(self, *arguments):
        pass

    def start(self, *arguments, **options):
        return self.channels.pop(0)

    def events(self):
        events, self.queue = self.queue, []
        return events

    def end(self):
        pass

    def close(self):
        self.is_ended, self.control.is_closed = True, False


def answer(key, status=Status.OK, *, is_spent=False):
    return bytearray(pickle.dumps((TrialResult(key=key, status=status), {}, is_spent)))


def task(key):
    return QueuedTrial(0, Trial(key, "iris", "A", 0, 0, 0), BUILT_IN)


def outcomes(place):
    return [(task.trial.key, result.status) for task, result, _ in place.outcomes()]


@pytest.fixture
def supervised(monkeypatch):
    """Return a supervisor with two trials, whose two workers have given channels; the first worker is ready."""

    def make(*channels):
        child = Child(*channels)
        monkeypatch.setattr(supervisor, "open_child", lambda preload: child)
        place = Supervisor(
            SimpleNamespace(memory_limit=2**30, log=None, path=[], settings=SimpleNamespace(timeout=60.0))
        )
        place.submit(task("one"))
        place.submit(task("two"))
        assert outcomes(place) == []
        return place, child

    return make


def test_the_trial_that_runs_is_told_once_its_worker_is_ready(supervised, monkeypatch):
    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: clock.now))
    clock = SimpleNamespace(now=100.0)
    place, _ = supervised(Channel([], [b"ready"], [answer("one")], [answer("two")]))
    assert place.running is None
    outcomes(place)
    clock.now = 107.0
    assert (place.running[0].key, place.running[1]) == ("one", 7.0)
    outcomes(place)
    assert (place.running[0].key, place.running[1]) == ("two", 0.0)
    outcomes(place)
    assert place.running is None


def test_an_answer_that_arrives_with_the_end_of_its_worker_costs_the_next_trial_nothing(supervised):
    """The worker answers, says that it is spent and ends after the supervisor has looked at its connection."""
    failed = answer("one", Status.ERROR, is_spent=True)
    first, second = Channel([b"ready"], [], [failed]), Channel([b"ready"], [answer("two")])
    place, child = supervised(first, second)
    child.queue = [Ended(0)]
    assert outcomes(place) == [("one", Status.ERROR)]
    assert second.sent == ["two"] and not place.is_idle
    assert outcomes(place) == []  # the second worker is ready
    assert outcomes(place) == [("two", Status.OK)] and place.is_idle


def test_a_worker_that_ends_without_an_answer_fails_its_trial_alone(supervised):
    first, second = Channel([b"ready"]), Channel([b"ready"], [answer("two")])
    place, child = supervised(first, second)
    child.queue = [Ended(7)]
    assert outcomes(place) == [("one", Status.CRASH)]
    assert outcomes(place) == [] and outcomes(place) == [("two", Status.OK)]


def test_the_end_of_a_replaced_worker_is_no_loss(supervised):
    """The answer is read first, and the end of the spent worker is reported later."""
    first, second = Channel([b"ready"], [answer("one", is_spent=True)]), Channel([b"ready"], [answer("two")])
    place, child = supervised(first, second)
    assert outcomes(place) == [("one", Status.OK)]
    child.queue = [Ended(0)]
    assert outcomes(place) == []  # the second worker is ready
    assert outcomes(place) == [("two", Status.OK)]


def test_an_answer_that_arrives_with_the_end_of_the_monitor_is_read(supervised):
    first, second = Channel([b"ready"], [], [answer("one")]), Channel([b"ready"], [answer("two")])
    place, child = supervised(first, second)
    child.control.is_closed = True
    child.queue = [Prepared()]
    assert outcomes(place) == [("one", Status.OK), ("two", Status.CRASH)]
    assert child.is_ended and place.is_idle


def test_a_result_that_cannot_be_read_fails_its_trial_and_replaces_the_worker(supervised):
    first, second = Channel([b"ready"], [b"nonsense"]), Channel([b"ready"], [answer("two")])
    place, child = supervised(first, second)
    ((_, result, fits),) = place.outcomes()
    assert (result.status, result.error_type, fits) == ("error", "UnpicklingError", {})
    assert result.error_message.startswith("the result cannot be read")
    child.queue = [Ended(0)]
    assert outcomes(place) == [] and outcomes(place) == [("two", Status.OK)]
