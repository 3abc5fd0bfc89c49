"""A suite with splitters, as a user runs it."""

import numpy as np
import pandas as pd
import pytest

import mfbench
from mfbench.errors import SuiteError, UsageError
from mfbench.report.brief import problems
from mfbench.report.contents import report_of
from mfbench.stats.paired import UNMET

N = 96
SUITE = """
[suite]
name = "own"
[protocol]
folds = 6
repeats = 2
inner_folds = 2
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


@pytest.fixture
def run(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    table = {"a": rng.normal(size=N) + y, "b": rng.normal(size=N), "patient": np.arange(N) // 8, "day": np.arange(N)}
    pd.DataFrame(table | {"outcome": y}).to_csv(tmp_path / "patients.csv", index=False)

    def execute(protocol="", data=None, **options):
        path = tmp_path / "own.toml"
        text = SUITE.format(protocol=protocol)
        path.write_text(text if data is None else text.replace('use = ["iris"]', data))
        options = {"out": tmp_path / "out", "jobs": 1} | options
        return mfbench.run_suite(str(path), **options)

    return execute


def added(**columns):
    return {"add_data": "file:patients.csv", "target": "outcome", **columns}


def test_groups_of_an_added_file_stay_together(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(**added(groups="patient"))
    assert done.failures.empty
    assert "patients.csv: 2 × 6 folds by stratified-grouped." in problems(done)
    assert (done.meta.splits["patients.csv"].splitter, done.meta.splits.keys()) == (
        "stratified-grouped",
        {"patients.csv"},
    )
    assert done.feature_names("patients.csv") == ["a", "b", "day"]
    for rows in done.test_rows("patients.csv").values():
        assert len(rows) % 8 == 0
    assert done.settings.ratio_on("patients.csv") == pytest.approx(0.2, abs=0.01)
    assert done.settings.ratio_on("iris") == 0.2
    assert set(done.wins_ties_losses()["sound"]) <= {"win", "tie", "loss"}


def test_where_no_test_is_valid_the_report_gives_what_holds(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(**added(time="day"))
    verdicts = done.wins_ties_losses().set_index("dataset")
    assert verdicts.loc["patients.csv", ["verdict", "published", "sound"]].tolist() == ["no verdict"] * 3
    assert verdicts.loc["patients.csv", "reason"] == UNMET
    assert len(done.trials.query("dataset == 'patients.csv'")) == 2 * 6, "one repeat, because chance has no part in it"
    scores = done.trials.query("dataset == 'patients.csv'").pivot(index="fold", columns="method", values="accuracy")
    apart = 100 * (scores["KNN"] - scores["ONE"])
    text = " ".join(note for section in report_of(done).sections for note in section.notes)
    assert "patients.csv is split by forward-chaining, and tests of fold scores assume a random resampling" in text
    assert f"ONE {apart.mean():+.2f} ({apart.min():+.2f} to {apart.max():+.2f})" in text
    assert "patients.csv: 6 folds by forward-chaining." in text


METHODS = [
    "TREE = variance -> top 1 -> decision-tree",
    "F1NN = anova-f -> top 1 -> sklearn.neighbors:KNeighborsClassifier(n_neighbors=1)",
    "FUNCTION = sklearn.feature_selection:f_classif -> top 1 -> sklearn.linear_model:Perceptron",
    "CLASS = sklearn.ensemble:ExtraTreesClassifier(n_estimators=5) -> top 1 -> sklearn.naive_bayes:GaussianNB",
]


def test_weights_of_an_added_file_count_in_fits_and_scores(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(**added(weights="patient"), add=METHODS)
    assert done.failures.empty
    assert done.feature_names("patients.csv") == ["a", "b", "day"]
    text = " ".join(note for section in report_of(done).sections for note in section.notes)
    assert "Rows have weights in fits and scores: patients.csv." in text
    ignoring = (
        "KNN (classifier), ONE (classifier), TREE (selector), F1NN (selector and classifier), FUNCTION (selector)"
    )
    assert f"Sample weights are ignored by: {ignoring}." in text
    truth, weights = np.arange(N) % 2, np.arange(N) // 8
    for trial in done.trials.query("dataset == 'patients.csv'").itertuples():
        rows = done.test_rows("patients.csv")[trial.repeat, trial.fold]
        right = trial.predictions == truth[rows]
        assert trial.accuracy == pytest.approx(np.average(right, weights=weights[rows]))
    bare = run(**added(), add=METHODS)
    assert not bare.meta.with_weights + bare.meta.unweighted
    keys = [set(each.trials.query("dataset == 'iris'")["key"]) for each in (done, bare)]
    assert keys[1] == keys[0]
    reasons = done.wins_ties_losses(test="mcnemar").groupby("dataset")["reason"].unique()
    assert list(reasons["patients.csv"]) == ["mcnemar compares decisions, not weighted accuracy"]
    assert list(reasons["iris"]) != list(reasons["patients.csv"])


def test_a_suite_names_splitter_and_columns(run):
    data = 'use = ["file:patients.csv"]\ntarget = "outcome"\ngroups = "patient"'
    done = run('splitter = "leave-one-group-out"', data)
    assert len(done.test_rows("patients.csv")) == 12
    (reason,) = done.wins_ties_losses(test="mcnemar")["reason"].unique()
    assert reason == "rows of a group are alike, and mcnemar counts them one by one"
    assert done.wins_ties_losses()["p_value"].notna().all()
    assert "splits by leave-one-group-out, all classes" in report_of(done).setting
    again = run('splitter = "leave-one-group-out"', data)
    assert again.path == done.path
    assert again.trials["key"].tolist() == done.trials["key"].tolist()


def test_mistakes_are_one_sentence(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for protocol, sentence in [
        ('splitter = "groupd"', "protocol.splitter: unknown splitter 'groupd': did you mean 'grouped'"),
        ('splitter = "bootstrap(draw=3)"', "unknown parameter 'draw' of 'bootstrap'"),
        ('splitter = "bootstrap(draws=1)"', "draws is 1: use a whole number from 2"),
    ]:
        with pytest.raises(SuiteError, match=sentence):
            run(protocol)
    with pytest.raises(UsageError, match="--groups 'patient' is a column of an added dataset: add one with --add-data"):
        run(groups="patient")
    with pytest.raises(SuiteError, match="unknown time column 'dya': did you mean 'day'"):
        run(**added(time="dya"))
    assert (
        run('splitter = "grouped"', 'use = ["iris", "wine"]', only=["iris"])
        .left_out["iris"]
        .startswith("the splitter 'grouped' needs a column of a dataset: set groups")
    )
