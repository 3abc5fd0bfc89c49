"""What a suite has and the plan of a bundle lacks, without a part, a pattern or a reason that excludes it."""

import json
from dataclasses import asdict

import pytest
from toy_protocols import design_of

from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Lookup
from mfbench.errors import SuiteError
from mfbench.host.registry import load_registry
from mfbench.run.store.metadata import RunMetadata
from mfbench.suite.loading import load_suite
from mfbench_claims.dropped import dropped_parts
from mfbench_claims.rebuilt_plan import Surroundings

SUITE = """
[suite]
name = "own"
[protocol]
folds = 2
repeats = 2
[profiles.quick]
repeats = 1
[parts.small]
only = ["wine", "iris"]
[[datasets]]
use = ["iris", "wine", "file:mine.csv"]
[[methods]]
label = "A"
classifier = "knn"
[[methods]]
label = "B"
classifier = "lda"
"""
HERE = Surroundings(load_registry(only=["mfbench_suites.plugin"]), Lookup(DataOptions.of(None, offline=True)))


@pytest.fixture
def meta(tmp_path):
    """Return a function that returns the metadata of a run of the suite, with changes."""
    (tmp_path / "own.toml").write_text(SUITE)

    def make(profile="full", **changes):
        loaded = load_suite(str(tmp_path / "own.toml"), HERE.registry, profile)
        content = {
            "suite": loaded.suite.model_dump(mode="json"),
            "protocol": loaded.protocol.model_dump(mode="json"),
            "scores": {name: asdict(score) for name, score in loaded.all_scores.items()},
            "design": design_of(loaded.protocol).model_dump(),
            "protocol_key": "repeated-cv:2:0",
            "profile": profile,
            "methods": {"A": "knn", "B": "lda"},
            "environment": {"mfbench": "1", "python": "3", "cpu": "", "jobs": 1, "libraries": {}},
            "command": [],
        }
        return RunMetadata.model_validate(json.loads(json.dumps({**content, **changes})))

    return make


def places(datasets="iris wine mine.csv", methods="AB", repeats=2):
    return [(d, m, r, f) for d in datasets.split() for m in methods for r in range(repeats) for f in range(2)]


def dropped(meta, planned, left_out=()):
    return dropped_parts(meta, set(planned), dict(left_out), HERE)


def test_methods_for_two_classes_are_not_dropped_where_they_are_unsuited(meta):
    planned = {place for place in places() if place[:2] != ("iris", "B")}
    assert dropped_parts(meta(), planned, {}, HERE, {("iris", "B")}) == {}
    assert dropped_parts(meta(), planned, {}, HERE, {("wine", "A")}) == {"B on iris": 4}


def test_nothing_is_dropped(subtests, meta):
    for name, changes, planned, left_out in [
        ("whole", {}, places(), {}),
        ("profile", {"profile": "quick"}, places(repeats=1), {}),
        ("part", {"part": "small"}, places("iris wine"), {}),
        ("only", {"only": ["w*", "A"]}, places("wine", "A"), {}),
        ("only a method", {"only": ["B"]}, places(methods="B"), {}),
        ("within a part", {"part": "small", "only": ["iris"]}, places("iris"), {}),
        ("added", {"only": ["iris"]}, places("iris", "ABC"), {}),
        ("left out", {}, places("iris wine", "A"), {"mine.csv": "no such file", "B": "no such plugin"}),
    ]:
        with subtests.test(name):
            assert dropped(meta(**changes), planned, left_out) == {}


def test_what_is_dropped_is_named_as_a_whole_or_by_fold(subtests, meta):
    for name, gone, clauses in [
        ("dataset", lambda d, m, r, f: d == "wine", {"the dataset wine": 8}),
        ("method", lambda d, m, r, f: m == "A", {"the method A": 12}),
        ("both", lambda d, m, r, f: d == "wine" or m == "A", {"the dataset wine": 8, "the method A": 8}),
        ("repeat", lambda d, m, r, f: r == 1, {"repeat 1 of every dataset and method": 12}),
        ("fold", lambda d, m, r, f: (r, f) == (1, 0), {"repeat 1, fold 0 of every dataset and method": 6}),
        ("cell", lambda d, m, r, f: (d, m) == ("iris", "B"), {"B on iris": 4}),
        ("rows", lambda d, m, r, f: (d, r, f) == ("iris", 0, 1), {"every method on iris, repeat 0, fold 1": 2}),
        ("folds", lambda d, m, r, f: (m, r, f) == ("A", 0, 1), {"A on every dataset, repeat 0, fold 1": 3}),
        ("trial", lambda d, m, r, f: (d, m, r, f) == ("iris", "A", 1, 1), {"A on iris, repeat 1, fold 1": 1}),
    ]:
        with subtests.test(name):
            assert dropped(meta(), [place for place in places() if not gone(*place)]) == clauses


def test_what_is_no_excuse(subtests, meta):
    short = meta().protocol.model_dump(mode="json") | {"repeats": 1}
    for name, changes, planned, left_out, clauses in [
        ("a part that the suite does not have", {"part": "mine", "part_patterns": ["iris"]}, "iris", {}, 2),
        ("patterns that match nothing", {"only": ["nothing"]}, "iris wine", {}, 1),
        ("an empty reason", {}, "iris wine", {"mine.csv": " "}, 1),
    ]:
        with subtests.test(name):
            assert len(dropped(meta(**changes), places(planned), left_out)) == clauses
    # Neither the protocol of the suite nor its profile has so few repeats.
    assert dropped(meta(protocol=short), places(repeats=1)) == {"repeat 1 of every dataset and method": 12}


def test_a_plan_of_a_hostile_size_is_refused(meta):
    suite = meta().suite.model_dump(mode="json")
    suite["protocol"] |= {"folds": 1000, "repeats": 10_000}
    suite["datasets"][0]["use"] = [f"led-7(seed={seed})" for seed in range(200)]
    with pytest.raises(SuiteError, match="the bundle's suite: "):
        dropped(meta(suite=suite), [])


def test_members_of_a_list_that_is_not_available_cannot_be_missing(meta):
    suite = meta().suite.model_dump(mode="json")
    suite["datasets"][0]["use"] = ["iris", "openml-suite:99", "not a reference"]
    assert dropped(meta(suite=suite), places("iris")) == {"the dataset not a reference": 8}
