"""A wheel from outside adds what packages of mfbench add: commands, names, metrics, protocols, splitters, engines …"""

import pytest
from hostile import build_wheel
from sites import ROOT, Environment, build

from mfbench import load_run

pytestmark = pytest.mark.slow(reason="builds and installs wheels")

WORKBENCH = {
    "workbench/__init__.py": "",
    "workbench/commands.py": """
        from mfbench import CommandSpec

        COUNT = CommandSpec("Count the trials of a run.", "workbench.tools:count")
        LOST = CommandSpec("It is not there.", "workbench.nowhere:lost")
    """,
    "workbench/tools.py": """
        import mfbench

        def n_trials(run):
            return len(mfbench.load_run(run).trials)

        def count(run: str):
            print(f"{mfbench.n_trials(run)} trials")
    """,
    "workbench/plugin.py": """
        from mfbench import DatasetSpec, ExecutorSpec, MetricSpec, ProtocolSpec, SplitterSpec, TaskSpec, hookimpl

        @hookimpl
        def mfbench_metrics():
            yield MetricSpec(name="share_of", summary="Share of a class", function="workbench.scores:share_of")
            loss = {"tasks": ["ordinal"], "greater_is_better": False, "percent": False, "lowest": 0.0}
            yield MetricSpec(name="rank_error", summary="Ranks", function="workbench.scores:rank_error", **loss)

        @hookimpl
        def mfbench_tasks():
            yield TaskSpec(
                name="ordinal", summary="Ordered classes", extends="classification", metrics=["rank_error", "accuracy"],
                guess="workbench.scores:median", strata="workbench.scores:codes", description="{classes} in order",
            )

        @hookimpl
        def mfbench_datasets():
            yield DatasetSpec(name="grades", summary="Five grades", loader="workbench.rows:grades", task="ordinal")

        @hookimpl
        def mfbench_protocols():
            keys = {"folds": 4, "gap": 0, "inner_folds": 2}
            yield ProtocolSpec(name="blocks", summary="Blocks of rows", protocol="workbench.rows:Blocks", keys=keys)

        @hookimpl
        def mfbench_splitters():
            yield SplitterSpec(name="every", summary="Every nth", factory="workbench.rows:Every", is_random=False)

        @hookimpl
        def mfbench_executors():
            yield ExecutorSpec(name="here", summary="This process", factory="workbench.executors:Here")
            yield ExecutorSpec(name="calls", summary="Calls in threads", factory="workbench.executors:Calls")
    """,
    "workbench/scores.py": """
        def share_of(y_true, y_pred, code=0):
            return float((y_pred == code).mean())

        def rank_error(y_true, y_pred):
            return float(abs(y_true - y_pred).mean())

        def codes(y):
            return y

        def median(y):
            import numpy as np

            from mfbench import Predictions

            return Predictions(y, np.full(len(y), np.sort(y)[len(y) // 2]), None, np.unique(y), False)
    """,
    "workbench/rows.py": """
        import numpy as np

        from mfbench import Dataset, EvaluationProtocol, Split

        def grades(seed=0):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(120, 4))
            y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=120), [-1.0, -0.3, 0.3, 1.0])
            names = {"class_names": tuple("edcba"), "feature_names": tuple("wxyz")}
            return Dataset(name="grades", X=X, y=y, categorical=np.zeros(4, dtype=bool), task="ordinal", **names)

        class Blocks(EvaluationProtocol):
            kind, trial_name, repeats = "blocks", "block", 1

            def __init__(self, seed, folds, gap, inner_folds):
                super().__init__(seed)
                self.folds, self.gap, self.inner_folds = folds, gap, inner_folds

            def splits(self, dataset, y, repeat, structure=None):
                rows = np.random.default_rng(self.seed).permutation(len(y))
                blocks = np.array_split(np.arange(len(y)), self.folds)
                ends = [(max(0, block[0] - self.gap), block[-1] + 1 + self.gap) for block in blocks]
                return [
                    Split(np.concatenate([rows[:begin], rows[end:]]), rows[block])
                    for block, (begin, end) in zip(blocks, ends)
                ]

            @property
            def test_train_ratio(self):
                return 1 / (self.folds - 1)

            def describe(self):
                return f"{self.folds} blocks with gaps of {self.gap} rows"

        class Every:
            def __init__(self, shift=0):
                self.shift = shift

            def split(self, y, by, folds, seed):
                fold = (np.arange(len(y)) + self.shift) % folds
                return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(folds)]
    """,
    "workbench/executors.py": """
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

        from mfbench.engines import Engine, Executor, CallOutcome
        from mfbench.host.registry import load_registry
        from mfbench.run.site import answer
        from mfbench.run.workers.worker import Worker

        class Here(Executor):
            def __init__(self, scheduler, jobs):
                self.trials = []

            def start(self, job, budget=None, follow=None):
                self.worker = Worker(job, load_registry(exactly=job.plugins))

            def submit(self, trials):
                self.trials += trials

            def collect(self):
                while self.trials:
                    trial = self.trials.pop(0)
                    yield trial, self.worker.run(trial, {})[0]

            def close(self):
                del self.worker

        class Calls(Engine):
            def __init__(self, scheduler, jobs):
                self.jobs = jobs

            def __enter__(self):
                self.threads, self.calls = ThreadPoolExecutor(self.jobs), {}
                return self

            def __exit__(self, *_):
                self.withdraw(list(self.calls))
                self.threads.shutdown(cancel_futures=True)

            def workers(self):
                return {"thread": self.jobs}

            def submit(self, ticket, payload, *, worker="", avoid=()):
                self.calls[ticket] = self.threads.submit(
                    answer, payload, slots=self.jobs, is_wanted=lambda: ticket in self.calls
                )

            def wait(self, seconds):
                wait(self.calls.values(), seconds, FIRST_COMPLETED)
                ended = [ticket for ticket, call in self.calls.items() if call.done()]
                return [CallOutcome(ticket, self.calls.pop(ticket).result(), "thread") for ticket in ended]

            def withdraw(self, tickets):
                for ticket in tickets:
                    if call := self.calls.pop(ticket, None):
                        call.cancel()
    """,
    "workbench/earlier.py": """
        import os
        from pathlib import Path

        from mfbench import hookimpl
        from mfbench.model.earlier import EarlierRun

        @hookimpl
        def mfbench_earlier_results(plan):
            if "WORKBENCH_RUN" not in os.environ:
                return
            try:
                yield EarlierRun("the workbench", Path(os.environ["WORKBENCH_RUN"]))
            finally:
                Path("closed").touch()

        @hookimpl
        def mfbench_pool():
            if "WORKBENCH_BREAKS" in os.environ:
                raise KeyError(os.environ["WORKBENCH_BREAKS"])

        @hookimpl
        def mfbench_open_run(path):
            if path.suffix == ".broken":
                raise EOFError(path.name)
    """,
}
POINTS = """
[project.entry-points."mfbench.commands"]
count = "workbench.commands:COUNT"
lost = "workbench.commands:LOST"
[project.entry-points."mfbench.names"]
n_trials = "workbench.tools:n_trials"
[project.entry-points."mfbench.features"]
workbench = "workbench.earlier"
"""
RIVAL = {
    "rival/__init__.py": "",
    "rival/plugin.py": "from mfbench import hookimpl\n\n@hookimpl\ndef mfbench_suites():\n    return []\n",
    "rival/commands.py": """
        from mfbench import CommandSpec

        COUNT = CommandSpec("Count something else.", "rival.plugin:mfbench_suites")
    """,
    "rival/broken.py": "raise SystemExit('out of order')",
}
POINTS_OF_RIVAL = """
[project.entry-points."mfbench.commands"]
broken = "rival.broken:COMMAND"
count = "rival.commands:COUNT"
own-count = "rival.commands:COUNT"
suite = "rival.commands:COUNT"
[project.entry-points."mfbench.names"]
run_suite = "rival.plugin:mfbench_suites"
"""
SUITE = """
[suite]
name = "{name}"
[protocol]
{protocol}
[[datasets]]
use = ["iris"]
[[methods]]
label = "KNN"
classifier = "knn"
tune = {{ n_neighbors = [1, 3] }}
[[methods]]
label = "ONE"
classifier = "knn(n_neighbors=1)"
"""
SMALL = [*("suite", "uci", "--offline", "--no-page", "--jobs", "2"), *("--only", "iris", "--only", "1NN")]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    return [
        build(ROOT, tmp_path_factory.mktemp("wheel")),
        build_wheel(tmp_path_factory.mktemp("workbench"), "my-workbench", WORKBENCH, points=POINTS),
    ]


