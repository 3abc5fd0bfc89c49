"""Calls of Git: what it says is one sentence, and no prompt, pager, hook or variable of the environment takes part."""

import shutil
import subprocess

import pytest

from mfbench.base import git as base_git
from mfbench.base.git import GitError, run_git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed")


@pytest.fixture
def repository(tmp_path):
    run_git(tmp_path, "init", "--quiet")
    return tmp_path


def test_a_failure_is_one_sentence(tmp_path):
    with pytest.raises(GitError, match=r"git rev-parse failed: fatal: not a git repository") as caught:
        run_git(tmp_path, "rev-parse", "HEAD")
    assert "\n" not in str(caught.value) and str(tmp_path) in str(caught.value)


def test_a_machine_without_git(repository, monkeypatch):
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(GitError, match="git is not installed"):
        run_git(repository, "status")


def test_a_command_that_does_not_end(repository, monkeypatch):
    monkeypatch.setattr(base_git, "_SECONDS", 0.01)
    with pytest.raises(GitError, match=r"git hash-object did not end within 0\.01 seconds"):
        run_git(repository, "hash-object", "/dev/zero")


def test_hooks_and_monitors_of_the_repository_do_not_run(repository):
    seen = repository / "seen"
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{seen}'\n")
    hook.chmod(0o755)
    identity = ("-c", "user.name=a", "-c", "user.email=a")
    run_git(repository, "config", "core.fsmonitor", f"touch '{seen}'; false")
    run_git(repository, "commit", "--quiet", "--allow-empty", "--message", "one", options=identity)
    run_git(repository, "checkout", "--quiet", "-b", "other")
    run_git(repository, "status")
    assert not seen.exists()
    subprocess.run(["git", "checkout", "--quiet", "-b", "third"], cwd=repository, check=True)
    assert seen.exists()


def test_variables_of_the_environment_do_not_name_another_repository(repository, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert run_git(repository, "rev-parse", "--is-inside-work-tree") == "true"
