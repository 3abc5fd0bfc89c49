"""Trends: where a series changed, by how much, and who did it: a commit or the machine."""

import os
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest
from typer.main import get_command

from mfbench.cli.entry import app
from mfbench_gate.comparison import parse_limits
from mfbench_gate.history.trends import bisect_command, select_series, trend_of


@pytest.fixture
def history(make_entry):
    """Return a function that makes the entries of a series; the kernels are constant unless they are named."""

    def make(seconds, kernels=None, **changes):
        kernels = kernels or [(0.1, 0.2, 0.3)] * len(seconds)
        return [make_entry(k, value, kernels=kernels[k], **changes) for k, value in enumerate(seconds)]

    return make


def noisy(levels, length=8, seed=0):
    rng = np.random.default_rng(seed)
    return list(np.repeat(levels, length) * np.exp(rng.normal(0.0, 0.01, length * len(levels))))


def trend(entries, measure="time"):
    (series,) = select_series(entries, measure)
    return trend_of(series)


def test_a_slowdown_lies_between_two_commits(history):
    entries = history(noisy([1.0, 1.3]))
    (change,) = trend(entries).changes
    assert change.size == pytest.approx(0.3, abs=0.02)
    assert (change.last_before.commit, change.first_after.commit) == (entries[7].commit, entries[8].commit)
    assert change.is_worse
    assert not change.machine_is_likelier
    assert change.kernels == pytest.approx(0.0)


def test_each_change_is_measured_against_the_level_before_it(history):
    first, second = trend(history(noisy([1.0, 2.0, 1.0]))).changes
    assert (first.position, second.position) == (8, 16)
    assert (first.size, second.size) == (pytest.approx(1.0, abs=0.03), pytest.approx(-0.5, abs=0.02))
    assert (first.is_worse, second.is_worse) == (True, False)


def test_levels(history):
    levels = trend(history(noisy([1.0, 2.0]))).levels
    assert [(start, end) for start, end, _ in levels] == [(0, 8), (8, 16)]
    assert [level for *_, level in levels] == pytest.approx([1.0, 2.0], rel=0.02)


def test_kernels_that_changed_by_as_much_point_at_the_machine(history):
    for factors, likelier in [
        ((1.3, 1.3, 1.3), True),
        ((1.2, 1.3, 1.0), True),
        ((1.05, 1.05, 1.05), False),
        ((2.0, 1.0, 1.0), False),
        ((0.7, 0.7, 0.7), False),
    ]:
        kernels = [(0.1, 0.2, 0.3)] * 8 + [tuple(np.multiply((0.1, 0.2, 0.3), factors))] * 8
        (change,) = trend(history(noisy([1.0, 1.3]), kernels)).changes
        assert change.machine_is_likelier == likelier


def test_kernels_that_changed_at_another_time_do_not_explain_a_change(history):
    levels = noisy([1.0, 1.3], 15)
    kernels = [(0.1, 0.2, 0.3)] * 21 + [(0.13, 0.26, 0.39)] * 9
    (change,) = trend(history(levels, kernels)).changes
    assert change.position == 15
    assert change.kernels == pytest.approx(0.0)
    assert not change.machine_is_likelier


def test_kernels_are_unknown_where_they_were_not_measured(history):
    (change,) = trend(history(noisy([1.0, 1.3]), [(0.1, 0.2, 0.3)] * 8 + [None] * 8)).changes
    assert change.kernels is None
    assert not change.machine_is_likelier


def test_kernels_do_not_explain_memory_and_scores(make_entry):
    entries = [
        make_entry(k, kernels=(0.1 * level,) * 3, measured={"memory": 1e6 * level, "scores": {"accuracy": 0.9 / level}})
        for k, level in enumerate(np.repeat([1.0, 1.5], 5))
    ]
    (memory,), (accuracy,) = trend(entries, "memory").changes, trend(entries, "accuracy").changes
    assert (memory.size, memory.is_worse, memory.kernels) == (pytest.approx(0.5), True, None)
    assert (accuracy.size, accuracy.is_worse, accuracy.kernels) == (pytest.approx(-0.3), True, None)


