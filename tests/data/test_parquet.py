"""A dataset as a Parquet file and plain values; tests/data/test_cache.py sends arbitrary bits through both."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mfbench.data.files import from_parquet, to_parquet

COUNTS = """
import json
import os
from pathlib import Path

import pandas
import pyarrow.parquet
from mfbench.data.files import read_file
from mfbench.data.files import from_parquet

before = len(os.listdir("/proc/self/task"))
from_parquet(Path("table.parquet").read_bytes(), json.loads(Path("card.json").read_text()))
read_file("table.parquet")
print(before, len(os.listdir("/proc/self/task")))
"""


def test_values_come_back_to_the_bit(dataset):
    back = from_parquet(*to_parquet(dataset))
    assert back.X.tobytes() == np.ascontiguousarray(dataset.X).tobytes()
    assert back.y.tolist() == dataset.y.tolist()
    for name in ("feature_names", "class_names", "categories", "encoding", "license"):
        assert getattr(back, name) == getattr(dataset, name)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_reading_leaves_no_thread(dataset, tmp_path):
    # Threads that still run when the interpreter ends can abort the process (SIGABRT of a command that had succeeded).
    data, card = to_parquet(dataset)
    (tmp_path / "table.parquet").write_bytes(data)
    (tmp_path / "card.json").write_text(json.dumps(card))
    run = subprocess.run([sys.executable, "-c", COUNTS], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    before, after = run.stdout.split()
    assert after == before
