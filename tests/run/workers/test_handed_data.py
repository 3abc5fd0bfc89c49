"""Data for workers: nobody can write to sealed memory, and a file that was written to is noticed."""

import mmap
import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from small_runs import job_of

from mfbench.errors import RunError
from mfbench.run.workers.handed_data import HandedData, handed_over
from mfbench.run.workers.job import read_arrays

linux = pytest.mark.skipif(sys.platform != "linux", reason="no sealed memory")


@linux
def test_sealed_memory_is_read_like_files(prepared, tmp_path):
    plan, _, _ = prepared
    (tmp_path / "empty").mkdir()
    with handed_over(plan.datasets, tmp_path / "empty", is_local=True) as (folder, files):
        job = replace(job_of(plan, tmp_path / "files"), data_folder=folder, files=files)
        X, y = read_arrays(job, "iris")
        np.testing.assert_array_equal(X, plan.datasets["iris"].data.X)
        np.testing.assert_array_equal(y, plan.datasets["iris"].data.y)
        assert HandedData(job).damage("iris") == ""
        paths = [folder / name for name in files["iris"]]
    assert [*(tmp_path / "empty").iterdir()] == []
    assert not any(path.exists() for path in paths)


@linux
def test_nobody_can_write_to_sealed_memory(prepared, tmp_path, subtests):
    plan, _, _ = prepared
    with handed_over(plan.datasets, tmp_path, is_local=True) as (folder, files):
        for name in files["iris"]:
            descriptor = os.open(folder / name, os.O_RDWR)  # as another process of the same user would
            for act in (
                lambda file: os.pwrite(file, b"x", 0),
                lambda file: os.truncate(file, 0),
                lambda file: mmap.mmap(file, 0, mmap.MAP_SHARED, mmap.PROT_WRITE),
            ):
                with subtests.test(name=name), pytest.raises(PermissionError):
                    act(descriptor)
            os.close(descriptor)


def test_without_sealed_memory_there_are_files(prepared, tmp_path, monkeypatch, subtests):
    plan, _, _ = prepared
    empty = tmp_path / "empty"
    empty.mkdir()
    for is_local in (True, False):
        with subtests.test(is_local=is_local), monkeypatch.context() as patch:
            if is_local:
                patch.delattr(os, "memfd_create", raising=False)
            with handed_over(plan.datasets, empty, is_local=is_local) as (folder, files):
                assert folder == empty and {*files["iris"]} == {path.name for path in empty.iterdir()}


class TestFiles:
    @pytest.fixture
    def job(self, prepared, tmp_path):
        return job_of(prepared[0], tmp_path / "files")

    @pytest.mark.parametrize("place", [0, 1])
    def test_a_file_that_was_written_to_is_noticed(self, job, place):
        data, path = HandedData(job), job.data_folder / job.files["iris"][place]
        assert data.damage("iris") == ""
        times = path.stat()
        with path.open("r+b") as file:
            file.seek(-8, os.SEEK_END)
            file.write(b"12345678")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # the method hides that it has written
        assert data.damage("iris").startswith("the data of 'iris' that all workers read were changed while trials ran")
        with pytest.raises(RunError, match="the data of 'iris' that all workers read were changed"):
            read_arrays(job, "iris")

    def test_a_file_that_is_gone_is_noticed(self, job):
        data = HandedData(job)
        (job.data_folder / job.files["iris"][1]).unlink()
        assert data.damage("iris")

    def test_a_file_that_was_only_touched_is_intact(self, job):
        data = HandedData(job)
        assert data.damage("iris") == ""
        for name in job.files["iris"]:
            os.utime(job.data_folder / name)
        assert data.damage("iris") == ""
