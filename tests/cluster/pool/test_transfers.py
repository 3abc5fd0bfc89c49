"""Transfers: once per machine, a few at a time, and given up when a machine does not keep what it is sent."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from fake import job_of

from mfbench_cluster.pool.batches import AT_ONCE, MOST_TIMES, Batch, Transfers
from mfbench_cluster.pool.messages import PieceReceived


@pytest.fixture
def transfers(tmp_path):
    return Transfers(job_of(tmp_path).data_folder)


def test_a_file_is_sent_once_to_a_machine_and_all_calls_wait_for_it(transfers):
    batches = [Batch([]), Batch([])]
    for worker, batch in zip("pq", batches, strict=True):
        assert transfers.request("machine", worker, "name", batch)
    (transfer,) = transfers.start()
    assert transfer.worker == "p"
    transfers.arrive(transfer, 7)
    assert transfers.end(transfer) == batches
    assert transfers.end(transfer) == []
    assert transfers.has_arrived_since("machine", "name", 7)
    assert not transfers.has_arrived_since("machine", "name", 8)


def test_only_a_few_are_under_way(transfers):
    for number in range(AT_ONCE + 2):
        transfers.request(f"machine {number}", "p", "name", None)
    under_way = list(transfers.start())
    assert len(under_way) == AT_ONCE
    transfers.end(under_way[0])
    assert len(list(transfers.start())) == 1
    assert transfers.forget("p") == []
    assert not list(transfers.start())


def test_pieces_cover_the_file(transfers, tmp_path, monkeypatch):
    monkeypatch.setattr("mfbench_cluster.pool.batches.PIECE", 100)
    name = next(path.name for path in tmp_path.iterdir())
    transfers.request("machine", "p", name, None)
    (transfer,) = transfers.start()
    data = b""
    while (piece := transfers.piece(transfer)).data:
        assert (piece.name, piece.offset, len(piece.data) <= 100) == (name, len(data), True)
        data += piece.data
        assert transfers.advance(transfer, PieceReceived(len(data), False))
    assert data == (tmp_path / name).read_bytes()
    assert piece.total == len(data)


def test_a_machine_that_loses_what_it_gets_is_given_up(transfers):
    for _ in range(MOST_TIMES):
        assert transfers.request("machine", "p", "name", None)
        (transfer,) = transfers.start()
        transfers.end(transfer)
    assert not transfers.request("machine", "p", "name", None)
