"""The environment of a run: machine, software and limits."""

import pytest

from mfbench.errors import UsageError
from mfbench.host.registry import load_registry
from mfbench.run import environment
from mfbench.run.environment import own_commit
from mfbench.run.runner import RunOptions, execute


def test_the_description_is_complete_and_survives_json():
    described = environment.describe(load_registry(only=["baselines"]), 2, 2**30)
    assert type(described).model_validate_json(described.model_dump_json()) == described
    assert (described.jobs, described.memory_limit_bytes, described.threads_per_worker) == (2, 2**30, 1)
    assert set(described.libraries) == set(environment.LIBRARIES)
    assert sum("mfbench_baselines" in plugin for plugin in described.plugins) == 1


def test_workers_share_four_fifths_of_the_memory_equally():
    assert environment.default_memory(1) >= 2 * environment.default_memory(2) >= environment.default_memory(1) - 2


def test_a_working_directory_that_configures_git_runs_nothing_and_names_no_commit(tmp_path, monkeypatch):
    git = tmp_path / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "refs").mkdir()
    (git / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567")
    (git / "config").write_text('[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch PWNED; false"\n')
    monkeypatch.chdir(tmp_path)
    commit = environment.describe(load_registry(only=[]), 1, 2**30).git_commit
    assert commit == own_commit() != "0123456789abcdef0123456789abcdef01234567"
    assert not (tmp_path / "PWNED").exists()


def test_a_working_directory_that_configures_numba_is_refused_before_anything_is_written(
    tmp_path, monkeypatch, prepared
):
    plan, folder, registry = prepared
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: ./pickles\n")
    with pytest.raises(UsageError, match=r"contains \.numba_config\.yaml, which can change results"):
        execute(plan, folder, registry, RunOptions(), None)
    assert not folder.exists()