def test_no_commit_is_the_cause_of_a_change_within_one(history):
    entries = history(noisy([1.0, 1.3]), commit="a" * 40)
    (change,) = trend(entries).changes
    assert change.is_within_commit
    assert bisect_command(trend(entries).series, change) is None


def test_a_short_series_has_no_change(history):
    assert trend(history([1.0, 9.0, 1.0])).changes == ()


def test_an_improvement_is_not_bisected(history):
    result = trend(history(noisy([1.3, 1.0])))
    assert bisect_command(result.series, result.changes[0]) is None


GATE = """#!/bin/sh
# Stands for 'mfbench gate': a commit that does not build cannot be judged, a slow one is a regression.
echo "$@" >> "$CALLS"
test "$1" = gate || exit 2
grep -q broken state && exit 1
grep -q slow state && exit 4
exit 0
"""


@pytest.mark.skipif(shutil.which("git") is None or os.name == "nt", reason="needs Git and a shell")
def test_the_command_bisects_a_planted_slowdown(history, tmp_path):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "CALLS": "../calls"}
    environment |= {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mfbench").write_text(GATE)
    (tmp_path / "bin" / "mfbench").chmod(0o755)

    def run(command):
        done = subprocess.run(command, shell=True, cwd=project, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    run("git init --quiet")
    commits = []
    for state in ["fast", "fast", "broken", "fast", "fast", "slow", "slow", "slow", "slow"]:
        (project / "state").write_text(f"{state} {len(commits)}\n")
        commits.append(run("git add state && git commit --quiet --message x && git rev-parse HEAD"))
    # Only the first and the last commit were measured.
    entries = history(noisy([1.0, 1.3], 5), measured={"size": ""})
    entries = [
        entry.__class__(**{**vars(entry), "commit": commits[0] if k < 5 else commits[-1], "source": "my suite.toml"})
        for k, entry in enumerate(entries)
    ]
    result = trend(entries)
    output = run(bisect_command(result.series, result.changes[0]))
    assert re.search(rf"{commits[5]} is the first .?bad.? commit", output)  # later versions of git quote the word
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0].startswith(f"gate git:{commits[0]} git:HEAD my suite.toml --profile quick --only A --only iris ")


def test_the_limit_is_halfway_to_the_new_level(make_entry):
    for measure, part in [
        ("time", "--limit time=1.225,memory=1000 --undecided ok"),
        ("predict", "--limit time=1.225,memory=1000 --undecided ok"),
        ("wall", "--limit time=1.225,memory=1000 --undecided ok --clock wall"),
        ("memory", "--limit time=1000,memory=1.225 --undecided ok"),
        ("accuracy", "--limit time=1000,memory=1000,accuracy=0.15 --undecided ok"),
    ]:
        levels = np.repeat([1.0, 1.5], 5)
        costs = [{"predict_cpu": x, "fit_wall": x, "memory": 1e6 * x, "scores": {"accuracy": 0.9 / x}} for x in levels]
        entries = [make_entry(k, levels[k], measured=cost) for k, cost in enumerate(costs)]
        result = trend(entries, measure)
        command = bisect_command(result.series, result.changes[0])
        assert part in command
        words = shlex.split(shlex.split(command)[-1].partition(";")[0])
        # The command exists with these options, and the limits can be read.
        context = get_command(app).commands["gate"].make_context("gate", words[2:])
        assert parse_limits(context.params["limit"])


def test_labels_are_not_patterns(make_entry):
    entries = [make_entry(k, {("A[1]*", "iris"): value}) for k, value in enumerate(np.repeat([1.0, 1.5], 5))]
    result = trend(entries)
    assert "--only 'A[[]1][*]'" in bisect_command(result.series, result.changes[0]).replace("'\"'\"'", "'")
