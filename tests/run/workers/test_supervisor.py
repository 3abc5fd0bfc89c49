"""Isolation of workers: no method changes another's numbers, and nothing that a method starts is left behind.

One run of many bad methods, next to built-in and honest ones, is compared with a run without the bad ones.
"""

import sys
import time

import numpy as np
import psutil
import pytest

import mfbench
from mfbench.model.trials import Status, Trial
from mfbench.run.workers.supervisor import failed

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere not everything is contained")

EVIL = """
import atexit, os, signal, subprocess, sys, time
import numpy as np
from mfbench import ClassifierSpec, SelectorSpec, hookimpl
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier

class Poison(BaseEstimator):
    def fit(self, X, y):
        KNeighborsClassifier.predict = lambda self, X: np.zeros(len(X), dtype=int)
        self.feature_importances_ = np.ones(X.shape[1])

class Forks(DummyClassifier):
    def fit(self, X, y):
        os.fork()  # the child comes back from here as well
        return super().fit(X, y)

class Escapes(DummyClassifier):
    def fit(self, X, y):
        subprocess.run(["sh", "-c", "setsid sleep 97531 & exit 0"])
        return super().fit(X, y)

class Shares(DummyClassifier):
    def fit(self, X, y):
        import mmap
        area = mmap.mmap(-1, 4 * 2**30)
        for start in range(0, len(area), 2**20):
            area[start : start + 2**20] = b"x" * 2**20
        time.sleep(1000)

class Draws(DummyClassifier):
    def fit(self, X, y):
        np.random.rand()
        return super().fit(X, y)

class Babbles(DummyClassifier):
    def fit(self, X, y):
        os.system("yes | head -c 3000000")
        return super().fit(X, y)

class Kills(DummyClassifier):
    def fit(self, X, y):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)

class Leaks(DummyClassifier):
    def fit(self, X, y):
        sys.leaked = [*getattr(sys, "leaked", []), np.ones(40_000_000)]
        self.n_ = len(sys.leaked)
        assert self.n_ < 3, "the worker was not replaced"
        return super().fit(X, y)

@hookimpl
def mfbench_classifiers():
    for name in "Forks Escapes Shares Draws Babbles Kills Leaks".split():
        yield ClassifierSpec(name=name.lower(), summary=name, factory=f"evil_plugin_of_tests:{name}")

@hookimpl
def mfbench_selectors():
    return [SelectorSpec(name="poison", summary="Bad", factory="evil_plugin_of_tests:Poison")]
"""

HONEST = """
import sys
from mfbench import SelectorSpec, hookimpl
from sklearn.base import BaseEstimator

class Honest(BaseEstimator):
    def fit(self, X, y):
        self.feature_importances_ = X.var(axis=0)
        assert "evil_plugin_of_tests" not in sys.modules

@hookimpl
def mfbench_selectors():
    return [SelectorSpec(name="honest", summary="Good", factory="honest_plugin_of_tests:Honest")]
"""

BAD = ["forks", "escapes", "shares", "draws", "babbles", "kills", "leaks"]
METHOD = '[[methods]]\nlabel = "{0}"\n{1}classifier = "{2}"\n'
SELECTOR = 'selector = "{}"\ntop = 2\n'
GOOD = [("A", SELECTOR.format("anova-f"), "knn"), ("H", SELECTOR.format("honest"), "knn"), ("K", "", "knn")]
EVERYTHING = [("P", SELECTOR.format("poison"), "knn"), *((name, "", name) for name in BAD), *GOOD]
HEAD = """
[suite]
name = "{0}"
[protocol]
timeout = 120
memory = 1.5
[profiles.quick]
folds = 3
repeats = 1
[[datasets]]
use = ["iris"]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("isolation")
    (folder / "evil_plugin_of_tests.py").write_text(EVIL)
    (folder / "honest_plugin_of_tests.py").write_text(HONEST)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)

        def run(name, methods, plugins, jobs):
            patch.setenv("MFBENCH_LOAD_PLUGINS", plugins)
            path = folder / f"{name}.toml"
            # Without the trial's limits a method that a defect lets hang would keep the test waiting.
            path.write_text(HEAD.format(name) + "".join(METHOD.format(*method) for method in methods))
            # Runs in one folder of reports would share results.
            return mfbench.run_suite(str(path), profile="quick", out=folder / f"out-{name}", jobs=jobs)

        with_evil = run("with", EVERYTHING, "all,evil_plugin_of_tests,honest_plugin_of_tests", 1)
        without = run("without", GOOD, "all,honest_plugin_of_tests", 2)
    return with_evil, without


def column(run, method, name):
    trials = run.trials.set_index(["method", "fold"]).sort_index()
    return [None if value != value else value for value in trials.loc[method][name]]  # NaN: there is none


def test_the_numbers_of_other_methods_stay_the_same_to_the_bit(runs):
    with_evil, without = runs
    for method, *_ in GOOD:
        assert column(with_evil, method, "status") == ["ok"] * 3, column(with_evil, method, "error_message")
        for name in ("accuracy", "balanced_accuracy"):
            assert column(with_evil, method, name) == column(without, method, name)
        assert with_evil.predictions("iris", method).equals(without.predictions("iris", method))
    assert np.mean(column(with_evil, "P", "accuracy")) < 0.5, "the method that poisons has itself to blame"


def test_each_bad_method_has_its_own_status(subtests, runs):
    for method, status, words in [
        ("forks", "ok", ""),
        ("escapes", "ok", ""),
        ("shares", "memory", "together exceeded the limit"),
        ("draws", "ok", ""),
        ("babbles", "ok", ""),
        ("kills", "crash", "killed together with its monitor"),
        ("leaks", "ok", ""),
    ]:
        with subtests.test(method=method, status=status, words=words):
            assert column(runs[0], method, "status") == [status] * 3, column(runs[0], method, "error_message")
            assert all(words in (message or "") for message in column(runs[0], method, "error_message"))


def test_what_a_method_touches_is_marked(runs):
    marks = {
        method: column(runs[0], method, "touched") for method in (*BAD, *"AHK") if method not in ("shares", "leaks")
    }
    assert marks.pop("draws") == ["the global random state of NumPy"] * 3
    assert all("child processes" in mark for mark in marks.pop("forks"))
    assert not any(mark for method in marks.values() for mark in method), marks


def test_no_process_is_left(runs):
    end = time.monotonic() + 60
    while any("97531" in (p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_results_of_a_trial_that_did_not_report():
    result = failed(Trial("key", "iris", "A", 0, 0, 0), Status.CRASH, "ProcessExpired", "gone")
    assert (result.key, result.status, result.error_message, np.isnan(result.duration)) == (
        "key",
        "crash",
        "gone",
        True,
    )
