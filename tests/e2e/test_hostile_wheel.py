"""A hostile wheel in a clean environment, beside the scaffold's: each fault is named and costs others nothing."""

import json
import os
import sys
import unicodedata

import psutil
import pytest
from hostile import MISCHIEF, build_wheel
from sites import ROOT, Environment, build

from mfbench_check.catalog import all_checks
from mfbench_check.scaffold.render import render, write

pytestmark = [
    pytest.mark.nightly(reason="builds and installs four wheels, and waits for time limits"),
    pytest.mark.skipif(sys.platform == "win32", reason="the plugin forks"),
]

# Quick checks, which show how a method ends; all others are skipped.
CHECKS = {
    *("registration", "factory", "fit", "importances-array", "importances-finite", "predictions", "spec"),
    *("dataset-loads", "dataset-shape", "suite-valid"),
}
SKIP = [word for check in all_checks() if check.id not in CHECKS for word in ("--skip", f"{check.id}=not tested here")]
QUICK = ["--timeout", "10", *SKIP]
# Subject: the check that fails, and what the verdict shows.
CAUSES = {
    "mischief": ("registration", "'exits' is registered twice"),
    "leaves": ("factory", "exit code 0"),
    "breaks": ("factory", "broken import"),
    "infinite": ("importances-finite", "inf"),
    "surrogate": ("fit", "not text"),
    "stranger": ("predictions", "99"),
    "slips": ("fit", "exit code 0"),
    "exits": ("fit", "SystemExit"),
    "crashes": ("fit", "SIGSEGV"),
    "closes": ("fit", "exit code 1"),
    "fills": ("fit", ""),  # on a slow machine the time limit is reached before that of memory
    "stays": ("fit", "longer than 10 s"),
    "decorates": ("fit", "[bold]b[/bold]"),
    "leaving": ("dataset-loads", "exit code 0"),
    "twins": ("dataset-shape", "'a' occurs twice"),
}
# What they do does no harm to the process that waits for them.
HARMLESS = {"wraps", "detaches", "doubles", "babbles", "hoards"}
STUCK = {
    "stuck/__init__.py": "",
    "stuck/raises.py": "raise RuntimeError('this import raises')",
    "stuck/hangs.py": """
        import signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(1)
    """,
}
SUITE = """
[suite]
name = "own"
seed = 3

[protocol]
folds = 3
repeats = 1
timeout = 60

[profiles.quick]
folds = 3

[[datasets]]
use = ["iris"]

[[methods]]
label = "CRASHES"
classifier = "crashes"

[[methods]]
label = "DEMO"
selector = "demo"
top = 2
classifier = "knn@mfbench"

[[methods]]
label = "BAYES"
classifier = "naive-bayes"
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment with the wheels of mfbench, of the scaffold and of the hostile plugin."""
    folder = tmp_path_factory.mktemp("hostile")
    write(render("demo"), folder / "demo")
    environment = Environment(folder / "environment")
    environment.install(
        build(ROOT, folder / "host"),
        build(folder / "demo", folder / "scaffold"),
        build_wheel(folder / "mischief", "mischief", MISCHIEF),
    )
    return environment


def control_characters(text):
    return {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf") and sign != "\n"}


def test_each_fault_is_named_and_the_scaffold_passes(environment, tmp_path, monkeypatch):
    sleep = f"97{os.getpid()}"
    monkeypatch.setenv("MISCHIEF_SLEEP", sleep)
    done = environment.run("mfbench", "check", "mischief", "mfbench-demo", "--json", *QUICK, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    failed = {
        (one["subject"].partition("@")[0], one["check"]): one["seen"] for one in verdicts if one["outcome"] == "fail"
    }
    for subject, (check, cause) in CAUSES.items():
        assert cause in failed.get((subject, check), "not failed"), (subject, failed)
    assert not HARMLESS & {subject for subject, _ in failed}
    own = [one for one in verdicts if one["package"] == "mfbench-demo"]
    assert {one["kind"] for one in own} == {"plugin", "selector", "classifier", "dataset", "suite"}
    assert {one["outcome"] for one in own} <= {"pass", "skipped", "not applicable"}
    assert len({(one["kind"], one["subject"], one["check"]) for one in verdicts}) == len(verdicts)
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", sleep]]


def test_names_and_messages_show_as_text(environment, tmp_path):
    done = environment.run("mfbench", "check", "decorates", "adorned", "mischief", *QUICK, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert not control_characters(done.stdout + done.stderr)
    assert "[bold]b[/bold]" in done.stdout


def test_in_a_suite_only_its_own_trials_fail(environment, tmp_path):
    (tmp_path / "own.toml").write_text(SUITE)
    done = environment.run("mfbench", "suite", "own.toml", "--jobs", "2", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "SIGSEGV" in done.stdout
    failures = [line for line in done.stdout.splitlines() if line.startswith("Failed: ")]
    assert len(failures) == 1
    assert failures[0].startswith("Failed: CRASHES: 3 trials on iris")


@pytest.mark.parametrize(("name", "cause"), [("raises", "this import raises"), ("hangs", "longer than 10 s")])
def test_a_plugin_that_cannot_be_imported_is_named(environment, tmp_path, name, cause):
    """Installed last, into the environment of all: the commands before it need not wait for its import."""
    environment.install(build_wheel(tmp_path / "stuck", f"stuck-{name}", STUCK, f"stuck.{name}"))
    done = environment.run("mfbench", "check", f"stuck-{name}", "--json", *QUICK, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert (verdict["check"], verdict["package"], verdict["outcome"]) == ("registration", f"stuck-{name}", "fail")
    assert cause in verdict["seen"]
