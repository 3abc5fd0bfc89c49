"""A hostile plugin beside an honest one: the numbers of all others are those of a run without it, to the bit.

Both are distributions of their own, found through their entry points like installed wheels. The hostile plugin does
what careless or hostile authors would write.
"""

import csv
import os
import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import psutil
import pytest
from forked_commands import called_here
from hostile import HONEST, MISCHIEF, install

from mfbench import run_suite

sys.path.append(str(Path(__file__).parents[1] / "run"))
from small_runs import InProcess

SUITE = """
[suite]
name = "own"
seed = 3

[protocol]
folds = 3
repeats = 1
timeout = {timeout}

[profiles.quick]
folds = 3

[[datasets]]
use = [{datasets}]
{methods}
"""

TRUSTED = {
    "ANOVA": ("anova-f", "knn@mfbench(n_neighbors=3)", 2),
    "RELIEF": ("relieff@mfbench(n_neighbors=3)", "naive-bayes", 2),
    "HONEST": ("spread", "nearest-centroid", 2),
    "ALL": (None, "knn@mfbench", None),
}
# What is registered with an error is not in the suite: a suite that names it is refused.
HOSTILE = {
    "POISONS": ("poisons", "naive-bayes", 2),
    "TAKEN": ("relieff@mischief", "knn@mfbench", 2),
    "INFINITE": ("infinite", "knn@mfbench", "all-weighted"),
    "WRAPS": ("wraps", "naive-bayes", 1),
    **{
        name.upper(): (None, name, None)
        for name in ["surrogate", "stranger", "slips", "exits", "detaches", "doubles", "crashes", "closes", "decorates"]
    },
    "OTHER-KNN": (None, "knn@mischief", None),
}
COSTLY = {name.upper(): (None, name, None) for name in ("babbles", "hoards")}
FAILING = {"INFINITE", "SURROGATE", "STRANGER", "SLIPS", "EXITS", "OTHER-KNN"}
FAILING |= {"CRASHES", "CLOSES", "DECORATES", "STAYS"}
MESSAGES = {
    "INFINITE": "selector 'infinite",
    "STRANGER": "predicted the class code 99",
    "CRASHES": "SIGSEGV",
    "STAYS": "longer than 5 s",
}

forks = pytest.mark.skipif(sys.platform == "win32", reason="the plugin forks")


def write_suite(folder, methods, datasets, timeout=60):
    tables = []
    for label, (selector, classifier, top) in methods.items():
        lines = ["[[methods]]", f'label = "{label}"', f'classifier = "{classifier}"']
        if selector:
            lines += [f'selector = "{selector}"', f"top = {top}" if isinstance(top, int) else f'top = "{top}"']
        tables.append("\n".join(lines))
    names = ", ".join(f'"{name}"' for name in datasets)
    text = SUITE.format(datasets=names, timeout=timeout, methods="\n".join(tables))
    folder.mkdir()
    (folder / "own.toml").write_text(text)
    return folder


def mfbench(folder, sites, *words, **environment):
    """Run the command as an installed script does: the working directory is not on the path."""
    script = sites[0].parent / "start.py"
    script.write_text("from mfbench.cli import main\n\nif __name__ == '__main__':\n    main()\n")
    paths = [*map(str, sites), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, script, *words],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment},
        capture_output=True,
        text=True,
        timeout=900,
    )


def stored(folder):
    """Return every trial of a run's plan as it is stored, without times and memory."""
    (store,) = folder.glob("reports/own/*/results.sqlite")
    with sqlite3.connect(store) as db:
        rows = db.execute(
            "SELECT plan.dataset, plan.method, plan.fold, trials.key, seed, status, error_message, n_warnings, "
            "warning, scores, n_selected, selected, weights, predictions FROM plan LEFT JOIN trials USING (key)"
        ).fetchall()
    return {row[:3]: row[3:] for row in rows}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    return [install(folder / name, name, files) for name, files in (("honest", HONEST), ("mischief", MISCHIEF))]


