"""Metadata come back from JSON as they were written."""

import json
from pathlib import Path

import pytest
from toy_protocols import completed

from mfbench.errors import RunError
from mfbench.run.store.metadata import RecordedFigures, RecordedSuite, RunMetadata
from mfbench.suite.published import PublishedFigure
from mfbench.suite.schema import Suite

FOLDER = Path("reports") / "own"
SUITE = {
    "suite": {"name": "own", "title": "Own suite", "seed": 7},
    "datasets": [{"use": ["iris"]}],
    "methods": [{"label": "A", "classifier": "knn", "tune": {"n_neighbors": [1, 3]}}],
    "report": {"reference": "A", "rope": 0.5, "equal": [["A", "B"]]},
}


def stored(metadata):
    """Return the metadata as the store keeps them: one JSON value for each field."""
    return {name: json.loads(json.dumps(value)) for name, value in metadata.to_columns().items()}


@pytest.fixture
def metadata(make_metadata):
    return make_metadata(
        methods={"A": "knn", "B": "relieff → knn"},
        suite=RecordedSuite.model_validate(Suite.model_validate(SUITE).model_dump(mode="json")),
        protocol=completed(kind="ground-truth", metrics=["detection"]),
        published=RecordedFigures(
            tables={"t": {"title": "Table 1", "metric": "accuracy"}},
            figures=[PublishedFigure("t", "iris", "A", "Iris", 0.96, rounding=0.005)],
        ),
        selection={"A": "per-dataset"},
        rules={"A": 5, "B": 0.5, "C": "relevant"},
    )


def test_everything_comes_back(metadata):
    read = RunMetadata.from_columns(stored(metadata), FOLDER)
    assert read == metadata
    assert stored(read) == stored(metadata)
    assert (read.name, read.title, read.seed, read.report.rope) == ("own", "Own suite", 7, 0.5)
    assert [type(rule) for rule in read.rules.values()] == [int, float, str]


def test_the_whole_suite_is_recorded(metadata):
    assert stored(metadata)["suite"]["methods"][0]["tune"] == {"n_neighbors": [1, 3]}


def test_the_title_is_the_name_unless_there_is_one(make_metadata):
    assert make_metadata().title == "own"


def test_a_run_that_never_started_is_refused():
    with pytest.raises(RunError, match="never started completely"):
        RunMetadata.from_columns({}, FOLDER)


def test_what_cannot_be_read_is_named(metadata):
    columns = stored(metadata)
    columns["protocol"]["kind"] = "leave-one-out"
    with pytest.raises(RunError, match=r"cannot read the run in reports.own: protocol\.kind"):
        RunMetadata.from_columns(columns, FOLDER)
