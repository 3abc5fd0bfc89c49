"""What a run must survive: bad plugins, killed processes, full disks, impatient users."""

import subprocess
import sys

import pytest
from hosts import SLOW_PLUGIN

from mfbench import load_run

BAD_PLUGIN = """
    import ctypes, os, time
    from mfbench import ClassifierSpec, hookimpl
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.dummy import DummyClassifier

    class Raises(DummyClassifier):
        def fit(self, X, y):
            raise ValueError("this method does not like the data")

    class Segfaults(DummyClassifier):
        def fit(self, X, y):
            ctypes.string_at(0)

    class Leaves(DummyClassifier):
        def fit(self, X, y):
            os._exit(7)

    class Hangs(DummyClassifier):
        def fit(self, X, y):
            time.sleep(1000)

    class Eats(DummyClassifier):
        def fit(self, X, y):
            import numpy as np
            self.meal_ = [np.ones(10_000_000) for _ in range(10_000)]

    class Exits(DummyClassifier):
        def fit(self, X, y):
            raise SystemExit(5)

    class Interrupts(DummyClassifier):
        def fit(self, X, y):
            raise KeyboardInterrupt

    class Slips(DummyClassifier):
        def fit(self, X, y):
            os._exit(0)

    class Forks(DummyClassifier):
        def fit(self, X, y):
            import subprocess
            subprocess.Popen(["sleep", "987"])
            time.sleep(1000)

    class Babbles(DummyClassifier):
        def predict(self, X):
            return ["no class code"] * len(X)

    @hookimpl
    def mfbench_classifiers():
        for name in "Raises Segfaults Leaves Hangs Eats Exits Interrupts Slips Forks Babbles".split():
            yield ClassifierSpec(name=name.lower(), summary=name, factory=f"bad_plugin:{name}")
"""


@pytest.mark.slow(reason="nine methods, eight of which end their workers")
def test_a_bad_method_fails_alone(host, small_suite):
    host.plugin("bad_plugin", BAD_PLUGIN)
    bad = ["raises", "segfaults", "leaves", "eats", "exits", "interrupts", "slips", "babbles"]
    small_suite(host, {"good": "knn", **{name: name for name in bad}}, timeout=300, memory=1)
    result = host.run("suite", "own.toml", "--jobs", "2")
    assert result.returncode == 1, result.stderr
    trials = load_run(host.run_folder()).trials
    outcome = trials.groupby("method")["status"].agg(set).to_dict()
    assert outcome.pop("good") == {"ok"}
    assert outcome == {
        "raises": {"error"},
        "segfaults": {"crash"},
        "leaves": {"crash"},
        "eats": {"memory"},
        "exits": {"error"},
        "interrupts": {"error"},
        "slips": {"crash"},
        "babbles": {"error"},
    }
    messages = trials.groupby("method")["error_message"].first()
    assert "does not like the data" in messages["raises"]
    assert "SIGSEGV" in messages["segfaults"]
    assert "exit code 7" in messages["leaves"]
    assert "class codes" in messages["babbles"]
    assert "Traceback" not in result.stderr
    failed = "Failed: raises: 6 trials on iris and wine; error: this method does not like the data"
    assert failed in result.stdout
    remarks = host.run("report", "own", "--full").stdout
    assert "Failed: raises on iris: 3 × error: ValueError: this method does not like the data" in remarks


@pytest.mark.slow(reason="twelve trials run into their time limit")
def test_a_method_that_hangs_is_ended_with_all_that_it_started(host, small_suite):
    host.plugin("bad_plugin", BAD_PLUGIN)
    small_suite(host, {name: name for name in ("hangs", "forks")}, timeout=4)
    assert host.run("suite", "own.toml", "--jobs", "2").returncode == 3
    trials = load_run(host.run_folder()).trials
    assert set(trials["status"]) == {"timeout"}
    assert all("longer than 4 s" in message for message in trials["error_message"])
    left = subprocess.run(["pgrep", "-f", "sleep 987"], capture_output=True, text=True).stdout
    assert left == "", "what a killed trial started is ended too"


def test_nothing_measured_has_a_code_of_its_own(host, small_suite):
    host.in_process = True
    host.plugin("bad_plugin", BAD_PLUGIN)
    small_suite(host, {"raises": "raises"})
    assert host.run("suite", "own.toml").returncode == 3


