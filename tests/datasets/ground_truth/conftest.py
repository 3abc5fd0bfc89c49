import os
import tomllib
from pathlib import Path

import pytest

from mfbench.data.files import read_file


@pytest.fixture
def mirror():
    """Read a prepared copy of a published file from the folder in MFBENCH_DATA_DIR."""
    folder = os.environ.get("MFBENCH_DATA_DIR", "")

    def read(name):
        path = Path(folder) / f"{name}.csv.gz"
        if not path.is_file():
            pytest.skip(f"the folder has no {name}")
        table = tomllib.loads((Path(folder) / "index.toml").read_text(encoding="utf-8"))[name]
        return read_file(path, target="class", categorical=table["categorical"])

    if not folder:
        pytest.skip("MFBENCH_DATA_DIR is not set")
    return read


@pytest.fixture
def columns():
    """Return the named columns of a dataset, one row for each name."""
    return lambda dataset, *names: dataset.X[:, [dataset.feature_names.index(name) for name in names]].T
