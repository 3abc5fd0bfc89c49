"""The Python door."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mfbench
from mfbench.api import Request, prepare_suite, run_request
from mfbench.base.console import make_console
from mfbench.errors import ExitCode, UnknownNameError, UsageError
from mfbench.report.progress import Silent
from mfbench.run import runner

sys.path.append(str(Path(__file__).parents[1] / "run"))
from small_claims import in_process
from small_runs import InProcess

__all__ = ["in_process"]  # a fixture


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("reports")
    only = ["monks-1", "led-7", "RFF", "1NN", "DUM"]
    return mfbench.run_suite("uci", only=only, out=out, jobs=2, seed=5)


def test_frames_of_a_run(run):
    assert len(run.trials) == 2 * 3 * 5
    assert set(run.trials["status"]) == {"ok"}
    assert run.scores.shape[0] == 6
    assert list(run.summary()["method"])[-1] == "DUM"
    told = run.wins_ties_losses()
    assert set(told["method"]) == {"1NN", "DUM"} and set(told["verdict"]) <= {"win", "tie", "loss"}
    assert run.meta.seed == 5


def test_settings_of_the_report_can_be_changed(run):
    flipped = run.wins_ties_losses(reference="DUM").set_index(["method", "dataset"])
    straight = run.wins_ties_losses(reference="1NN").set_index(["method", "dataset"])
    for dataset in ("monks-1", "led-7"):
        assert flipped.loc[("1NN", dataset), "difference"] == -straight.loc[("DUM", dataset), "difference"]
    plain = run.wins_ties_losses(test="paired-t")["p_value"].to_numpy()
    assert (plain <= run.wins_ties_losses()["p_value"].to_numpy()).all()
    assert not run.summary(metric="balanced_accuracy").equals(run.summary())
    with pytest.raises(UnknownNameError, match="did you mean 'accuracy'"):
        run.summary(metric="acuracy")
    with pytest.raises(UnknownNameError, match=r"unknown method '.*' of this run"):
        run.summary(reference="XGB")
    with pytest.raises(UnknownNameError, match="corrected-t"):
        run.summary(test="corrected")


def test_scores_can_be_computed_again_from_stored_predictions(run):
    for dataset in ("monks-1", "led-7"):
        table = run.predictions(dataset, "RFF")
        again = (table["truth"] == table["prediction"]).groupby(table["fold"]).mean()
        stored = run.trials.query("dataset == @dataset and method == 'RFF'").set_index("fold")["accuracy"]
        np.testing.assert_allclose(again.sort_index(), stored.sort_index())
        assert sorted(table["row"]) == list(range(len(table))), "each row is tested once in a repeat"


def test_selections_are_of_original_features(run):
    row = run.trials.query("dataset == 'monks-1' and method == 'RFF'").iloc[0]
    assert row["weights"].shape == (6,) and set(row["selected"]) <= set(range(6))
    assert row["n_selected"] == len(row["selected"])
    assert set(row["weights"].argsort()[-3:]) == {0, 1, 4}, "MONK 1 is a1 = a2 or a5 = 1"


def test_a_run_is_found_by_its_parent_folder(run):
    assert mfbench.load_run(run.path.parent).path == run.path
    assert isinstance(mfbench.load_run(str(run.path)).trials, pd.DataFrame)
    with pytest.raises(UsageError, match="holds no run"):
        mfbench.load_run(run.path.parent.parent / "none")


def test_the_power_of_a_run_is_planned_for_some_methods_and_another_metric(run):
    plan = run.power(0.02, reference="DUM", methods=["1NN"], power=0.9)
    assert set(plan.on_datasets["method"]) == set(plan.across["method"]) == {"1NN"}
    less = run.power(0.02, reference="DUM", methods=["1NN"], metric="balanced_accuracy")
    assert less.settings.metric == "balanced_accuracy"
    with pytest.raises(UnknownNameError, match="unknown method"):
        run.power(0.02, methods=["XGB"])


CURVES = """
[suite]
name = "curves"
[protocol]
folds = 6
metrics = ["area", "accuracy"]
curve = [1, 3, "all"]
[[datasets]]
use = ["wine"]
[[methods]]
label = "A"
selector = "anova-f"
classifier = "knn"
[[methods]]
label = "R"
selector = "random"
classifier = "knn"
tune = { n_neighbors = [1, 5] }
[[methods]]
label = "V"
selector = "variance"
classifier = "knn"
curve = { count = 4 }
"""


def test_curves_are_run_merged_and_compared_by_their_area(tmp_path, in_process):
    suite = tmp_path / "curves.toml"
    suite.write_text(CURVES)
    shards = [mfbench.run_suite(str(suite), out=tmp_path / "out", jobs=1, shard=f"{number}/2") for number in (1, 2)]
    parts = pd.concat([shard.curves for shard in shards])
    run = mfbench.merge([shard.path for shard in shards], into=tmp_path / "merged")
    order = ["method", "fold", "metric", "size"]
    pd.testing.assert_frame_equal(
        run.curves.sort_values(order, ignore_index=True), parts.sort_values(order, ignore_index=True)
    )
    sizes = {method: sorted(own["size"].unique()) for method, own in run.curves.groupby("method")}
    assert sizes == {"A": [1, 3, 13], "R": [1, 3, 13], "V": [1, 2, 6, 13]}
    at_all = run.curves[(run.curves["size"] == 13) & (run.curves["metric"] == "accuracy")]
    pairs = at_all.merge(run.trials, on=["dataset", "method", "fold"])
    assert len(pairs) == 18 and (pairs["score"] == pairs["accuracy"]).all()
    verdicts = run.wins_ties_losses(reference="A").set_index("method")
    means = run.trials.groupby("method")["area"].mean()
    assert 0 < verdicts.loc["R", "p_value"] < 1
    assert verdicts.loc["R", "difference"] == pytest.approx(means["A"] - means["R"])
    assert run.meta.curves["A"] == [1, 3, "all"] and run.meta.curves["V"].count == 4


def test_make_and_load(tmp_path):
    assert mfbench.make("relieff(n_neighbors=7)").n_neighbors == 7
    assert mfbench.make("relieff", kind="selector").get_params()["n_neighbors"] == 10
    with pytest.raises(UnknownNameError, match="did you mean 'relieff'"):
        mfbench.make("reliefff")
    assert mfbench.load_dataset("waveform-21(n_samples=50)").n_samples == 50
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
    assert mfbench.load_dataset(f"file:{tmp_path}/a.csv", target="y").class_names == ("a", "b")


def test_public_names_exist():
    for name in mfbench.__all__:
        assert getattr(mfbench, name) is not None
    with pytest.raises(AttributeError, match="no attribute"):
        mfbench.nothing  # noqa: B018


METHODS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Spread(BaseEstimator):
    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y):
        self.feature_importances_ = X.std(axis=0) ** self.power
        return self

class Majority(ClassifierMixin, BaseEstimator):
    def __init__(self, shift=0, random_state=None):
        self.shift, self.random_state = shift, random_state

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[(counts.argmax() + self.shift) % len(counts)]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)
"""
SMALL = """
[suite]
name = "small"
[protocol]
folds = 3
[[datasets]]
use = ["iris", "monks-1"]
[[methods]]
label = "1NN"
classifier = "knn(n_neighbors=1)"
"""


