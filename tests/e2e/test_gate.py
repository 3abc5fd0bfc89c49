"""The gate on a repository with a planted slowdown: environments, processes, verdicts, and git that bisects with it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mfbench_gate.history.storage import Machine
from mfbench_gate.history.trends import LevelChange, Point, Series, bisect_command

pytest.importorskip("hatchling")

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "toy-selectors"
version = "1.0"
dependencies = ["mfbench"]
[project.entry-points.mfbench]
toy = "toy_selectors.plugin"
"""
PLUGIN = """
from mfbench import SelectorSpec, hookimpl

@hookimpl
def mfbench_selectors():
    return [SelectorSpec(name="toy", summary="Toy", factory="toy_selectors.selector:Toy")]
"""
SELECTOR = """
import numpy as np
from sklearn.base import BaseEstimator

class Toy(BaseEstimator):
    def fit(self, X, y):
        for _ in range({rounds}):
            self.feature_importances_ = np.var(X, axis=0)
        return self
"""
SUITE = """
[suite]
name = "toy"
[protocol]
folds = 2
repeats = 1
[profiles.gate]
folds = 2
[[datasets]]
use = ["iris"]
[[methods]]
label = "TOY"
selector = "toy"
classifier = "knn"
"""
# The third commit makes the fit half as slow again.
ROUNDS = (1000, 1001, 1500, 1501)


@pytest.fixture
def environment(tmp_path):
    """Return variables with which ``mfbench`` is found, and its cache and Git's settings are our own."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


@pytest.fixture
def run(tmp_path, environment):
    def run(*words):
        folder = tmp_path / "toy"
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def commits(tmp_path, run):
    """Return the commits of the repository; the suite is not part of it."""
    package = tmp_path / "toy" / "toy_selectors"
    package.mkdir(parents=True)
    (tmp_path / "toy.toml").write_text(SUITE)
    (tmp_path / "toy" / "pyproject.toml").write_text(PYPROJECT)
    (package / "__init__.py").touch()
    (package / "plugin.py").write_text(PLUGIN)
    run("git", "init", "--quiet", "--initial-branch", "main")
    names = []
    for rounds in ROUNDS:
        (package / "selector.py").write_text(SELECTOR.format(rounds=rounds))
        run("git", "add", "--all")
        run("git", "commit", "--quiet", "--message", f"{rounds} rounds")
        names.append(run("git", "rev-parse", "HEAD").stdout.strip())
    return names


def command(tmp_path, first, last):
    """Return the command that a history prints for a slowdown between two commits."""
    points = [Point(commit, "", seconds, None) for commit, seconds in ((first, 1.0), (last, 1.5))]
    machine = Machine("", 1, "")
    series = Series("toy", "gate", str(tmp_path / "toy.toml"), "TOY", "iris", "", "time", machine, tuple(points))
    return bisect_command(series, LevelChange(1, 1.0, 1.5, 0.5, True, *points, None, False))


@pytest.mark.slow(reason="builds two environments and measures in them")
def test_a_library_that_is_no_plugin_is_measured_and_nothing_else(tmp_path, run, commits):
    project = tmp_path / "toy" / "pyproject.toml"
    project.write_text(PYPROJECT.partition("[project.entry-points")[0].replace('"mfbench"', ""))
    run("git", "commit", "--quiet", "--all", "--message", "no plugin")
    run("git", "commit", "--quiet", "--allow-empty", "--message", "nothing")
    words = ["git:HEAD~1", "git:HEAD", "timing", "--add", "MINE = toy_selectors.selector:Toy -> knn", "--budget", "40s"]
    done = run("env", f"PYTHONPATH={tmp_path / 'toy'}", "mfbench", "gate", *words, "--json")
    comparison = json.loads(done.stdout)
    assert {cell["method"] for cell in comparison["cells"]} == {"MINE"}, done.stderr
    assert {cell["measure"] for cell in comparison["cells"]} == {"fit", "memory", "accuracy"}


@pytest.mark.nightly(reason="builds environments and measures two commits")
def test_git_bisects_with_the_gate(tmp_path, run, commits):
    found = run("sh", "-c", command(tmp_path, commits[0], commits[-1]))
    message = rf"{commits[2]} is the first .?bad.? commit"  # later versions of git quote the word
    assert re.search(message, found.stdout), found.stdout + found.stderr
