"""The protocol ground-truth from outside: workers, kills, exports."""

import csv
import io
import signal
import time

import pytest

from mfbench import load_run

SUITE = """
    [suite]
    name = "own"
    seed = 7
    [protocol]
    kind = "ground-truth"
    rounds = 4
    [profiles.quick]
    rounds = 3
    [[datasets]]
    use = ["xor(n_samples=80, n_noise=4)", "friedman-1(n_samples=60)", "monks-1"]
    [[methods]]
    label = "RFF"
    selector = "relieff"
    top = "relevant"
    [[methods]]
    label = "RFF>0"
    selector = "relieff"
    [[methods]]
    label = "MI"
    selector = "mutual-info"
    [[methods]]
    label = "LAS"
    classifier = "lasso(C=0.1)"
    {more}
"""
SLOW = """
    [[methods]]
    label = "S"
    selector = "slow(seconds={seconds})"
"""
PLUGIN = """
    import time
    import numpy as np
    from mfbench import SelectorSpec, hookimpl
    from sklearn.base import BaseEstimator

    class Slow(BaseEstimator):
        def __init__(self, seconds=0.1, random_state=None):
            self.seconds, self.random_state = seconds, random_state

        def fit(self, X, y):
            time.sleep(self.seconds)
            self.feature_importances_ = np.random.RandomState(self.random_state).random_sample(X.shape[1])
            return self

    @hookimpl
    def mfbench_selectors():
        return [SelectorSpec(name="slow", summary="A slow one", factory="slow_plugin:Slow")]
"""


# The columns of the CSV report that describe a method alone, without a reference.
OWN = ("dataset", "method", "figure", "mean", "sd", "low", "high", "rounds", "planned")


@pytest.mark.slow(reason="several runs of the command line")
def test_results_depend_neither_on_workers_nor_on_other_methods(host):
    host.suite(SUITE.format(more=""))
    tables = []
    for jobs in ("1", "2"):
        result = host.run("suite", "own.toml", "--profile", "quick", "--jobs", jobs, "--out", f"out{jobs}")
        assert result.returncode == 0, result.stderr
        tables.append(host.run("report", f"out{jobs}/own", "--csv").stdout)
    assert tables[0] == tables[1]
    full = host.run("report", "out2/own", "--full").stdout
    assert "± " in full
    assert "Selected by rank (RFF): these methods only rank features" in " ".join(full.split())
    alone = host.run("suite", "own.toml", "--profile", "quick", "--only", "LAS", "--out", "alone")
    assert alone.returncode == 0, alone.stderr
    lasso_alone, lasso_of_all = (
        [{name: row[name] for name in OWN} for row in csv.DictReader(io.StringIO(text)) if row["method"] == "LAS"]
        for text in (host.run("report", "alone/own", "--csv").stdout, tables[0])
    )
    assert lasso_alone == lasso_of_all and lasso_alone


@pytest.mark.nightly(reason="several runs of the command line")
def test_a_killed_run_goes_on(host):
    host.plugin("slow_plugin", PLUGIN)
    host.suite(SUITE.format(more=SLOW.format(seconds=0.3)))
    process = host.start("suite", "own.toml", "--profile", "quick", "--jobs", "1", start_new_session=True)
    deadline = time.monotonic() + 500
    while stored(host) < 8:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = stored(host)
    assert 8 <= before < 45
    again = host.run("suite", "own.toml", "--profile", "quick", "--jobs", "2")
    assert again.returncode == 0, again.stderr
    assert "done before" in again.stdout
    assert host.run("suite", "own.toml", "--profile", "quick", "--out", "whole").returncode == 0
    assert host.run("report", "own", "--csv").stdout == host.run("report", "whole/own", "--csv").stdout


def stored(host):
    folders = list((host.folder / "reports" / "own").glob("*/results.sqlite"))
    if not folders:
        return 0
    import sqlite3

    with sqlite3.connect(folders[0]) as db:
        try:
            return db.execute("SELECT count(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.mark.slow(reason="several runs of the command line")
def test_pictures_and_mistakes(host):
    host.suite(SUITE.format(more=""))
    assert host.run("suite", "own.toml", "--profile", "quick", "--only", "monks-1").returncode == 0
    drawn = host.run("report", "own", "--figures", "pictures")
    assert drawn.returncode == 0, drawn.stderr
    assert sorted(path.name for path in (host.folder / "pictures").iterdir()) == [
        "rounds-01-monks-1.svg",
        "score-time.svg",
        "selection-01-monks-1.svg",
        "time-profile.svg",
        "weights-01-monks-1.svg",
        "wins-ties-losses.svg",
    ]
    run = load_run(host.run_folder())
    assert set(run.detection["figure"]) >= {"detection", "stability"}
    host.suite(SUITE.format(more="tune = { C = [1] }"))
    wrong = host.run("suite", "own.toml")
    assert wrong.returncode == 2
    assert "methods[3].tune" in wrong.stderr and "Traceback" not in wrong.stderr
