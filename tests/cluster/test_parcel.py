"""A job on its way: without what holds on one machine, and whole or not at all."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from small_runs import job_of

from mfbench.run.fingerprint import fingerprint_of
from mfbench_cluster.parcel import JobAssembly, unwrapped, wrapped
from mfbench_cluster.pool.messages import Deliver, MessageError, packed


def test_a_job_comes_back_without_folders_and_paths(prepared, tmp_path):
    plan, _, _ = prepared
    job = job_of(plan, tmp_path / "data", path=("x",), log=tmp_path / "log", memory_limit=5)
    name, blob = wrapped(job, fingerprint_of(()))
    assert name == hashlib.sha256(blob).hexdigest()
    assert str(tmp_path).encode() not in blob
    parcel = unwrapped(blob)
    assert parcel.fingerprint == fingerprint_of(())
    placed = parcel.placed(data_folder=Path("there"), log=None, memory_limit=7)
    expected = replace(job, data_folder=Path("there"), path=(), log=None, memory_limit=7)
    assert (placed.methods, placed.files, placed.settings, placed.path) == (
        expected.methods,
        expected.files,
        expected.settings,
        (),
    )
    assert (placed.data_folder, placed.memory_limit, parcel.job.memory_limit) == (Path("there"), 7, 5)


def test_another_message_is_not_a_job():
    with pytest.raises(MessageError, match="not a job"):
        unwrapped(packed(3))


def test_a_job_arrives_in_pieces():
    data = bytes(range(100))
    name = hashlib.sha256(data).hexdigest()
    assembly = JobAssembly()
    assert assembly.add(Deliver(name, 0, 100, data[:60], True)) == (60, None)
    assert assembly.add(Deliver(name, 0, 100, data[:60], True)) == (60, None)
    assert assembly.add(Deliver(name, 60, 100, data[60:], True)) == (100, data)
    assert assembly.add(Deliver(name, 0, 100, b"x" * 100, True)) == (0, None)
    with pytest.raises(MessageError, match="a job of"):
        assembly.add(Deliver(name, 0, 2**40, b"", True))
