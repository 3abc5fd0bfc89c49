import subprocess
import sys
from pathlib import Path

import pytest

from mfbench.errors import UsageError
from mfbench_gate.gate import environments
from mfbench_gate.gate.environments import EnvironmentBuildError, prepare_side

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "toy-selectors"
version = "{version}"
dependencies = ["mfbench"]
[project.entry-points.mfbench]
toy = "toy_selectors.plugin"
"""
# What the editable install of some build backends does: a finder before all others.
HOOK = "import sys; sys.meta_path.insert(0, type('Hook', (), {'find_spec': staticmethod(lambda *words: None)}))"


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, "-C", folder, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """Return a repository of a plugin with two commits on the branch main."""
    folder = tmp_path / "toy"
    (folder / "toy_selectors").mkdir(parents=True)
    (folder / "toy_selectors" / "plugin.py").write_text("")
    git(tmp_path, "init", "-q", "-b", "main", "toy")
    for version in ("1.0", "2.0"):
        (folder / "pyproject.toml").write_text(PYPROJECT.format(version=version))
        (folder / "toy_selectors" / "__init__.py").write_text(f"VERSION = {version!r}\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", version)
    return folder


@pytest.fixture
def unbuilt(monkeypatch):
    """Skip the installation, which takes seconds."""
    monkeypatch.setattr(environments, "_install", lambda *_: None)


def test_an_interpreter_is_taken_as_it_is():
    side = prepare_side(sys.executable, Path())
    assert side.python == Path(sys.executable)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing/python", "neither a Python interpreter nor a revision"),
        ("main", "a revision as git:REVISION"),
        ("git:nowhere", "has no revision 'nowhere'"),
        ("git:", "is not a revision"),
        ("git:--output=x", "is not a revision"),
    ],
)
def test_a_side_that_does_not_exist(repository, tmp_path, text, message):
    with pytest.raises(UsageError, match=message):
        prepare_side(text, repository, tmp_path / "cache")


def test_a_folder_without_a_project(tmp_path):
    with pytest.raises(UsageError, match=r"neither pyproject.toml nor setup.py"):
        prepare_side("git:HEAD", tmp_path)


def test_a_project_without_a_repository(tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    with pytest.raises(UsageError, match="git rev-parse failed: fatal: not a git repository"):
        prepare_side("git:HEAD", tmp_path)


def test_git_is_missing(repository, monkeypatch):
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(UsageError, match="git is not installed"):
        prepare_side("git:HEAD", repository)


def test_revisions_are_checked_out_once(repository, tmp_path, unbuilt):
    cache = tmp_path / "cache"
    first = prepare_side("git:HEAD~1", repository, cache)
    assert first.version == git(repository, "rev-parse", "HEAD~1")
    tree = first.python.parents[2] / "tree"
    assert "1.0" in (tree / "pyproject.toml").read_text()
    (tree / "mark").touch()
    assert prepare_side("git:HEAD~1", repository, cache).python == first.python
    assert (tree / "mark").exists()
    assert prepare_side("git:HEAD", repository, cache).python != first.python


def test_an_interrupted_build_is_made_again(repository, tmp_path, unbuilt):
    cache = tmp_path / "cache"
    tree = prepare_side("git:HEAD", repository, cache).python.parents[2]
    (tree / "ready").unlink()
    assert prepare_side("git:HEAD", repository, cache).python.exists()
    assert (tree / "ready").exists()


def test_merge_base(repository, tmp_path, unbuilt):
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-q", "-b", "work")
    git(repository, "commit", "-q", "--allow-empty", "-m", "more")
    assert prepare_side("git:merge-base", repository, tmp_path / "cache").version == base


def test_merge_base_with_the_target_of_a_pull_request(repository, tmp_path, unbuilt, monkeypatch):
    git(repository, "update-ref", "refs/remotes/origin/release", "HEAD~1")
    monkeypatch.setenv("GITHUB_BASE_REF", "release")
    side = prepare_side("git:merge-base", repository, tmp_path / "cache")
    assert side.version == git(repository, "rev-parse", "HEAD~1")
    monkeypatch.setenv("GITHUB_BASE_REF", "nowhere")
    with pytest.raises(UsageError, match="no commit that HEAD shares with origin/nowhere: fetch the branch"):
        prepare_side("git:merge-base", repository, tmp_path / "cache")


def test_a_history_that_is_cut_off(repository, tmp_path, unbuilt):
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-q", "-m", "unrelated")
    with pytest.raises(
        UsageError,
        match=r"no commit that HEAD shares with origin/HEAD or .* or master: fetch the branch with its whole history",
    ):
        prepare_side("git:merge-base", repository, tmp_path / "cache")


def test_two_projects_of_a_repository_have_environments_of_their_own(repository, tmp_path, unbuilt):
    (repository / "second").mkdir()
    (repository / "second" / "pyproject.toml").write_text(PYPROJECT.format(version="1"))
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "second")
    cache = tmp_path / "cache"
    first, second = (prepare_side("git:HEAD", place, cache) for place in (repository, repository / "second"))
    assert first.python != second.python


def test_libraries_are_shared_but_not_the_checkout(repository, tmp_path, unbuilt, monkeypatch):
    shared = repository / ".venv" / "site-packages"  # an environment within the checkout
    elsewhere = tmp_path / "elsewhere"
    for folder, name in ((shared, "a_library"), (elsewhere, "an_editable_library"), (repository, "only_in_the_head")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").touch()
    (shared / "editable.pth").write_text(f"{elsewhere}\n{repository}\n{HOOK}\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(shared)])
    python = prepare_side("git:HEAD", repository, tmp_path / "cache").python
    code = "import sys, importlib.util as u; print([bool(u.find_spec(n)) for n in sys.argv[1:]], HOOKS)"
    code = code.replace("HOOKS", "[getattr(finder, '__name__', '') for finder in sys.meta_path].index('Hook') > 0")
    names = ["a_library", "an_editable_library", "only_in_the_head"]
    done = subprocess.run([python, "-c", code, *names], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[True, True, False] True", done.stderr


def test_uncommitted_changes_are_not_measured_and_a_note_says_so(repository, tmp_path, unbuilt):
    assert prepare_side("git:HEAD", repository, tmp_path / "cache").notes == ()
    (repository / "pyproject.toml").write_text("broken")
    (note,) = prepare_side("git:HEAD", repository, tmp_path / "cache").notes
    assert "not committed" in note


def test_nothing_that_the_repository_configures_runs(repository, tmp_path, unbuilt):
    trap = tmp_path / "trapped"
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    git(repository, "config", "core.fsmonitor", f"touch {trap}; false")
    (repository / ".gitattributes").write_text("*.py filter=a.trap\n*.toml filter=process\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "filters")
    for name, value in [("a.trap.smudge", "cat"), ("a.trap.clean", "cat"), ("process.process", "cat")]:
        git(repository, "config", f"filter.{name}", f"touch {trap}; {value}")
        git(repository, "config", f"filter.{name.rpartition('.')[0]}.required", "true")
    trap.unlink(missing_ok=True)
    (repository / "toy_selectors" / "plugin.py").touch()  # git looks at its content
    side = prepare_side("git:HEAD", repository, tmp_path / "cache")
    assert not trap.exists()
    assert (side.python.parents[2] / "tree" / "toy_selectors" / "__init__.py").read_text() == "VERSION = '2.0'\n"


@pytest.mark.slow(reason="builds two environments with pip")
def test_each_environment_has_its_own_version_of_the_project_and_shares_the_rest(repository, tmp_path):
    pytest.importorskip("hatchling")
    found = []
    for revision in ("git:HEAD~1", "git:HEAD"):
        python = prepare_side(revision, repository, tmp_path / "cache").python
        code = "import toy_selectors, sklearn; print(toy_selectors.VERSION, sklearn.__file__)"
        found.append(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    assert [version for version, _ in found] == ["1.0", "2.0"]
    assert found[0][1] == found[1][1]


@pytest.mark.slow(reason="runs pip")
def test_a_project_that_does_not_build(repository, tmp_path):
    (repository / "pyproject.toml").write_text("[build-system]\nrequires = ['hatchling']\nbuild-backend = 'no'\n")
    git(repository, "commit", "-q", "-a", "-m", "broken")
    with pytest.raises(EnvironmentBuildError, match=r"the environment of \w+ cannot be built: .*pip's output is in"):
        prepare_side("git:HEAD", repository, tmp_path / "cache")
