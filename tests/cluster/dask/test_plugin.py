"""The plugin is light, and says what is missing."""

import subprocess
import sys

from mfbench.host.registry import load_registry, make_engine


def test_listing_it_imports_no_dask():
    code = "import sys; from mfbench.host.registry import load_registry; "
    code += "assert 'dask' in load_registry().listed('executor'); "
    code += "print(*{'dask', 'distributed', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_without_dask_the_error_names_the_package_to_install():
    code = (
        "import sys; sys.modules['distributed'] = None\n"
        "from mfbench.errors import MfbenchError\n"
        "from mfbench.host.registry import make_engine\n"
        "from mfbench.host.registry import load_registry\n"
        "try: make_engine(load_registry(), 'dask', '', 1)\n"
        "except MfbenchError as error: print(error)\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "executor 'dask' needs the package 'distributed': pip install 'mfbench[dask]'\n"


def test_the_factory_builds_the_engine():
    import pytest

    engine_module = pytest.importorskip("mfbench_cluster.dask.engine", reason="Dask is not installed")
    assert isinstance(make_engine(load_registry(), "dask", "local", 2), engine_module.DaskEngine)
