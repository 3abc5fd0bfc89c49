"""Tasks of OpenML: their dataset, target and splits."""

import numpy as np
import pytest

from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Lookup
from mfbench.data.reference import OpenMLTaskReference, parse_reference
from mfbench.data.repositories import load_openml_task
from mfbench.errors import DataError, DataUnavailableError, UsageError

HEAD = "@relation s\n@attribute type {TRAIN,TEST}\n@attribute rowid numeric\n@attribute repeat numeric\n"
HEAD += "@attribute fold numeric\n@data\n"
FOLDS = [[0, 3], [1, 2]]


def lines(folds, repeat=0, n=4):
    """The rows of some folds, as OpenML lists them."""
    return [
        f"{'TEST' if row in fold else 'TRAIN'},{row},{repeat},{number}"
        for number, fold in enumerate(folds)
        for row in range(n)
    ]


@pytest.fixture
def task(site):
    """Return a function that serves task 59 on dataset 61."""

    def serve(rows, target="class", **changes):
        site.openml()
        url = site.page("/api_splits/get/59/Task_59_splits.arff", (HEAD + "\n".join(rows) + "\n").encode())
        source = {"data_set_id": "61", "target_feature": target} | changes
        procedure = {"type": "crossvalidation", "data_splits_url": url}
        inputs = [
            {"name": "source_data", "data_set": source},
            {"name": "estimation_procedure", "estimation_procedure": procedure},
        ]
        site.page("/api/v1/json/task/59", {"task": {"task_id": "59", "input": inputs}})

    return serve


def test_the_folds_of_the_first_repeat(site, task):
    task(lines(FOLDS) + lines([[0, 1], [2, 3]], repeat=1))
    data, _ = load_openml_task("59")
    assert data.name == "openml-task:59"
    assert data.split.tolist() == [0, 1, 1, 0]
    assert data.source.endswith("https://www.openml.org/d/61; splits of task 59, the first of 2 repeats")
    assert data.feature_names == ("width", "leaf colour", "code")


def test_a_single_test_part_and_another_target(site, task):
    task(lines([[1, 2]]), target="code")
    data, card = load_openml_task("59")
    assert data.split.tolist() == [-1, 0, 0, -1]
    assert card["target"] == "code"


def test_the_cache_keeps_them(site, task, tmp_path):
    task(lines(FOLDS))
    options = DataOptions(cache=tmp_path)
    reference = parse_reference("openml-task:59")
    assert isinstance(reference, OpenMLTaskReference)
    first = Lookup(options).stored(reference)
    again = Lookup(DataOptions(cache=tmp_path, offline=True)).stored(reference)
    assert (first.location, again.location) == ("network", "cache")
    np.testing.assert_array_equal(again.data.split, [0, 1, 1, 0])
    with pytest.raises(DataUnavailableError, match=r"to download it, run: mfbench datasets pull openml-task:60"):
        Lookup(DataOptions(cache=tmp_path, offline=True)).stored(parse_reference("openml-task:60"))


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        (lines(FOLDS)[:-1], {}, "OpenML task 59 draws rows, or tests one twice: only folds and a single test part"),
        (lines([[0, 1], [1, 2]]), {}, "draws rows, or tests one twice"),
        (
            ["TRAIN,x,0,0"],
            {},
            "the splits of OpenML task 59 at http.*, line 7: 'x' is not a number of attribute 'rowid'",
        ),
        (lines(FOLDS, n=9), {}, "draws rows, or tests one twice"),
        (lines(FOLDS), {"target": ""}, "OpenML task 59 has no target or no splits"),
        (
            lines(FOLDS),
            {"data_set_id": "none"},
            "OpenML's answer about OpenML task 59 does not have the documented form",
        ),
    ],
)
def test_what_cannot_be_used(site, task, rows, changes, message):
    task(rows, **changes)
    with pytest.raises(DataError, match=message):
        load_openml_task("59")


def test_the_task_names_the_target():
    with pytest.raises(UsageError, match="'openml-task:59' defines its own columns"):
        parse_reference("openml-task:59", target="class")
    with pytest.raises(UsageError, match="cannot read 'openml-task:iris': write it like openml-task:59"):
        parse_reference("openml-task:iris")
