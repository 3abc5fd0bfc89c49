"""A hostile plugin beside an honest one: the numbers of all others are those of a run without it, to the bit.

Both are distributions of their own, found through their entry points like installed wheels. The hostile plugin does
what careless or hostile authors would write.
"""

import os
import sqlite3
import subprocess
import sys
import textwrap

import psutil
import pytest

HONEST = {
    "honest/__init__.py": "",
    "honest/plugin.py": """
        from mfbench import DatasetSpec, SelectorSpec, hookimpl

        @hookimpl
        def mfbench_selectors():
            return [SelectorSpec(name="spread", summary="Distance of class means", factory="honest.selector:Spread")]

        @hookimpl
        def mfbench_datasets():
            return [DatasetSpec(name="two-blobs", summary="Two classes", loader="honest.data:blobs")]
    """,
    "honest/selector.py": """
        import numpy as np
        from sklearn.base import BaseEstimator

        class Spread(BaseEstimator):
            def __init__(self, noise=0.01, random_state=None):
                self.noise, self.random_state = noise, random_state

            def fit(self, X, y):
                means = np.array([X[y == code].mean(axis=0) for code in np.unique(y)])
                noise = np.random.default_rng(self.random_state).normal(size=X.shape[1])
                self.feature_importances_ = np.ptp(means, axis=0) + self.noise * noise
                return self
    """,
    "honest/data.py": """
        import numpy as np
        from mfbench import Dataset

        def blobs(n_samples=60):
            y = np.arange(n_samples) % 2
            X = np.random.default_rng(0).normal(size=(n_samples, 4))
            X[:, 0] += y
            return Dataset(
                name="two-blobs", X=X, y=y.astype(np.int64), class_names=("no", "yes"), feature_names=tuple("abcd"),
                categorical=np.zeros(4, bool),
            )
    """,
}

