"""The commit of mfbench's own checkout; Git itself is the oracle."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import mfbench
from mfbench.run.environment import own_commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="Git is not installed: no commit is recorded")


def git(folder, *words):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path):
    """A checkout of mfbench with a commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "mfbench"\n')
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def test_the_commit_of_a_branch_and_of_a_detached_head(project):
    assert own_commit(project) == git(project, "rev-parse", "HEAD")
    git(project, "checkout", "--quiet", "--detach")
    assert own_commit(project) == git(project, "rev-parse", "HEAD")


def test_a_linked_worktree(project, tmp_path):
    git(project, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert own_commit(tmp_path / "linked") == git(project, "rev-parse", "HEAD")


def test_a_repository_without_a_commit(project):
    git(project, "checkout", "--quiet", "--orphan", "unborn")
    assert own_commit(project) is None


def test_another_project_s_repository_is_not_read(subtests, project):
    for text in [None, '[project]\nname = "other"\n', "[project", 'project = "mfbench"\n']:
        with subtests.test(text=text):
            (project / "pyproject.toml").unlink(missing_ok=True)
            if text is not None:
                (project / "pyproject.toml").write_text(text)
            assert own_commit(project) is None


def test_a_copy_within_another_repository_or_with_a_broken_one_has_no_commit(project):
    copy = project / "copy"
    copy.mkdir()
    shutil.copy(project / "pyproject.toml", copy)
    assert own_commit(copy) is None
    (copy / ".git").mkdir()  # Git looks further up
    assert own_commit(copy) is None


def test_a_machine_without_git_records_no_commit(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project))
    assert own_commit(project) is None


def test_what_a_repository_configures_does_not_run(project, tmp_path, monkeypatch):
    git(project, "config", "core.fsmonitor", f"touch {tmp_path / 'PWNED'}; false")
    git(project, "config", "core.pager", f"touch {tmp_path / 'PWNED'}")
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    assert (
        own_commit(project)
        == subprocess.run(
            ["git", "--git-dir", project / ".git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    assert not (tmp_path / "PWNED").exists()


def test_it_agrees_with_git_itself():
    folder = Path(mfbench.__file__).parent.parent
    try:
        asked = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mfbench does not run from a checkout here")
    assert own_commit() == asked.stdout.strip()
