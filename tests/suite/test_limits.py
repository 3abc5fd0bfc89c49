"""Suites that are too large are refused in one sentence before anything of that size is built."""

import difflib

import pytest

from mfbench.errors import SuiteError, UnknownNameError
from mfbench.suite import schema
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

SUITE = """
[suite]
name = "own"
[protocol]
folds = {folds}
repeats = {repeats}
[[datasets]]
use = [{use}]
{datasets}
[[methods]]
label = "A"
classifier = "nearest"
{methods}
[report]
published = {published}
"""


@pytest.fixture
def plan(tmp_path, toy_registry):
    """Return a function that plans a suite with changes."""

    def make(**changes):
        values = {"folds": 2, "repeats": 1, "use": '"blobs"', "datasets": "", "methods": "", "published": "[]"}
        path = tmp_path / "own.toml"
        path.write_text(SUITE.format(**{**values, **changes}), encoding="utf-8")
        return make_plan(load_suite(str(path), toy_registry, "full"), toy_registry)

    return make


@pytest.fixture(autouse=True)
def nothing_large(monkeypatch, toy_registry):
    """Let a trial, or a search for similar names, be a failure of the test."""

    def fail(*_, **__):
        raise AssertionError("something was built")

    monkeypatch.setattr("mfbench.suite.plan._trials", fail)
    monkeypatch.setattr("mfbench.suite.loading._with_seeds", fail)
    monkeypatch.setattr(difflib, "get_close_matches", fail)


def test_a_suite_that_is_too_large_is_one_sentence(plan):
    for changes, sentence in [
        ({"datasets": "replicates = 1000000000"}, "expected less than or equal to 10000"),
        (
            {"use": '"blobs(shift=1.0)", "blobs(shift=2.0)"', "datasets": "replicates = 5001"},
            "datasets[0].replicates: 10,002 datasets with their replicates; a suite has at most 10,000",
        ),
        ({"use": ", ".join(['"blobs"'] * 10_001)}, "expected at most 10,000 entries"),
        ({"published": str(["t"] * 101)}, "expected a string or at most 100 entries"),
        (
            {"folds": 1000, "repeats": 10_000},
            "own.toml: 1 datasets × 1 methods × 10,000,000 folds are 10,000,000 trials; a plan has at most 2,000,000: ",
        ),
        ({"methods": "#" * schema.LARGEST_FILE}, "own.toml: larger than 16 MiB, which is too large for a suite"),
        ({"folds": "9" * 5000}, "own.toml: a whole number has thousands of digits; use at most 64 bits"),
        ({"folds": "0x" + "f" * 4000}, "own.toml: protocol.folds: found a number of thousands of digits"),
        (
            {"methods": "tune = { shift = { first = 1, last = inf, count = 3 } }"},
            "methods[0].tune.shift.last: found inf (a number)",
        ),
        ({"methods": "tune = { shift = { first = -1e308, last = 1e308, count = 3 } }"}, "ends that are less far apart"),
        ({"methods": f"tune = {{ k = {list(range(10_001))} }}"}, "methods[0].tune.k: found ["),
    ]:
        with pytest.raises(SuiteError) as caught:
            plan(**changes)
        assert sentence in str(caught.value)
        assert len(str(caught.value)) < 500
        assert "\n" not in str(caught.value)


def test_the_points_of_a_grid_are_counted_together():
    schema.check_points(10**6, "here")
    with pytest.raises(SuiteError, match=r"^here: 100,000,000 combinations of values; a method tries at m"):
        schema.check_points(10**8, "here")


def test_a_table_that_is_listed_twice_is_read_once(plan, monkeypatch):
    monkeypatch.setattr("mfbench.suite.published._read_table", lambda name, path: _Table(name))
    monkeypatch.setattr("mfbench.suite.published._find", lambda name, folder, registry: name)
    with pytest.raises(SuiteError, match=r"own\.toml: report\.published\[1\]: 't' is listed twice$"):
        plan(published='["t", "t"]')


class _Table:
    def __init__(self, name):
        self.name = name
        self.about = type("About", (), {"metric": "accuracy"})


def test_similar_names_are_sought_only_for_a_message_that_is_shown(plan):
    error = UnknownNameError("selector", "relif", ["relief"])
    assert (error.kind, error.name) == ("selector", "relif")
    with pytest.raises(AssertionError, match="something was built"):
        str(error)
    names = ", ".join(f'"wrong-{number}"' for number in range(500))
    with pytest.raises(AssertionError, match="something was built"):  # by the message of the first, and only there
        plan(use=names)
