"""A suite in a few lines of text."""

import pytest

from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

HEAD = """
[suite]
name = "own"
seed = 7

[protocol]
folds = 3
repeats = 2
inner_folds = 2

[profiles.quick]
folds = 3
repeats = 2
"""
DATASETS = """
[[datasets]]
use = ["blobs"]
"""
METHODS = """
[[methods]]
label = "A"
selector = "weigh"
classifier = "nearest"

[[methods]]
label = "B"
classifier = "plain"
"""


@pytest.fixture
def suite_file(tmp_path):
    """Return a function that writes a suite file, from parts that default to something valid."""

    def write(more="", *, head=HEAD, datasets=DATASETS, methods=METHODS):
        path = tmp_path / "own.toml"
        path.write_text(f"{head}\n{datasets}\n{methods}\n{more}\n", encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def planned(suite_file, toy_registry):
    """Return a function from the parts of a suite to its plan."""

    def plan(more="", *, only=(), seed=None, profile=None, **parts):
        loaded = load_suite(suite_file(more, **parts), toy_registry, profile, seed)
        return make_plan(loaded, toy_registry, only)

    return plan
