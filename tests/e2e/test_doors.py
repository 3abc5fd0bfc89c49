"""Optional packages are optional: without them, every other command works, and what needs one is a sentence."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib import metadata

import pytest

FEATURES = ("mfbench_catalog", "mfbench_gate", "mfbench_claims", "mfbench_check", "mfbench_cluster")
REFUSAL = """
import sys

class Refusal:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusal())
"""
# One process for all commands: to import the libraries takes longer than most of them.
COMMANDS = """
import contextlib, io, json, sys
from mfbench.cli import main

answers = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            code = int(end.code or 0)
    answers.append((code, out.getvalue(), err.getvalue()))
json.dump(answers, sys.stdout)
"""


@pytest.fixture
def site(tmp_path):
    """Return a function that makes an environment with some of the entry points, without some packages."""

    def make(is_kept, refused=()):
        folder = tmp_path / "site"
        # Of two distributions with one name, the one whose folder comes first is installed.
        shutil.copytree(metadata.distribution("mfbench")._path, folder / "mfbench-0.1.0.dist-info")
        entry_points = folder / "mfbench-0.1.0.dist-info" / "entry_points.txt"
        sections = re.findall(r"^\[(.+)\]$([^\[]*)", entry_points.read_text(), re.MULTILINE)
        kept = ((group, "\n".join(filter(partial(is_kept, group), lines.split("\n")))) for group, lines in sections)
        entry_points.write_text("\n".join(f"[{group}]{lines}" for group, lines in kept))
        (folder / "sitecustomize.py").write_text(REFUSAL.format(packages=refused))
        paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
        return {**os.environ, "PYTHONPATH": paths}

    return make


@pytest.fixture
def answers(tmp_path):
    """Return a function that runs commands, and returns the exit code and both outputs of each."""

    def run(environment, *commands):
        words = [sys.executable, "-c", COMMANDS, json.dumps([command.split(" ") for command in commands])]
        environment = {**environment, "NO_COLOR": "1", "COLUMNS": "100"}
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return dict(zip(commands, json.loads(done.stdout), strict=True))

    return run


SUITE = """
[suite]
name = "own"
[protocol]
folds = 2
repeats = 1
[[datasets]]
use = ["iris", "wine"]
[[methods]]
label = "DUM"
classifier = "dummy"
"""
SMALL = "suite uci --offline --only iris --only 1NN --only DUM --jobs 1 --no-page"
NEEDS = {
    "--reuse x.zip": "--reuse needs the package mfbench_claims",
    "--scheduler a --executor dask": "--scheduler needs the package mfbench_cluster",
    "--wait-for-workers 1m --executor dask": "--wait-for-workers needs the package mfbench_cluster",
    "--shard 1/2": "--shard needs the package mfbench_cluster",
}


def test_without_the_packages_of_features(tmp_path, site, answers):
    environment = site(lambda _, line: not re.search(rf"= ({'|'.join(FEATURES)})\b", line), FEATURES)
    (tmp_path / "claim.zip").write_bytes(b"PK\5\6" + bytes(18))  # an archive without members
    works = [SMALL, "report uci", "--help"]
    fails = [f"suite uci {option}" for option in NEEDS]
    done = answers(environment, *works, *fails, "gate", "report claim.zip", "suite uci --executor dask")
    for command in works:
        assert done[command][::2] == [0, ""], (command, done[command])
    assert "1NN" in done["report uci"][1] and "\n  gate " not in done["--help"][1]
    for command, sentence in zip(fails, NEEDS.values(), strict=True):
        assert done[command] == [2, "", f"mfbench: {sentence}, which is not installed here\n"]
    assert done["gate"][0] == 2 and "No such command 'gate'" in done["gate"][2]
    assert done["report claim.zip"] == [2, "", "mfbench: claim.zip is not the folder of a run, but a file\n"]
    assert done["suite uci --executor dask"][0] == 2
    words = [sys.executable, "-c", "import mfbench; mfbench.bundle_run"]
    shown = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert shown.stderr.endswith("AttributeError: module 'mfbench' has no attribute 'bundle_run'\n")


def test_the_choice_of_plugins_hides_no_feature(tmp_path, answers):
    (tmp_path / "own.toml").write_text(SUITE)
    environment = {**os.environ, "MFBENCH_LOAD_PLUGINS": "datasets,baselines,suites"}
    done = answers(environment, "gate --help", "suite own.toml --shard 1/2 --jobs 1 --no-page")
    assert all(code == 0 and not err for code, _, err in done.values()), done


def test_without_any_plugin(site, answers):
    done = answers(site(lambda group, _: group != "mfbench"), "--help", "plugins", "suites")
    assert all(code == 0 and not err for code, _, err in done.values()), done
