"""A job: what workers read is what was written, and it can be sent to another process."""

import hashlib
import pickle

import numpy as np
from small_runs import job_of

from mfbench.run.workers.job import hash_of, read_arrays, write_arrays


def test_arrays_come_back_as_they_were(prepared, tmp_path):
    plan, _, _ = prepared
    X, y, _ = read_arrays(job_of(plan, tmp_path), "iris")
    assert type(X) is np.ndarray
    np.testing.assert_array_equal(X, plan.datasets["iris"].data.X)
    np.testing.assert_array_equal(y, plan.datasets["iris"].data.y)


def test_a_job_is_picklable_and_has_no_data(prepared, tmp_path):
    plan, _, _ = prepared
    text = pickle.dumps(job_of(plan, tmp_path))
    assert pickle.loads(text).settings == plan.loaded.protocol
    assert len(text) < plan.datasets["iris"].data.X.nbytes


def test_a_file_is_named_by_its_content(prepared, tmp_path):
    plan, _, _ = prepared
    job = job_of(plan, tmp_path / "data")
    assert sorted(path.name for path in job.data_folder.iterdir()) == sorted(job.files["iris"])
    for name in job.files["iris"]:
        assert hashlib.sha256((job.data_folder / name).read_bytes()).hexdigest() == hash_of(job.data_folder / name)
        assert hash_of(job.data_folder / name) == name
    assert write_arrays(plan.datasets["iris"], job.data_folder) == job.files["iris"]
