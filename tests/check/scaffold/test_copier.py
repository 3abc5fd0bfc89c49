"""The template as copier sees it: the same files as `mfbench new-plugin` writes, and later improvements of them.

The repository is a copy of this one's template with tags of its own; Git is configured to find it at the real address.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mfbench import __version__
from mfbench_check.scaffold.render import PARTS, REPOSITORY, render, write

pytest.importorskip("copier", reason="copier is not installed")

ROOT = Path(__file__).resolve().parents[3]
TEMPLATE = "plugins/mfbench_check/scaffold"
WORKFLOW = f"{TEMPLATE}/template/.github/workflows/ci.yml.jinja"
pytestmark = pytest.mark.slow(reason="clones repositories of Git")


def git(folder, *words):
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def commit(folder, message="change"):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository of the template at the tag of this version, which Git takes for the real one."""
    origin = tmp_path / "origin"
    shutil.copytree(ROOT / TEMPLATE, origin / TEMPLATE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "copier.yml", origin)
    config = tmp_path / "gitconfig"
    config.write_text(
        "[user]\n\tname = test\n\temail = test@example.invalid\n"
        f'[url "file://{origin}"]\n\tinsteadOf = {REPOSITORY}.git\n[protocol "file"]\n\tallow = always\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    subprocess.run(["git", "init", "--quiet", "-b", "main", origin], check=True)
    commit(origin)
    git(origin, "tag", f"v{__version__}")
    return origin


def copier(*words, folder, answers=None):
    """Run the command of copier, which sees the configuration of Git as its environment has it."""
    data = [f"--data={key}={str(value).lower()}" for key, value in (answers or {}).items()]
    command = [sys.executable, "-m", "copier", *words, "--defaults", "--quiet", *data]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def copy(folder, answers):
    return copier("copy", REPOSITORY, "made", folder=folder, answers=answers)


def update(project):
    done = copier("update", "--skip-answered", folder=project)
    assert done.returncode == 0, done.stderr


def files_of(folder):
    paths = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts]
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def project_of(folder, files):
    """Write a package and commit it, as its author does."""
    write(files, folder)
    subprocess.run(["git", "init", "--quiet", "-b", "main", folder], check=True)
    commit(folder)
    return folder


@pytest.mark.parametrize("parts", [PARTS, ("selector",), ("dataset", "suite")], ids="+".join)
def test_copier_makes_the_same_files(tmp_path, repository, parts):
    answers = {"name": "my-method", **{part: part in parts for part in PARTS}}
    done = copy(tmp_path, answers)
    assert done.returncode == 0, done.stderr
    assert files_of(tmp_path / "made") == render("my-method", parts)


@pytest.mark.parametrize("answers", [{"name": "class"}, {"name": "demo", **dict.fromkeys(PARTS, False)}])
def test_copier_refuses_what_the_command_refuses(tmp_path, repository, answers):
    done = copy(tmp_path, answers)
    assert done.returncode != 0
    assert re.search(r"keyword of\s+Python|include at\s+least\s+one", done.stderr)


def test_an_update_brings_improvements_and_keeps_the_changes_of_the_author(tmp_path, repository):
    project = project_of(tmp_path / "project", render("demo"))
    readme = project / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("# mfbench-demo", "# My demo"), encoding="utf-8")
    commit(project)
    own = files_of(project)
    update(project)
    assert files_of(project) == own, "nothing has changed in the template"

    workflow = repository / WORKFLOW
    workflow.write_text(workflow.read_text(encoding="utf-8").replace('"3.13"]', '"3.13", "3.14"]'), encoding="utf-8")
    commit(repository)
    git(repository, "tag", f"v{__version__}.post1")
    update(project)
    updated = files_of(project)
    changed = {path for path in own if updated[path] != own[path]}
    assert changed == {".github/workflows/ci.yml", ".copier-answers.yml"}
    assert set(updated) == set(own)
    assert '"3.14"' in updated[".github/workflows/ci.yml"]
    assert f"_commit: v{__version__}.post1\n" in updated[".copier-answers.yml"]
