"""The measured commit and its time."""

import os
import shutil
import subprocess

import pytest

from mfbench.errors import UsageError
from mfbench_gate.history.record import Commit, project_commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs Git to make a repository")
DATE = "2026-02-03T04:05:06+02:00"


def git(folder, *words):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment |= {"GIT_COMMITTER_DATE": DATE, "GIT_AUTHOR_DATE": "2020-01-01T00:00:00+00:00"}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for number in range(3):
        (folder / "file").write_text(str(number))
        git(folder, "add", "file")
        git(folder, "commit", "--quiet", "--message", f"number {number}")
    return folder


def test_head_and_its_time_as_a_loose_object(project):
    expected = Commit(git(project, "rev-parse", "HEAD"), "2026-02-03T02:05:06+00:00")
    assert project_commit(project) == expected
    (project / "a" / "b").mkdir(parents=True)
    assert project_commit(project / "a" / "b") == expected


def test_a_packed_commit(project):
    git(project, "gc", "--quiet", "--prune=now")
    assert list((project / ".git" / "objects" / "pack").glob("*.pack"))
    for revision in ("HEAD", "HEAD~1", "HEAD~2"):
        name = git(project, "rev-parse", revision)
        assert project_commit(project, name) == Commit(name, "2026-02-03T02:05:06+00:00")


def test_a_commit_that_is_not_there_has_no_time(project):
    git(project, "gc", "--quiet", "--prune=now")
    for name in ("f" * 40, "0" * 40, "0" * 39 + "1", "abcdef0", "ABCDEF0"):
        assert project_commit(project, name) == Commit(name.lower(), None)


def test_a_damaged_object_has_no_time(project):
    name = git(project, "rev-parse", "HEAD")
    path = project / ".git" / "objects" / name[:2] / name[2:]
    path.chmod(0o600)
    path.write_bytes(b"nothing")
    assert project_commit(project) == Commit(name, None)


def test_a_damaged_index_has_no_time(project):
    git(project, "gc", "--quiet", "--prune=now")
    for path in (project / ".git" / "objects" / "pack").glob("*.idx"):
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:40])
    assert project_commit(project).time is None


def test_the_recorded_commit_counts_only_if_mfbench_is_the_project(project):
    recorded = "1" * 40
    assert project_commit(project, recorded=recorded).name == git(project, "rev-parse", "HEAD")
    (project / "pyproject.toml").write_text('[project]\nname = "mfbench"\n')
    assert project_commit(project, recorded=recorded).name == recorded
    assert project_commit(project, "2" * 40, recorded).name == "2" * 40


def test_no_repository(tmp_path):
    with pytest.raises(UsageError, match=r"not a git repository.*; name it with --commit"):
        project_commit(tmp_path)
    assert project_commit(tmp_path, "abcdef0") == Commit("abcdef0", None)


def test_no_commit_yet(tmp_path):
    git(tmp_path, "init", "--quiet")
    with pytest.raises(UsageError, match=r"cannot be read from a Git repository .*; name it with --commit"):
        project_commit(tmp_path)


@pytest.mark.parametrize("name", ["main", "HEAD", "abc", "", "../abcdef0", "f" * 65])
def test_a_name_that_is_not_a_hash(tmp_path, name):
    with pytest.raises(UsageError, match=r"is not the hash of a commit: 7 to 64 hexadecimal digits"):
        project_commit(tmp_path, name)
