import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mfbench.api import Request, prepare_suite, run_suite
from mfbench.host.registry import load_registry
from mfbench.suite.additions import with_additions
from mfbench.suite.loading import load_suite
from mfbench_gate.gate.measure import plan_gate
from mfbench_gate.gate.replicate import LEAST_SECONDS, MOST_ROUNDS, SHARING, Replicate, _versions, rounds_for
from mfbench_gate.gate.side import staged

sys.path.append(str(Path(__file__).parents[2] / "run"))
from small_runs import InProcess

SUITE = """
[suite]
name = "toy"
[protocol]
kind = "repeated-cv"
folds = 3
repeats = 1
metrics = ["accuracy"]
[profiles.quick]
folds = 3
repeats = 1
[[datasets]]
use = ["iris"]
[[methods]]
label = "REL"
selector = "relief"
classifier = "knn"
tune = { n_neighbors = [1, 3] }
[[methods]]
label = "1NN"
classifier = "knn(n_neighbors=1)"
"""


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "toy.toml"
    path.write_text(SUITE)
    return path


@pytest.fixture(scope="module")
def registry():
    return load_registry()


@pytest.fixture
def replicate(suite, registry):
    plan = plan_gate(load_suite(str(suite), registry), registry)
    with staged(plan.suite) as start:
        order = pickle.loads(start.keywords["order"].read_bytes())
        yield Replicate(*order, registry), plan


def test_trials_are_those_of_the_suite(replicate, suite, tmp_path, monkeypatch):
    own, plan = replicate
    monkeypatch.setattr("mfbench.run.runner.LocalPool", InProcess)
    stored = run_suite(str(suite), out=tmp_path / "reports").trials.set_index(["method", "fold"])
    for cell in plan.cells:
        for trial in cell.trials:
            answer = own.run(trial, 1)
            expected = stored.loc[trial.method, trial.fold]
            assert answer["predictions"] == expected["predictions"].tolist()
            assert answer["scores"] == {"accuracy": expected["accuracy"]}


def test_seeds_are_those_of_the_suite(replicate, suite):
    _, plan = replicate
    trials = {(t.method, t.repeat, t.fold): t.seed for t in prepare_suite(Request(str(suite)))[0].trials}
    assert {(t.method, t.repeat, t.fold): t.seed for cell in plan.cells for t in cell.trials} == trials


def test_costs_are_plain_numbers(replicate):
    own, plan = replicate
    answer = json.loads(json.dumps(own.run(plan.cells[0].trials[0], 2)))
    costs = [answer[name] for name in ("fit_cpu", "fit_wall", "predict_cpu", "predict_wall", "duration")]
    assert all(cost > 0 for cost in costs)
    assert answer["memory"] >= 0


def test_a_selector_is_fitted_in_every_round(replicate, monkeypatch):
    from mfbench_margin import Relief

    fits = []
    fit = Relief.fit
    monkeypatch.setattr(Relief, "fit", lambda self, X, y: fits.append(len(X)) or fit(self, X, y))
    own, plan = replicate
    (cell,) = [cell for cell in plan.cells if cell.place.method == "REL"]
    own.run(cell.trials[0], 1)
    once = len(fits)
    own.run(cell.trials[0], 3)
    assert len(fits) == once + once * 2  # with the round that warms up, two and four runs


def test_a_method_that_does_not_exist_here_is_named(suite, registry):
    suite.write_text(SUITE.replace("knn(n_neighbors=1)", "not-there(a=1)"))
    plan = plan_gate(load_suite(str(suite), registry), registry)
    with staged(plan.suite) as start:
        order = pickle.loads(start.keywords["order"].read_bytes())
        own = Replicate(*order, registry)
    assert list(own.missing) == ["1NN"]
    assert "unknown classifier 'not-there'" in own.missing["1NN"]


def test_methods_without_a_step_of_the_project_are_not_judged(suite, registry, tmp_path, monkeypatch):
    (tmp_path / "own" / "mfbench_margin").mkdir(parents=True)
    (tmp_path / "own" / "mfbench_margin-1.0.dist-info").mkdir()
    plan = plan_gate(load_suite(str(suite), registry), registry)
    with staged(plan.suite) as start:
        order = pickle.loads(start.keywords["order"].read_bytes())
    assert Replicate(*order, registry).judged == {label: ["fit", "memory", "predict"] for label in ("REL", "1NN")}
    monkeypatch.setitem(sys.modules, SHARING, object())  # as in an environment that the gate has made
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "own"))
    assert Replicate(*order, registry).judged == {"REL": ["fit", "memory"], "1NN": []}


def test_a_class_that_is_added_is_looked_up_by_each_side(suite):
    here = load_registry()
    loaded = with_additions(load_suite(str(suite), here), here, ["MINE = sklearn.svm:LinearSVC(C=2.0)"])
    plan = plan_gate(loaded, here, ["1NN"])
    with staged(plan.suite) as start:
        own = Replicate(*pickle.loads(start.keywords["order"].read_bytes()), load_registry())
        assert own.missing == {}
        assert {cell.place.method: own.run(cell.trials[0], 1)["status"] for cell in plan.cells} == {
            "1NN": "ok",
            "MINE": "ok",
        }


def test_a_failure_is_an_answer(replicate, monkeypatch):
    from mfbench_margin import Relief

    def refuse(self, X, y):
        raise ValueError("no")

    monkeypatch.setattr(Relief, "fit", refuse)
    own, plan = replicate
    (cell,) = [cell for cell in plan.cells if cell.place.method == "REL"]
    assert own.run(cell.trials[0], 1) == {"status": "error", "message": "ValueError: no"}


def test_a_method_that_is_tuned_per_dataset_has_no_time_of_a_trial(suite, registry):
    suite.write_text(SUITE.replace("[1, 3] }", '[1, 3] }\nselection = "per-dataset"'))
    plan = plan_gate(load_suite(str(suite), registry), registry)
    with staged(plan.suite) as start:
        own = Replicate(*pickle.loads(start.keywords["order"].read_bytes()), registry)
        answer = own.run(replace(plan.cells[0].trials[0], method="REL"), 1)
    assert answer["status"] == "untimed"
    assert "tuned per dataset" in answer["message"]


def test_of_two_copies_of_a_package_the_first_counts(monkeypatch):
    copies = [SimpleNamespace(metadata={"Name": "numpy"}, version=version) for version in ("2.0", "1.26")]
    monkeypatch.setattr("importlib.metadata.distributions", lambda: iter(copies))
    assert _versions()["numpy"] == "2.0"


def test_rounds():
    assert rounds_for(LEAST_SECONDS) == 1
    assert rounds_for(LEAST_SECONDS / 2) == 2
    assert rounds_for(1e-9) == MOST_ROUNDS


@pytest.mark.slow(reason="starts processes that import everything")
def test_a_real_process_answers(suite, registry):
    plan = plan_gate(load_suite(str(suite), registry), registry)
    with staged(plan.suite) as start, start(Path(sys.executable)) as process:
        assert process.missing == {}
        assert process.versions()["python"] == sys.version.split()[0]
        assert process.run(plan.cells[0].trials[0], 1)["status"] == "ok"