def run_alone(folder, sites, trusted, datasets):
    """Return the rows of a run without the hostile plugin."""
    write_suite(folder, trusted, datasets)
    ended = mfbench(folder, sites[:1], "suite", "own.toml", "--jobs", "1")
    assert ended.returncode == 0, ended.stderr
    rows = stored(folder)
    assert len(rows) == len(trusted) * len(datasets) * 3
    assert {row[2] for row in rows.values()} == {"ok"}
    return rows


@pytest.fixture(scope="module")
def alone(tmp_path_factory, sites):
    """The whole run without the hostile plugin."""
    return run_alone(tmp_path_factory.mktemp("alone") / "run", sites, TRUSTED, ["iris", "two-blobs"])


def check_beside(folder, sites, alone, methods, datasets, jobs, timeout=60):
    """Run all methods, the hostile ones first, and compare the others with the run without those."""
    write_suite(folder, methods, datasets, timeout)
    sleep = f"98{os.getpid()}"
    ended = mfbench(folder, sites, "suite", "own.toml", "--jobs", jobs, MISCHIEF_SLEEP=sleep)
    assert ended.returncode == 1, ended.stderr  # it ran, with failures
    assert "Traceback" not in ended.stderr
    rows = stored(folder)
    assert {place: row for place, row in rows.items() if place[1] in TRUSTED} == {
        place: row for place, row in alone.items() if place[0] in datasets
    }
    statuses = {}
    for (_, label, _), row in rows.items():
        statuses.setdefault(label, set()).add(row[2])
    for label in methods:
        assert ("ok" not in statuses[label]) == (label in FAILING), (label, statuses[label])
    messages = {label: row[3] for (_, label, _), row in rows.items()}
    for label, text in MESSAGES.items():
        assert text in messages.get(label, text), label
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", sleep]]
    return ended


@forks
def test_a_hostile_plugin_changes_no_number_of_others(tmp_path, sites, monkeypatch):
    """The small form of the tests below, whose run without the plugin needs no processes."""
    trusted = {label: TRUSTED[label] for label in ("ANOVA", "HONEST")}
    hostile = {label: HOSTILE[label] for label in ("POISONS", "INFINITE", "STRANGER")}
    monkeypatch.syspath_prepend(sites[0])
    monkeypatch.setattr("mfbench.run.runner.LocalPool", InProcess)
    monkeypatch.setattr("mfbench.host.probes.call", called_here)
    folder = write_suite(tmp_path / "alone", trusted, ["two-blobs"])
    run_suite(str(folder / "own.toml"), out=folder / "reports")
    alone = stored(folder)
    assert len(alone) == 6
    check_beside(tmp_path / "beside", sites, alone, {**hostile, **trusted}, ["two-blobs"], "1")


@pytest.mark.slow(reason="runs three suites of many failing trials")
@forks
def test_all_mischief_changes_no_number_of_others(tmp_path, sites, alone):
    folder, datasets = tmp_path / "run", ["iris", "two-blobs", "twins", "leaving"]
    ended = check_beside(folder, sites, alone, {**HOSTILE, **TRUSTED}, datasets, "2")
    for word in ("twins", "leaving"):  # left out, with the reason
        assert word in ended.stdout + ended.stderr
    again = mfbench(folder, sites, "suite", "own.toml", "--jobs", "2", MISCHIEF_SLEEP="9")
    assert again.returncode == 1
    assert {place: row for place, row in stored(folder).items() if place[1] in TRUSTED} == alone


@pytest.mark.slow(reason="writes 300 MB and keeps 160 MB in every trial")
@forks
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_nor_do_those_that_fill_logs_and_memory(tmp_path, sites, alone, jobs):
    folder = tmp_path / "run"
    check_beside(folder, sites, alone, {**HOSTILE, **COSTLY, **TRUSTED}, ["two-blobs"], jobs)
    (log,) = folder.glob("reports/own/*/workers.log")
    assert log.stat().st_size < 100_000_000