@pytest.fixture
def my_methods(tmp_path, monkeypatch):
    (tmp_path / "my_methods.py").write_text(METHODS)
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import my_methods

    yield my_methods
    sys.modules.pop("my_methods")


class Counting(Silent):
    def __init__(self):
        self.executed = []

    def finished(self, trial, result):
        self.executed.append(trial.method)


def test_classes_and_objects_are_added_and_only_they_run(my_methods):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        mfbench.run_suite("small.toml", jobs=1)
    observer = Counting()
    add = {"MINE": (my_methods.Spread(power=2.0), "knn"), "MAJ": my_methods.Majority}
    run = mfbench.run_suite("small.toml", add=add, reference="MINE", jobs=2, observer=observer)
    assert sorted(set(observer.executed)) == ["MAJ", "MINE"] and len(observer.executed) == 12
    assert set(run.outcomes["status"]) == {"ok"}, run.failures["error_message"].tolist()
    assert run.settings.reference == "MINE"
    assert run.methods["MINE"] == "my_methods:Spread(power=2.0) → top positive → knn"
    assert "6 of 18 results are from earlier runs" in run.remarks[0]
    alone = mfbench.run_suite("small.toml", add=add, reference="MINE", jobs=1, fresh=True)
    pd.testing.assert_frame_equal(run.scores, alone.scores)
    command = " ".join(alone.meta.command)
    assert "--add MINE = my_methods:Spread(power=2.0) -> knn --add MAJ = my_methods:Majority" in command
    assert len(alone.meta.reused.keys) == 0


class Interrupting(Silent):
    def finished(self, trial, result):
        raise KeyboardInterrupt


def test_an_interrupt_reaches_the_caller_and_keeps_the_results(my_methods, in_process):
    request = Request("small.toml", jobs=1)
    outcome = run_request(request, Interrupting())
    assert outcome.exit_code == ExitCode.INTERRUPTED
    assert (outcome.run.trials["status"] == "ok").sum() == 1
    lines = list(outcome.show(make_console(), "mfbench suite small.toml", with_page=True))
    assert lines == ["Interrupted. To resume, run: mfbench suite small.toml"]
    assert not list(outcome.folder.glob("*.html"))
    with pytest.raises(KeyboardInterrupt):
        mfbench.run_suite("small.toml", jobs=1, observer=Interrupting())
    assert run_request(request).exit_code == ExitCode.OK


def test_text_and_objects_are_the_same_run(my_methods, tmp_path):
    same = [{"MAJ": my_methods.Majority(shift=1)}, "MAJ = my_methods:Majority(shift=1)"]
    plans = [prepare_suite(Request("small.toml", add=add, out=tmp_path / "out"))[:2] for add in same]
    assert plans[0][1] == plans[1][1]
    assert [trial.key for trial in plans[0][0].trials] == [trial.key for trial in plans[1][0].trials]


def test_a_file_is_added_with_its_target(my_methods, tmp_path, in_process):
    rows = "".join(f"{'no' if i % 2 else 'yes'},{i},{i % 3}\n" for i in range(30))
    (tmp_path / "mine.csv").write_text(f"outcome,a,b\n{rows}")
    run = mfbench.run_suite("small.toml", add_data="file:mine.csv", target="outcome", only=["iris"], jobs=1)
    assert set(run.outcomes["dataset"]) == {"iris", "mine.csv"} and not len(run.failures)


def test_additions_that_do_not_fit_are_refused(subtests, my_methods):
    for arguments, reason in [
        ({"reference": "2NN"}, "--reference: no method has the label '2NN': did you mean '1NN'"),
        ({"target": "outcome"}, "--target 'outcome' is the target column of an added dataset"),
        ({"add": "1NN = knn"}, "'1NN' is already the label of a method of the suite"),
        (
            {"add": "B = knn", "reference": "1NN", "only": ["B"]},
            "--reference '1NN' is left out by --only; add --only 1NN",
        ),
    ]:
        with subtests.test(arguments=arguments, reason=reason), pytest.raises(UsageError, match=reason):
            prepare_suite(Request("small.toml", **arguments))