MISCHIEF = {
    "mischief/__init__.py": "",
    "mischief/nothing.py": "VALUE = 1",
    "mischief/plugin.py": """
        from mfbench import ClassifierSpec, DatasetSpec, SelectorSpec, hookimpl

        SELECTORS = "Poisons Infinite Wraps"
        CLASSIFIERS = "Surrogate Stranger Slips Exits Detaches Doubles Babbles Hoards"

        @hookimpl
        def mfbench_selectors():
            for name in SELECTORS.split():
                yield SelectorSpec(name=name.lower(), summary=name, factory=f"mischief.methods:{name}")
            yield SelectorSpec(name="relieff", summary="a name that is taken", factory="mischief.methods:Poisons")
            yield SelectorSpec(name="list-grid", summary="", factory="mischief.methods:Poisons", grid=[1])
            yield SelectorSpec(name="no-summary", summary=None, factory="mischief.methods:Poisons")
            yield SelectorSpec(name="leaves", summary="ends the process that imports it", factory="mischief.leaves:X")

        @hookimpl
        def mfbench_classifiers():
            for name in CLASSIFIERS.split():
                yield ClassifierSpec(name=name.lower(), summary=name, factory=f"mischief.methods:{name}")
            yield ClassifierSpec(name="knn", summary="a name that is taken", factory="mischief.methods:Stranger")

        @hookimpl
        def mfbench_datasets():
            return [
                DatasetSpec(name="twins", summary="two features of one name", loader="mischief.data:twins"),
                DatasetSpec(name="leaving", summary="ends the process", loader="mischief.leaves:load"),
            ]

        @hookimpl
        def mfbench_suites():
            raise GeneratorExit

        def mfbench_report_sections(run):  # the mark of a hook is missing
            return []
    """,
    "mischief/leaves.py": """
        import os
        os._exit(0)
    """,
    "mischief/data.py": """
        from dataclasses import replace
        from honest.data import blobs

        def twins():
            return replace(blobs(), name="twins", feature_names=("a", "a", "b", "c"))
    """,
    "mischief/methods.py": """
        import os, resource, subprocess, sys, time, warnings
        import numpy as np
        from sklearn.base import BaseEstimator
        from sklearn.dummy import DummyClassifier

        class Selector(BaseEstimator):
            def fit(self, X, y):
                self.feature_importances_ = np.arange(X.shape[1], dtype=float)
                self.act()
                return self

            def act(self):
                pass

        class Poisons(Selector):
            \"\"\"Works, and leaves its process in a state in which every other method would be wrong.\"\"\"

            def act(self):
                from sklearn.neighbors import KNeighborsClassifier
                from sklearn.feature_selection import _univariate_selection
                import sklearn.neighbors
                KNeighborsClassifier.predict = lambda self, X: np.zeros(len(X), dtype=np.int64)
                sys.modules["honest.selector"] = None
                np.random.default_rng = lambda seed=None: np.random.Generator(np.random.PCG64(0))
                np.argsort = lambda *arguments, **keywords: np.zeros(1, dtype=int)
                np.random.seed(0)
                os.environ["PYTHONPATH"] = "/nowhere"
                os.chdir("/")
                warnings.simplefilter("error")

        class Infinite(Selector):
            def act(self):
                self.feature_importances_[0] = np.inf

        class Wraps(Selector):
            \"\"\"Raises its own memory limit again.\"\"\"

            def act(self):
                hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
                resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

        class Surrogate(DummyClassifier):
            def fit(self, X, y):
                raise ValueError("not text: \\udcff")

        class Stranger(DummyClassifier):
            def predict(self, X):
                return np.full(len(X), 99)

        class Slips(DummyClassifier):
            def fit(self, X, y):
                os._exit(0)

        class Exits(DummyClassifier):
            def fit(self, X, y):
                raise SystemExit(0)

        class Detaches(DummyClassifier):
            \"\"\"Leaves a process of a session of its own behind.\"\"\"

            def fit(self, X, y):
                subprocess.Popen(["sleep", os.environ["MISCHIEF_SLEEP"]], start_new_session=True)
                return super().fit(X, y)

        class Doubles(DummyClassifier):
            \"\"\"Forks, and both processes go on with the trial.\"\"\"

            def fit(self, X, y):
                os.fork()
                return super().fit(X, y)

        class Babbles(DummyClassifier):
            def fit(self, X, y):
                for _ in range(100):
                    os.write(1, b"a" * 1_000_000)
                return super().fit(X, y)

        class Hoards(DummyClassifier):
            kept = []

            def fit(self, X, y):
                self.kept.append(np.ones(20_000_000))
                return super().fit(X, y)
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
    **{name.upper(): (None, name, None) for name in ["surrogate", "stranger", "slips", "exits", "detaches", "doubles"]},
    "OTHER-KNN": (None, "knn@mischief", None),
}
COSTLY = {name.upper(): (None, name, None) for name in ("babbles", "hoards")}
FAILING = {"INFINITE", "SURROGATE", "STRANGER", "SLIPS", "EXITS", "OTHER-KNN"}


forks = pytest.mark.skipif(sys.platform == "win32", reason="the plugin forks")


def install(folder, name, files):
    """Lay out an installed distribution: its package and the metadata that Python finds its entry point by."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(textwrap.dedent(text))
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[mfbench]\n{name} = {name}.plugin\n")
    (information / "RECORD").write_text("".join(f"{path},,\n" for path in files))
    return folder


def write_suite(folder, methods, datasets):
    tables = []
    for label, (selector, classifier, top) in methods.items():
        lines = ["[[methods]]", f'label = "{label}"', f'classifier = "{classifier}"']
        if selector:
            lines += [f'selector = "{selector}"', f"top = {top}" if isinstance(top, int) else f'top = "{top}"']
        tables.append("\n".join(lines))
    text = SUITE.format(datasets=", ".join(f'"{name}"' for name in datasets), methods="\n".join(tables))
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


def check_beside(folder, sites, alone, methods, datasets, jobs):
    """Run all methods, the hostile ones first, and compare the others with the run without those."""
    write_suite(folder, methods, datasets)
    sleep = f"98{os.getpid()}"
    ended = mfbench(folder, sites, "suite", "own.toml", "--jobs", jobs, MISCHIEF_SLEEP=sleep)
    assert ended.returncode == 1, ended.stderr  # it ran, with failures
    assert "Traceback" not in ended.stderr
    rows = stored(folder)
    assert {place: row for place, row in rows.items() if place[1] in TRUSTED} == alone
    statuses = {}
    for (_, label, _), row in rows.items():
        statuses.setdefault(label, set()).add(row[2])
    for label in methods:
        assert ("ok" not in statuses[label]) == (label in FAILING), (label, statuses[label])
    messages = {label: row[3] for (_, label, _), row in rows.items()}
    assert "selector 'infinite" in messages["INFINITE"]
    assert "predicted the class code 99" in messages["STRANGER"]
    assert not [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", sleep]]
    return ended


@forks
def test_a_hostile_plugin_changes_no_number_of_others(tmp_path, sites):
    """The small form of the tests below."""
    trusted = {label: TRUSTED[label] for label in ("ANOVA", "HONEST")}
    hostile = {label: HOSTILE[label] for label in ("POISONS", "INFINITE", "STRANGER")}
    alone = run_alone(tmp_path / "alone", sites, trusted, ["two-blobs"])
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


@pytest.mark.slow(reason="writes 600 MB and keeps 160 MB in every trial")
@forks
@pytest.mark.parametrize("jobs", ["1", "3"])
def test_nor_do_those_that_fill_logs_and_memory(tmp_path, sites, alone, jobs):
    folder = tmp_path / "run"
    check_beside(folder, sites, alone, {**HOSTILE, **COSTLY, **TRUSTED}, ["iris", "two-blobs"], jobs)
    (log,) = folder.glob("reports/own/*/workers.log")
    assert log.stat().st_size < 100_000_000


def test_listing_names_what_is_wrong_and_lists_the_rest(tmp_path, sites):
    ended = mfbench(tmp_path, sites, "plugins")
    assert ended.returncode == 0, ended.stderr
    assert all(word in ended.stdout for word in ("spread", "anova-f", "poisons", "relieff"))
    for word in ("list-grid", "no-summary", "mfbench_report_sections"):
        assert word in ended.stderr, word


@pytest.mark.slow(reason="runs two suites; the parts are tested in tests/host and tests/suite")
@pytest.mark.parametrize(
    "methods",
    [{"LEAVES": ("leaves", "knn@mfbench", 2)}, {"AMBIGUOUS": ("relieff", "knn@mfbench", 2)}],
    ids=["import that ends the process", "ambiguous name"],
)
def test_a_method_that_cannot_be_used_is_a_failure_that_is_named(tmp_path, sites, methods):
    folder = write_suite(tmp_path / "run", {**methods, **TRUSTED}, ["iris"])
    ended = mfbench(folder, sites, "suite", "own.toml", "--jobs", "1")
    assert ended.returncode in (1, 2)
    assert next(iter(methods.values()))[0] in ended.stdout + ended.stderr
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
