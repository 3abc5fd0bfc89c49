"""The environment of a run: machine, software and limits."""

from mfbench.host.registry import load_registry
from mfbench.run import environment


def test_the_description_is_complete_and_survives_json():
    described = environment.describe(load_registry(only=["baselines"]), 2, 2**30)
    assert type(described).model_validate_json(described.model_dump_json()) == described
    assert (described.jobs, described.memory_limit_bytes, described.threads_per_worker) == (2, 2**30, 1)
    assert set(described.libraries) == set(environment.LIBRARIES)
    assert len(described.plugins) == 1


def test_workers_share_four_fifths_of_the_memory_equally():
    assert environment.default_memory(1) >= 2 * environment.default_memory(2) >= environment.default_memory(1) - 2


def test_outside_of_a_checkout_there_is_no_commit(tmp_path):
    assert environment._git_commit(tmp_path) is None
