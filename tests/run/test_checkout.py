"""The commit of mfbench's own checkout, from Git's files alone."""

import subprocess
from pathlib import Path

import pytest

import mfbench
from mfbench.run.checkout import checkout_commit, own_commit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def project(tmp_path):
    """A checkout of mfbench on the branch main."""
    folder = tmp_path / "project"
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "mfbench"\n')
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "refs" / "heads" / "main").write_text(COMMIT + "\n")
    return folder


def test_the_commit_of_a_branch(project):
    assert checkout_commit(project) == COMMIT


def test_a_detached_head(project):
    (project / ".git" / "HEAD").write_text(COMMIT)
    assert checkout_commit(project) == COMMIT


def test_a_packed_reference(project):
    (project / ".git" / "refs" / "heads" / "main").unlink()
    (project / ".git" / "packed-refs").write_text(
        f"# pack-refs with: peeled\n{COMMIT[::-1]} refs/heads/main2\n^{COMMIT[::-1]}\n{COMMIT} refs/heads/main\n"
    )
    assert checkout_commit(project) == COMMIT


def test_a_linked_worktree(project, tmp_path):
    own = project / ".git" / "worktrees" / "linked"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "pyproject.toml").write_text('[project]\nname = "mfbench"\n')
    (linked / ".git").write_text(f"gitdir: {own}\n")
    assert checkout_commit(linked) == COMMIT
    (linked / ".git").write_text("gitdir: ../project/.git/worktrees/linked\n")
    assert checkout_commit(linked) == COMMIT


def test_a_head_that_leads_to_no_commit(subtests, project):
    for head in [
        "",
        "ref: refs/heads/unborn",
        "ref: ../../secret",
        "ref: refs/../../secret",
        "not a commit",
        "ref: refs/heads/loop",
    ]:
        with subtests.test(head=head):
            (project / "secret").write_text(COMMIT)
            (project / ".git" / "refs" / "heads" / "loop").write_text("ref: refs/heads/loop")
            (project / ".git" / "HEAD").write_text(head)
            assert checkout_commit(project) is None


def test_another_project_s_repository_is_not_read(subtests, project):
    for text in [None, '[project]\nname = "other"\n', "[project", 'project = "mfbench"\n']:
        with subtests.test(text=text):
            (project / "pyproject.toml").unlink(missing_ok=True)
            if text is not None:
                (project / "pyproject.toml").write_text(text)
            assert checkout_commit(project) is None


def test_a_folder_below_or_outside_of_a_checkout_has_no_commit(project):
    (project / "below").mkdir()
    assert checkout_commit(project / "below") is None
    assert checkout_commit(project.parent) is None


def test_it_agrees_with_git_itself():
    folder = Path(mfbench.__file__).parent.parent
    try:
        asked = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mfbench does not run from a checkout here")
    assert own_commit() == asked.stdout.strip()