@pytest.mark.slow(reason="waits for three time limits")
@forks
def test_nor_does_one_that_hangs_and_ignores_requests_to_end(tmp_path, sites):
    trusted = {"HONEST": TRUSTED["HONEST"]}
    alone = run_alone(tmp_path / "alone", sites, trusted, ["two-blobs"])
    methods = {"STAYS": (None, "stays", None), **trusted}
    check_beside(tmp_path / "beside", sites, alone, methods, ["two-blobs"], "1", timeout=5)


def control_characters(text):
    return {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf") and sign not in "\n\t"}


@pytest.mark.slow(reason="runs a suite and two commands")
@forks
def test_names_and_messages_show_as_text(tmp_path, sites):
    """Control characters, markup and formulas of a plugin have no effect on a terminal or in a file of a run."""
    methods = {"DECORATES": (None, "decorates", None), "HONEST": TRUSTED["HONEST"]}
    folder = write_suite(tmp_path / "run", methods, ["two-blobs"])
    ended = mfbench(folder, sites, "suite", "own.toml", "--jobs", "1")
    assert ended.returncode == 1, ended.stderr
    shown = [ended, mfbench(folder, sites, "plugins"), mfbench(folder, sites, "report", "own", "--full")]
    for one in shown:
        assert not control_characters(one.stdout + one.stderr), one.args
    assert "[bold]b[/bold]" in shown[2].stdout
    files = [file for file in folder.rglob("*") if file.suffix in (".html", ".md", ".csv", ".json")]
    assert ".html" in {file.suffix for file in files}
    for file in files:
        text = file.read_bytes().decode()
        assert not control_characters(text), file.name
        assert "<script>alert(1)" not in text or file.suffix in (".csv", ".json"), file.name
        if file.suffix == ".csv":
            assert not [row for row in csv.reader(text.splitlines()) if any(cell.startswith("=") for cell in row)]


def test_listing_names_what_is_wrong_and_lists_the_rest(tmp_path, sites):
    ended = mfbench(tmp_path, sites, "plugins")
    assert ended.returncode == 0, ended.stderr
    assert all(word in ended.stdout for word in ("spread", "anova-f", "poisons", "relieff"))
    for word in ("list-grid", "no-summary", "mfbench_report_sections", "'exits' is registered twice"):
        assert word in ended.stderr, word


@pytest.mark.slow(reason="runs two suites; the parts are tested in tests/host and tests/suite")
@pytest.mark.parametrize(
    "methods",
    [
        {"LEAVES": ("leaves", "knn@mfbench", 2)},
        {"BREAKS": (None, "breaks", None)},
        {"AMBIGUOUS": ("relieff", "knn@mfbench", 2)},
    ],
    ids=["import that ends the process", "import that raises", "ambiguous name"],
)
def test_a_method_that_cannot_be_used_is_a_failure_that_is_named(tmp_path, sites, methods):
    folder = write_suite(tmp_path / "run", {**methods, **TRUSTED}, ["iris"])
    ended = mfbench(folder, sites, "suite", "own.toml", "--jobs", "1")
    assert ended.returncode in (1, 2)
    assert next(filter(None, next(iter(methods.values())))) in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow(reason="runs a suite and three commands")
def test_a_hostile_working_directory_executes_nothing(tmp_path, sites):
    """Files of an unpacked archive: modules that shadow the standard library, and a repository's configuration."""
    folder = write_suite(tmp_path / "run", {"ALL": TRUSTED["ALL"]}, ["iris"])
    for name in ("socket", "selectors", "numpy", "sitecustomize", "mfbench"):
        (folder / f"{name}.py").write_text(f"open('PWNED', 'w').write({name!r})\nraise ImportError\n")
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "refs").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(
        '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch PWNED; false"\n'
    )
    ended = mfbench(folder, sites[:1], "suite", "own.toml", "--jobs", "1")
    assert not (folder / "PWNED").exists()
    assert ended.returncode == 0, ended.stderr
