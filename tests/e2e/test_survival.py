"""What a run must survive: bad plugins, killed processes, full disks, impatient users."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

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

SLOW_PLUGIN = """
    import time
    from pathlib import Path
    from mfbench import ClassifierSpec, hookimpl
    from sklearn.naive_bayes import GaussianNB

    class Slow(GaussianNB):
        def __init__(self, seconds=0.05):
            super().__init__()
            self.seconds = seconds

        def fit(self, X, y):
            time.sleep(self.seconds)
            Path("fitting").touch()
            while Path("hold").exists():
                time.sleep(0.02)
            return super().fit(X, y)

    @hookimpl
    def mfbench_classifiers():
        return [ClassifierSpec(name="slow", summary="A slow one", factory="slow_plugin:Slow")]
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
@pytest.mark.parametrize("kills", [2, 10])
def test_killed_runs_lose_nothing_and_repeat_nothing(host, small_suite, kills):
    host.plugin("slow_plugin", SLOW_PLUGIN)
    methods = {"1NN": "knn(n_neighbors=1)", **{f"S{i}": f"slow(seconds={0.2 + i / 100})" for i in range(5 * kills)}}
    small_suite(host, methods)
    generator = random.Random(kills)
    grown = [0]
    for _ in range(kills):
        process = host.start("suite", "own.toml", "--jobs", "2", start_new_session=True)
        # Wait until this start has stored something, then kill at a random moment: the main process alone.
        _wait_for(lambda: _stored(host) > grown[-1], process)
        time.sleep(generator.random())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        _wait_for(lambda pid=process.pid: not _group_is_alive(pid), None)
        grown.append(_stored(host))
    assert grown == sorted(set(grown)), "each start went on from where the last one was killed"
    total = 6 * len(methods)
    assert grown[-1] < total
    assert host.run("suite", "own.toml", "--jobs", "2").returncode == 0
    assert host.run("suite", "own.toml", "--jobs", "2", "--out", "other").returncode == 0
    assert _stored(host) == total
    interrupted = host.run("report", "own", "--csv").stdout
    assert interrupted == host.run("report", "other/own", "--csv").stdout
    assert len(load_run(host.run_folder()).trials) == total


@pytest.mark.slow(reason="waits for several trials of more than a second")
def test_ctrl_c_prints_what_there_is_and_how_to_go_on(host, small_suite):
    host.plugin("slow_plugin", SLOW_PLUGIN)
    small_suite(host, {"1NN": "knn(n_neighbors=1)", "S": "slow(seconds=1.5)"})
    process = host.start("suite", "own.toml", "--jobs", "1", start_new_session=True)
    _wait_for(lambda: _stored(host) >= 2, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "To resume, run: mfbench suite own.toml --jobs 1" in out
    assert "Not run yet" in out and "1NN" in out
    assert "Traceback" not in err
    _wait_for(lambda: not _group_is_alive(process.pid), None, 10)
    assert host.run("suite", "own.toml").returncode == 0


@pytest.mark.slow(reason="several runs of the command line")
def test_a_second_run_in_the_same_folder_stops(host, small_suite):
    host.plugin("slow_plugin", SLOW_PLUGIN)
    small_suite(host, {"S": "slow"})
    hold = host.folder / "hold"
    hold.touch()
    first = host.start("suite", "own.toml", "--jobs", "2")
    _wait_for((host.folder / "fitting").exists, first)
    second = host.run("suite", "own.toml")
    hold.unlink()
    assert second.returncode == 1
    assert "another mfbench is running in" in second.stderr
    first.communicate(timeout=300)
    assert first.returncode == 0


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
def test_a_full_disk_is_one_sentence_and_keeps_what_was_stored(host, small_suite):
    host.plugin("slow_plugin", SLOW_PLUGIN)
    small_suite(host, {f"S{i}": f"slow(seconds=0.0{i})" for i in range(1, 9)})

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (110_000, 110_000))

    result = host.run_process("suite", "own.toml", "--jobs", "1", preexec_fn=little_room)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1 and "earlier results stay readable" in result.stderr
    stored = _stored(host)
    assert host.run("report", "own").returncode == 0
    again = host.run("suite", "own.toml")
    assert again.returncode == 0
    assert f"{stored} done before" in again.stdout or stored == 0


@pytest.mark.slow(reason="several runs of the command line")
@pytest.mark.parametrize("room", [1_000, 30_000, 60_000, 90_000, 400_000])
def test_a_disk_that_is_full_from_the_start_is_one_sentence(host, room):
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    words = ["suite", "uci", "--only", "wdbc", "--only", "DUM", "--only", "1NN", "--jobs", "1"]
    result = host.run_process(*words, preexec_fn=little_room)
    assert result.returncode == (0 if room == 400_000 else 1), result.stderr
    assert "Traceback" not in result.stderr and "unexpected" not in result.stderr
    told = host.run("report", "uci")
    assert "unexpected" not in told.stderr
    assert host.run(*words).returncode == 0


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
def test_a_run_folder_that_is_removed_ends_the_run(host, small_suite):
    host.plugin("slow_plugin", SLOW_PLUGIN)
    small_suite(host, {f"S{i}": f"slow(seconds=0.{i})" for i in range(2, 9)})
    process = host.start("suite", "own.toml", "--jobs", "1")
    _wait_for(lambda: _stored(host) >= 1, process)
    shutil.rmtree(host.folder / "reports")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1 and "was removed" in err and "Traceback" not in err


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


def _stored(host) -> int:
    stores = list((host.folder / "reports").glob("own/*/results.sqlite"))
    if not stores:
        return 0
    try:
        with sqlite3.connect(stores[0]) as db:
            return db.execute("SELECT count(*) FROM trials").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def _wait_for(condition, process, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _group_is_alive(group: int) -> bool:
    """Tell whether a process group has a member that is not a zombie."""
    result = subprocess.run(["ps", "-o", "stat=", "--no-headers", "-g", str(group)], capture_output=True, text=True)
    return any(not state.strip().startswith("Z") for state in result.stdout.splitlines())
