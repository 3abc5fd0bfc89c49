"""Benchmarks measure; they run on request only, with ``--benchmark-only``."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(config, items):
    if config.getoption("benchmark_only"):
        return
    for item in items:
        if HERE in Path(item.path).parents:
            item.add_marker(pytest.mark.skip(reason="a benchmark: runs with --benchmark-only"))
