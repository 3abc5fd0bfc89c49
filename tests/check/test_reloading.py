"""Datasets are loaded without the host's own checks, here and in a new process with another hash seed."""

import pytest

from mfbench.data.lookup import content_hash
from mfbench.host.registry import load_registry
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.reloading import hash_elsewhere, load, snippet
from mfbench_check.subjects import Opened, Subject


@pytest.fixture(scope="module")
def opened():
    registry = load_registry(only=["unsound_datasets", "datasets"])
    return lambda name: Opened(Subject("dataset", name, registry.entry("dataset", name).plugin), registry)


def test_a_dataset_of_the_wrong_size_can_be_loaded(opened):
    assert load(opened("wrong-size")).n_samples == 6


def test_the_hash_elsewhere_is_that_of_the_content(opened):
    assert hash_elsewhere(opened("iris"), 1) == content_hash(load(opened("iris")))


def test_a_loader_that_fails_in_a_new_process_is_a_failure_with_its_last_line(opened):
    with pytest.raises(CheckFailedError, match=r"exit code 1: .*RuntimeError: no file"):
        hash_elsewhere(opened("raises"), 1)


def test_remote_data_are_not_applicable(opened):
    with pytest.raises(NotApplicableError, match="repository"):
        load(opened("remote"))


def test_a_snippet_loads_the_dataset_by_its_name(opened):
    assert "entry('dataset', 'iris')" in snippet(opened("iris"), "assert data")
