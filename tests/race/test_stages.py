"""The stages of a race: what is planned, what is recorded, and what a report shows. Nothing is run."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import mfbench_race.stages
from mfbench.api.request import Request, prepare_suite
from mfbench.errors import UsageError
from mfbench_race.stages import RECORD

METHODS = ("1NN", "LDA", "NBC", "DUM")


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The plan of a race of four methods on two datasets, with three times ten folds."""
    only = ("iris", "wine-igt", *METHODS)
    request = Request("uci", profile="standard", only=only, race="plan", out=tmp_path_factory.mktemp("out"))
    return prepare_suite(replace(request, offline=True))


class Runs:
    """Gives each planned trial a score, as a run that has just ended; a method may fail somewhere."""

    def __init__(self, means, failing=()):
        self.means, self.failing, self.plan = means, set(failing), None

    def __call__(self, folder):
        rows = []
        for trial in self.plan.trials:
            noise = np.random.default_rng(trial.seed).normal(0, 0.01)
            failed = (trial.method, trial.repeat, trial.fold) in self.failing
            score = np.nan if failed else self.means[trial.method] + noise
            status = "error" if failed else "ok"
            rows.append((trial.dataset, trial.method, trial.repeat, trial.fold, status, score, 2.0))
        names = ["dataset", "method", "repeat", "fold", "status", "accuracy", "duration"]
        return SimpleNamespace(
            outcomes=pd.DataFrame(rows, columns=names),
            settings=SimpleNamespace(metric="accuracy", sign=1.0, unit_on=lambda dataset: 1.0),
            meta=SimpleNamespace(display_names={label: f"name of {label}" for label in self.plan.methods}),
        )


@pytest.fixture
def race(planned, monkeypatch, tmp_path):
    """Return a function that runs a race on made-up scores; it returns the plans, the remarks and the record."""

    def run(means, failing=()):
        runs, plans, remarks = Runs(means, failing), [], []
        monkeypatch.setattr(mfbench_race.stages, "load_run", runs)
        for plan in planned[0].stages(tmp_path, remarks.append):
            runs.plan = plan
            plans.append(plan)
        return plans, remarks, json.loads((tmp_path / RECORD).read_text())

    return run


CLEAR = {"1NN": 0.9, "LDA": 0.899, "NBC": 0.7, "DUM": 0.4}


def test_a_race_has_a_folder_of_its_own(planned):
    plan, folder, _ = planned
    whole = prepare_suite(Request("uci", profile="standard", only=plan.only, out=folder.parents[1], offline=True))
    assert folder == whole[1].with_name(f"{whole[1].name}-race-plan")
    assert [trial.key for trial in plan.trials] == [trial.key for trial in whole[0].trials]


def test_each_stage_has_whole_rounds_of_the_methods_that_remain(race):
    plans, _, record = race(CLEAR)
    assert record["looks"] == [2, 3, 5, 10, 15, 20]
    for look, plan in zip([*record["looks"], 30], plans, strict=True):
        cells = {(dataset, method): 0 for dataset in ("iris", "wine-igt") for method in plan.methods}
        for trial in plan.trials:
            assert trial.repeat * 10 + trial.fold < look
            cells[trial.dataset, trial.method] += 1
        assert set(cells.values()) == {look}
        assert set(plan.ingredients) == set(cells)
    assert set(plans[0].methods) == set(METHODS) and set(plans[-1].methods) == {"1NN", "LDA"}
    assert all(plan.stages is None for plan in plans)


def test_the_last_plan_is_that_of_a_run_of_the_methods_that_remain(race, planned):
    last = race(CLEAR)[0][-1]
    assert set(last.only) == {"1NN", "LDA", "iris", "wine-igt"}
    request = Request("uci", profile="standard", only=last.only, out=planned[1].parents[1], offline=True)
    assert [trial.key for trial in prepare_suite(request)[0].trials] == [trial.key for trial in last.trials]


def test_the_record_counts_what_was_saved(race):
    _, remarks, record = race(CLEAR)
    by_method = {entry["method"]: entry for entry in record["dropped"]}
    assert set(by_method) == {"NBC", "DUM"}
    for method, entry in by_method.items():
        assert entry["trials"] == 2 * entry["look"] and entry["trials"] + entry["trials_saved"] == 60
        assert entry["seconds_saved"] == pytest.approx(2.0 * entry["trials_saved"])
        assert (entry["name"], entry["leader"]) == (f"name of {method}", record["dropped"][0]["leader"])
    assert any("leads, " in remark and "dropped" in remark and "name of DUM" in remark for remark in remarks)
    assert any("none is dropped, 2 methods in the race" in remark for remark in remarks)


def test_a_failure_keeps_a_method_in_the_race(race):
    plans, _, record = race(CLEAR, failing={("DUM", 0, 0)})
    assert [entry["method"] for entry in record["dropped"]] == ["NBC"]
    assert "DUM" in plans[-1].methods


def request(**changes):
    options = {"only": ("iris", *METHODS), "race": "plan", "offline": True} | changes
    return Request(options.pop("suite", "uci"), **options)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"race": "trut"}, "--race 'trut': use plan, to keep"),
        ({"race": "plan", "shard": "1/2"}, "--race decides by the results of all trials: leave --shard out"),
        ({"suite": "detection", "only": ()}, "the protocol 'ground-truth' of detection does not"),
        ({"suite": "timing", "only": ()}, "the protocol 'timing' of timing does not"),
    ],
)
def test_what_cannot_be_raced_is_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        prepare_suite(request(**changes))


def test_truth_tells_what_it_saves_before_it_starts(tmp_path):
    plan, folder, _ = prepare_suite(request(race="truth", profile="standard"))
    remarks = []
    next(iter(plan.stages(folder, remarks.append)))
    assert remarks == [
        "With 27 methods on 1 dataset, --race truth has saved 29 % of the trials of 50 folds and 4 % of those of 5; "
        "--race plan saves more."
    ]


def test_one_method_is_no_race(tmp_path):
    plan, folder, _ = prepare_suite(request(only=("iris", "1NN")))
    (only,) = plan.stages(folder, print)
    assert len(only.trials) == 5


def test_two_folds_are_no_race(tmp_path):
    suite = tmp_path / "two-folds.toml"
    methods = "".join(f"[[methods]]\nlabel = {label!r}\nclassifier = {label!r}\n" for label in ("knn", "lda"))
    suite.write_text(f'[suite]\nname = "two-folds"\n[protocol]\nfolds = 2\n[[datasets]]\nuse = ["iris"]\n{methods}')
    plan, folder, _ = prepare_suite(request(suite=str(suite), only=()))
    remarks = []
    (only,) = plan.stages(folder, remarks.append)
    assert len(only.trials) == 4
    assert [remark.partition(":")[0] for remark in remarks] == ["--race drops nothing here"]
