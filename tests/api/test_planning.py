"""Planning a suite: nothing is run and nothing is written."""

import json

import pytest

from mfbench.api.request import Request, estimate_suite, explain_keys, prepare_suite, run_options
from mfbench.errors import UsageError
from mfbench.host.registry import load_registry
from mfbench.run.environment import describe
from mfbench.run.runner import RunOptions
from mfbench.run.store.metadata import metadata_of


def test_the_command_of_a_run_names_where_its_data_come_from(tmp_path):
    plan, folder, _ = prepare_suite(Request("uci", only=["iris", "DUM"], out=tmp_path, offline=True))
    words = metadata_of(plan, folder, describe(load_registry(), 1, 10**9)).command
    assert words == ["mfbench", "suite", "uci", "--profile", "quick", "--offline", "--only", "iris", "--only", "DUM"]


def test_a_reference_outside_the_part_is_refused():
    with pytest.raises(UsageError, match="--reference '1NN' is not in the part 'tuning'; name a method of it"):
        prepare_suite(Request("uci", profile="per-dataset", part="tuning", reference="1NN", offline=True))


def test_a_reference_that_only_leaves_out_is_refused():
    with pytest.raises(UsageError, match="--reference 'LDA' is left out by --only; add --only LDA"):
        prepare_suite(Request("uci", only=["iris", "DUM"], reference="LDA", offline=True))


def test_each_cell_explains_its_key_once(tmp_path):
    plan, _, _ = prepare_suite(Request("uci", only=["iris", "DUM", "1NN"], out=tmp_path, offline=True))
    texts = [json.loads(text) for text in explain_keys(plan)]
    assert [(text["dataset"], text["method"]) for text in texts] == [("iris", "1NN"), ("iris", "DUM")]
    assert {text["key"] for text in texts} <= {trial.key for trial in plan.trials}


def test_an_estimate_writes_nothing(tmp_path):
    request = Request("uci", only=["iris", "DUM"], out=tmp_path / "out")
    assert estimate_suite(request).planned == len(prepare_suite(request)[0].trials)
    assert not list(tmp_path.iterdir())


def test_the_options_of_a_run_are_those_of_its_request():
    assert run_options(Request("uci")) == RunOptions()
    request = Request("uci", jobs=2, fresh=True, executor="dask", scheduler="a", budget="1m", wait_for_workers="2m")
    assert run_options(request) == RunOptions(2, True, False, "dask", "a", 60.0, 120.0)