@pytest.mark.slow(reason="several runs of the command line")
def test_a_failed_trial_runs_again_on_request(host, small_suite):
    host.plugin("bad_plugin", BAD_PLUGIN)
    small_suite(host, {"good": "knn", "raises": "raises"})
    host.run("suite", "own.toml")
    assert "12 done before" in host.run("suite", "own.toml").stdout
    assert "6 done before" in host.run("suite", "own.toml", "--retry-failed").stdout


@pytest.mark.slow(reason="several runs of the command line")
def test_editing_a_helper_of_a_plugin_makes_its_trials_new(host, small_suite):
    plugin = SLOW_PLUGIN.replace("import time", "import helper_module").replace(
        "time.sleep(self.seconds)", "helper_module.wait()"
    )
    helper = host.folder / "helper_module.py"
    helper.write_text("def wait():\n    pass\n")
    host.plugin("slow_plugin", plugin)
    small_suite(host, {"1NN": "knn(n_neighbors=1)", "S": "slow"})
    host.run("suite", "own.toml")
    assert "12 done before" in host.run("suite", "own.toml").stdout
    helper.write_text("def wait():\n    return None\n")
    assert "6 done before" in host.run("suite", "own.toml").stdout


@pytest.mark.slow(reason="several runs of the command line")
def test_results_on_a_medium_that_cannot_be_written_to_are_readable(host, small_suite):
    small_suite(host, {"1NN": "knn(n_neighbors=1)"})
    host.run("suite", "own.toml")
    before = host.run("report", "own", "--csv").stdout
    mounted = subprocess.run(
        ["mount", "--bind", "-o", "ro", "reports", "reports"], cwd=host.folder, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this user cannot mount a folder read-only")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", "reports"], cwd=host.folder, check=True)
        result = host.run("report", "own", "--csv")
    finally:
        subprocess.run(["umount", "reports"], cwd=host.folder, check=True)
    assert result.stdout == before and before, result.stderr


@pytest.mark.slow(reason="several runs of the command line")
def test_an_edit_between_two_runs_of_one_process_is_seen(host, small_suite):
    host.plugin("slow_plugin", SLOW_PLUGIN)
    small_suite(host, {"S": "slow"})
    script = host.folder / "script.py"
    script.write_text(
        "import mfbench, pathlib\n"
        "if __name__ == '__main__':\n"
        "    first = mfbench.run_suite('own.toml', jobs=1)\n"
        "    keys = set(first.trials['key'])\n"
        "    plugin = pathlib.Path('slow_plugin.py')\n"
        "    plugin.write_text(plugin.read_text() + '# edited')\n"
        "    second = mfbench.run_suite('own.toml', jobs=1)\n"
        "    print(len(keys & set(second.trials['key'])))\n"
        "    try:\n"
        "        first.selected\n"
        "    except mfbench.errors.RunError as error:\n"
        "        print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, str(script)],
        env=host.environment,
        cwd=host.folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    shared, late = result.stdout.strip().split("\n")
    assert shared == "0", result.stderr
    assert late.endswith("were planned again after this run was loaded; load it again")


def test_a_place_that_cannot_be_written_to_is_one_sentence(host, small_suite):
    small_suite(host, {"1NN": "knn(n_neighbors=1)"})
    (host.folder / "file").write_text("not a folder")
    result = host.run("suite", "own.toml", "--out", "file")
    assert result.returncode == 1
    assert "cannot write to" in result.stderr and "--out" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow(reason="several runs of the command line")
def test_a_damaged_store_is_one_sentence(host, small_suite):
    small_suite(host, {"1NN": "knn(n_neighbors=1)"})
    host.run("suite", "own.toml")
    (host.run_folder() / "results.sqlite").write_bytes(b"this is not a database, despite its name" * 100)
    result = host.run("suite", "own.toml")
    assert result.returncode == 1
    assert "is damaged" in result.stderr and "--fresh" in result.stderr
    assert host.run("suite", "own.toml", "--fresh").returncode == 0


@pytest.mark.slow(reason="several runs of the command line")
def test_a_script_needs_no_guard(host):
    script = host.folder / "script.py"
    script.write_text(
        "import mfbench\nmfbench.run_suite('uci', only=['iris', '1NN'], out='out', jobs=1)\nprint('ran once')\n"
    )
    result = subprocess.run(
        [sys.executable, str(script)],
        env=host.environment,
        cwd=host.folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "ran once\n"
