"""Deliveries: once per machine, a few at a time, and given up when a machine does not keep what it is sent."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fake import job_of

from mfbench_cluster.pool.batches import Call
from mfbench_cluster.pool.deliveries import AT_ONCE, MOST_TIMES, Deliveries
from mfbench_cluster.pool.messages import Delivered


@pytest.fixture
def deliveries(tmp_path):
    return Deliveries(job_of(tmp_path), b"a job")


def test_a_file_is_sent_once_to_a_machine_and_all_calls_wait_for_it(deliveries):
    calls = [Call([]), Call([])]
    for place, call in zip("pq", calls, strict=True):
        assert deliveries.request("machine", place, "name", call)
    (delivery,) = deliveries.start()
    assert delivery.place == "p"
    deliveries.arrive(delivery, 7)
    assert deliveries.end(delivery) == calls
    assert deliveries.end(delivery) == []
    assert deliveries.has_arrived_since("machine", "name", 7)
    assert not deliveries.has_arrived_since("machine", "name", 8)


def test_only_a_few_are_under_way(deliveries):
    for number in range(AT_ONCE + 2):
        deliveries.request(f"machine {number}", "p", "name", None)
    under_way = list(deliveries.start())
    assert len(under_way) == AT_ONCE
    deliveries.end(under_way[0])
    assert len(list(deliveries.start())) == 1
    assert deliveries.forget("p") == []
    assert not list(deliveries.start())


def test_pieces_cover_the_file(deliveries, tmp_path, monkeypatch):
    monkeypatch.setattr("mfbench_cluster.pool.deliveries.PIECE", 100)
    name = deliveries_name = next(path.name for path in tmp_path.iterdir())
    deliveries.request("machine", "p", name, None)
    (delivery,) = deliveries.start()
    data = b""
    while (piece := deliveries.piece(delivery)).data:
        assert (piece.name, piece.offset, len(piece.data) <= 100) == (deliveries_name, len(data), True)
        data += piece.data
        assert deliveries.advance(delivery, Delivered(len(data), False))
    assert data == (tmp_path / name).read_bytes()
    assert piece.total == len(data)


def test_the_job_is_sent_from_memory(deliveries):
    deliveries.request("p", "p", "name", None, is_job=True)
    (delivery,) = deliveries.start()
    assert (deliveries.piece(delivery).data, deliveries.piece(delivery).is_job) == (b"a job", True)


def test_a_machine_that_loses_what_it_gets_is_given_up(deliveries):
    for _ in range(MOST_TIMES):
        assert deliveries.request("machine", "p", "name", None)
        (delivery,) = deliveries.start()
        deliveries.end(delivery)
    assert not deliveries.request("machine", "p", "name", None)