@pytest.fixture(scope="module")
def environment(tmp_path_factory, wheels):
    made = Environment(tmp_path_factory.mktemp("environment"))
    made.install(*wheels)
    return made


@pytest.fixture(scope="module")
def alone(tmp_path_factory, wheels):
    """An environment without the wheel from outside."""
    made = Environment(tmp_path_factory.mktemp("alone"))
    made.install(wheels[0])
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def run_small(environment, folder):
    """Return a function that makes a small run, and returns what it prints and the folder of the run."""

    def run(out, *words):
        done = environment.run("mfbench", *SMALL, "--out", out, *words, folder=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout, next((folder / out / "uci").iterdir())

    return run


@pytest.fixture(scope="module")
def local(run_small):
    return run_small("local")[1]


def rows(run):
    """Return what the trials of a run have given, without times."""
    trials = load_run(run).trials
    return trials[[name for name in trials if not name.endswith(("_wall", "_cpu", "memory", "duration"))]]


def test_a_command_and_a_name(environment, folder, local):
    shown = environment.run("mfbench", "--help", folder=folder)
    assert "\n  count       Count the trials of a run.\n" in shown.stdout
    shown = environment.run("mfbench", "count", str(local), folder=folder)
    assert (shown.returncode, shown.stdout) == (0, f"{len(rows(local))} trials\n")


def test_a_metric(run_small):
    printed, run = run_small("metric", "--metric", "share_of(code=2)")
    assert "share_of(code=2)" in printed
    trials = load_run(run).trials
    assert list(trials["share_of(code=2)"]) == [(codes == 2).mean() for codes in trials["predictions"]]
    assert trials["accuracy"].gt(0.8).all()


@pytest.mark.parametrize(
    ("name", "protocol", "shown", "n_train"),
    [
        ("blocks", 'kind = "blocks"\ngap = 2', "4 blocks with gaps of 2 rows", {108, 109, 110, 111}),
        ("every", 'splitter = "every(shift=1)"\nfolds = 4\ninner_folds = 2', "splits by every(shift=1)", {112, 113}),
    ],
)
def test_a_protocol_and_a_splitter(environment, alone, folder, name, protocol, shown, n_train):
    (folder / f"{name}.toml").write_text(SUITE.format(name=name, protocol=protocol))
    done = environment.run("mfbench", "suite", f"{name}.toml", "--no-page", "--jobs", "2", folder=folder)
    assert done.returncode == 0 and shown in done.stdout, done.stderr
    (run,) = (folder / "reports" / name).iterdir()
    reported = environment.run("mfbench", "report", str(run), folder=folder)
    assert reported.returncode == 0 and shown in reported.stdout
    refused = alone.run("mfbench", "suite", f"{name}.toml", folder=folder)
    assert refused.returncode == 2 and f"'{name}'" in refused.stderr and refused.stderr.count("\n") == 1
    later = alone.run("mfbench", "report", str(run), folder=folder)
    assert (later.returncode, later.stdout, later.stderr) == (0, reported.stdout, "")
    loaded = load_run(run)  # in this process, which has never had the plugin
    assert len(loaded.trials) == 8 and set(loaded.trials["status"]) == {"ok"}
    assert set(loaded.sizes["n_train"]) <= n_train


def test_a_task_from_data_to_page(environment, alone, folder):
    text = SUITE.format(name="grading", protocol="folds = 3\ninner_folds = 2").replace("iris", "grades")
    dummy = '[[methods]]\nlabel = "MOST"\nclassifier = "dummy"\n'
    (folder / "grading.toml").write_text(f"{text}{dummy}")
    done = environment.run("mfbench", "suite", "grading.toml", "--jobs", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.lower().split())
    assert "all classes in order" in shown and "rank_error" in shown
    (place,) = (folder / "reports" / "grading").iterdir()
    assert "all classes in order" in (place / "report.html").read_text(encoding="utf-8")
    run = load_run(place)
    assert run.metrics[:2] == ["rank_error", "accuracy"] and set(run.trials["status"]) == {"ok"}
    ranks = run.summary().set_index("method")["rank"]
    assert ranks.idxmax() == "MOST", "smaller errors are better"
    mixed = (folder / "grading.toml").read_text().replace('"grades"', '"grades", "iris"')
    (folder / "mixed.toml").write_text(mixed)
    refused = environment.run("mfbench", "suite", "mixed.toml", folder=folder)
    assert refused.returncode == 2 and "different tasks, ordinal (grades) and classification (iris)" in refused.stderr
    bundle = environment.run("mfbench", "bundle", str(place), "--output", "grading.zip", folder=folder)
    assert bundle.returncode == 0, bundle.stderr
    verified = environment.run("mfbench", "verify", "grading.zip", "--all", "--offline", folder=folder)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    later = alone.run("mfbench", "report", str(place), "--md", folder=folder)
    assert later.returncode == 0 and "all classes in order" in later.stdout, later.stderr


@pytest.mark.parametrize("executor", ["here", "calls"])
def test_executors(run_small, local, executor):
    _, run = run_small(executor, "--executor", executor)
    assert rows(run).equals(rows(local)) and len(rows(run))


def test_earlier_results(run_small, folder, local, monkeypatch):
    monkeypatch.setenv("WORKBENCH_RUN", str(local))
    printed, run = run_small("again")
    assert (folder / "closed").is_file()
    assert rows(run).equals(rows(local))
    n = len(rows(run))
    remark = f"{n} of {n} results are from earlier runs, and so are their times: {n} from the workbench"
    assert remark in " ".join(printed.split())


def test_what_a_hook_raises(environment, folder, local, monkeypatch):
    monkeypatch.setenv("WORKBENCH_BREAKS", "no pool")
    (folder / "run.broken").touch()
    broken = "mfbench: the feature 'workbench' of the package my-workbench fails in "
    before = rows(local)
    words = [*SMALL, "--out", "local", "--fresh", "--executor", "calls"]
    for command, sentence in [
        (words, "mfbench_pool: KeyError: 'no pool'; update or uninstall the package\n"),
        (["report", "run.broken"], "mfbench_open_run: EOFError: run.broken; update or uninstall the package\n"),
    ]:
        done = environment.run("mfbench", *command, folder=folder)
        assert (done.returncode, done.stderr) == (1, broken + sentence)
        done = environment.run("mfbench", *command, "--debug", folder=folder)
        assert done.returncode == 1 and "workbench/earlier.py" in done.stderr
    assert rows(local).equals(before)


def test_rivals(tmp_path, wheels):
    environment = Environment(tmp_path / "environment")
    rival = build_wheel(tmp_path / "rival", "rival", RIVAL, points=POINTS_OF_RIVAL)
    environment.install(*wheels, rival)
    shown = environment.run("mfbench", "plugins", folder=tmp_path)
    assert shown.returncode == 0
    assert sorted(shown.stderr.splitlines()) == [
        "warning: the command 'broken' of the package rival cannot be loaded: SystemExit: out of order; "
        "update or uninstall the package",
        "warning: the command 'count' is left out: my-workbench and rival provide it; uninstall all but one",
        "warning: the command 'suite' of the package rival is left out: mfbench has its own",
        "warning: the name 'run_suite' of the package rival is left out: mfbench has its own",
    ]
    shown = environment.run("mfbench", "--help", folder=tmp_path)
    assert shown.returncode == 0 and "\n  own-count " in shown.stdout and "Run a suite, and print" in shown.stdout
    assert not shown.stderr and "\n  count " not in shown.stdout
    for command, code in [("count", 2), ("lost", 1), ("own-count", 0)]:
        assert environment.run("mfbench", command, folder=tmp_path).returncode == code
    assert environment.run("mfbench", *SMALL, folder=tmp_path).returncode == 0
