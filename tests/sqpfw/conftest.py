import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def oracles():
    spec = importlib.util.spec_from_file_location("sqpfw_oracles", Path(__file__).with_name("oracles.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
