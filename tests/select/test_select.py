"""`mfbench select` on whole tables: the answer, its page, the pipeline as scikit-learn, and what is refused."""

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

import mfbench
from mfbench.cli import main
from mfbench.errors import RunError, UsageError
from mfbench.report.contents import report_of
from mfbench_select import answer as answers
from mfbench_select.api import Selection
from mfbench_select.features import TopFeatures, encoder_of
from mfbench_select.report import lines_of
from mfbench_select.suite import BEST_FIRST, Pipeline, pairs_of, pipelines_of


def mixed(n=150, seed=0):
    """A table of numbers, categories, dates and missing values; x0 and the site decide, x1 and x2 only together."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{k}" for k in range(6)])
    frame["site"] = rng.choice(["north", "south", "west"], n)
    frame["visit"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")).astype(str)
    score = 2 * frame["x0"] + 1.5 * (frame["site"] == "west") + rng.normal(size=n) - 0.4
    frame["outcome"] = np.where(score > 0, "ill", "well")
    frame.loc[::9, "x3"] = np.nan
    return frame


@pytest.fixture(scope="module")
def selection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("select")
    return mfbench.select(mixed(), target="outcome", max_trials=320, name="mixed", out=folder, jobs=1)


class TestAnswer:
    def test_the_relevant_features_lead(self, selection):
        assert [name for name, _ in selection.features[:1]] == ["x0"]
        assert all(0.0 < share <= 1.0 for _, share in selection.features)
        assert selection.answer.beats_constant
        assert selection.score.low < selection.answer.mean(selection.answer.chosen) < selection.score.high

    def test_lines(self, selection):
        lines = dict(lines_of(selection.answer))
        assert lines["table"].startswith("150 rows, 10 features, 2 classes (")
        assert lines["features"].startswith("x0 100 %")
        assert set(lines) >= {"enough", "score", "all features", "random features", "constant", "undecided"}
        assert str(selection).splitlines()[0].startswith("table ")

    def test_scores_are_those_of_the_run(self, selection):
        means = selection.run.outcomes.groupby("method")["accuracy"].mean()
        for one in selection.answer.pipelines:
            assert selection.answer.mean(one) == pytest.approx(means[one.label], abs=0.003)  # folds differ by a row

    def test_the_page_and_json(self, selection):
        report = report_of(selection.run)
        titles = [section.title for section in report.sections]
        assert titles[:3] == ["Answer", "How many features", "Features"]
        assert "What the columns were taken for" in titles
        assert all(chart.spec().to_dict() and chart.alt() for chart in report.drawable)
        data = next(section for section in report.sections if section.title == "Answer").data["selection"]()
        assert json.loads(json.dumps(data))["selected"][0]["feature"] == "x0"

    def test_only_complete_repeats_count(self, selection):
        run, all_repeats = selection.run, selection.answer.n_repeats
        trials = run.trials.copy()
        late = trials["repeat"] == trials["repeat"].max()
        trials.loc[late & (trials["fold"] == 3), "status"] = None
        run.__dict__["trials"] = trials
        try:
            assert answers.answer_of(run).n_repeats == all_repeats - 1
            trials["status"] = None
            with pytest.raises(RunError, match="give more time"):
                answers.answer_of(run)
        finally:
            del run.__dict__["trials"]


@pytest.mark.parametrize("one", [Pipeline("RELF", 3, "SVM"), Pipeline("MRMR", 3, "SVM")], ids=lambda one: one.label)
def test_the_pipeline_predicts_what_the_run_predicts(selection, one):
    """With a deterministic method, on every fold of the first repeat: encoding, selection and fit are the same."""
    table, run = selection.table, selection.run
    X, y = table.frame[table.features], table.frame[table.target].astype(str).to_numpy()
    (dataset,) = run.datasets["dataset"]
    stored = run.trials.query("method == @one.label and repeat == 0").set_index("fold")
    chosen = Selection(run, table, selection._registry)
    for fold, rows in ((f, rows) for (r, f), rows in run.test_rows(dataset).items() if r == 0):
        train = np.setdiff1d(np.arange(len(y)), rows)
        answers_of = Pipeline(one.selector, one.size, one.learner)
        estimator = _estimator(chosen, answers_of).fit(X.iloc[train], y[train])
        predicted = np.searchsorted(np.unique(y), estimator.predict(X.iloc[rows]))
        assert predicted.tolist() == stored.loc[fold, "predictions"].tolist()


def _estimator(selection, pipeline):
    from mfbench_select.pipeline import estimator_of

    frame = selection.table.frame[selection.table.features]
    return estimator_of(pipeline, frame, selection._registry, is_regression=False)


def test_the_code_makes_the_pipeline(selection):
    table = selection.table.frame
    names = {}
    exec(selection.code(), names)  # our own text
    X = table[selection.table.features]
    assert names["pipeline"].predict(X).tolist() == selection.fitted().predict(X).tolist()


def test_top_features_with_categories():
    X = pd.DataFrame({"n": np.arange(40.0) % 7, "c": pd.Series(list("abcd") * 10).astype("category")})
    from mfbench_baselines.filters import AnovaFFilter

    step = TopFeatures(encoder_of(["n"], ["c"]), AnovaFFilter(), 1).fit(X, (X["c"] == "b").to_numpy())
    assert step.features_ == ["c"] and step.transform(X).shape == (40, 4)
    assert step.columns_.tolist() == [1, 2, 3, 4]


def test_noise_shows_nothing(tmp_path):
    rng = np.random.default_rng(3)
    noise = mfbench.select(rng.normal(size=(60, 8)), rng.integers(0, 2, 60), max_trials=150, out=tmp_path, jobs=1)
    assert not noise.answer.beats_constant
    assert "no evidence that any feature helps" in str(noise)


def test_numbers_with_groups(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 4))
    y = X[:, 1] + 0.3 * rng.normal(size=120)
    groups = np.repeat(np.arange(30), 4)
    result = mfbench.select(X, y, groups=groups, max_trials=120, out=tmp_path, jobs=1)
    assert result.answer.metric == "r2" and result.score.low > 0.5
    assert result.features[0][0] == "x1" and result.answer.scores.n_units == 30
    # Without the groups, rows would count as independent.
    for path in (tmp_path / "select-table").glob("table-*.json"):
        path.unlink()
    with pytest.raises(RunError, match="groups of the rows are not known"):
        answers.answer_of(result.run)


def test_another_table_of_the_same_name_leaves_earlier_answers_as_they_are(tmp_path):
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    together = mfbench.select(X, (X["a"] * X["b"] > 0).astype(int), max_trials=80, out=tmp_path, jobs=1)
    before = str(together)
    alone = mfbench.select(X, (X["c"] > 0).astype(int), max_trials=80, out=tmp_path, jobs=1)
    assert "a × b" in before and "a × b" not in str(alone)
    assert "\n".join(f"{name:15}  {text}" for name, text in lines_of(answers.answer_of(together.run))) == before


def test_one_large_class(tmp_path):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 3)), np.repeat(["common", "rare"], [108, 12])
    shares = mfbench.select(X, y, max_trials=100, out=tmp_path, jobs=1)
    assert "balanced_accuracy counts each class alike" in str(shares) and shares.answer.constant == 0.9
    alike = mfbench.select(X, y, metric="balanced_accuracy", max_trials=100, out=tmp_path, jobs=1)
    assert alike.answer.constant == 0.5 and alike.score.high - alike.score.low > 0.1
    means = alike.run.outcomes.groupby("method")["balanced_accuracy"].mean()
    assert alike.answer.mean(alike.answer.chosen) == pytest.approx(means[alike.answer.chosen.label], abs=0.02)


def test_a_budget_that_is_too_short_still_gives_an_answer(tmp_path):
    table = mixed(100)
    short = mfbench.select(table, target="outcome", budget=0.5, out=tmp_path, jobs=1)
    assert short.answer.n_repeats == 1 and {one.selector for one in short.answer.pipelines} >= {"F", "all", "random"}


def test_the_order_is_that_of_the_mean_ranks_of_the_study():
    table = pd.read_csv(Path(__file__).parents[1] / "benchmarks" / "select_pairs.csv")
    ranks = table[list(BEST_FIRST)].rank(axis=1, ascending=False).mean()
    assert len(BEST_FIRST) == 20 and table["family"].nunique() >= 50
    assert ranks.is_monotonic_increasing


def test_what_is_tried():
    pairs = pairs_of(is_regression=False)
    assert len(pairs) == len(set(pairs)) == 20
    pipelines = pipelines_of(4, pairs[:2])
    assert [one.size for one in pipelines if one.selects] == [1, 1, 2, 2, 3, 3]
    labels = [one.label for one in pipelines]
    assert len(set(labels)) == len(labels) and all(len(label) <= 24 for label in labels)
    assert [Pipeline.of(label, 4) for label in labels] == pipelines


class TestCommand:
    def run(self, capsys, *words):
        with pytest.raises(SystemExit) as end:
            main([*map(str, words)])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    def test_a_messy_file(self, capsys, tmp_path):
        path = tmp_path / "Clinic data.csv"
        mixed().to_csv(path, sep=";", decimal=",", index=False, na_rep="NULL")
        words = ("select", path, "--target", "outcome", "--out", tmp_path / "out", "--max-trials", 90, "--jobs", 1)
        code, out, _ = self.run(capsys, *words, "--code", "--save", tmp_path / "p.joblib")
        assert code == 0
        assert "date: year, month, weekday and days since the first: visit" in out
        assert "Page: " in out and "pipeline.fit(" in out and "runs the code in it" in out
        saved = joblib.load(tmp_path / "p.joblib")
        assert set(saved["versions"]) == {"mfbench", "scikit-learn"}
        code, out, _ = self.run(capsys, *words, "--json")
        assert code == 0 and json.loads(out[out.index("{") :])["rows"] == 150

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--target", "outcom"), "outcome"),
            (("--target", "outcome", "--task", "regress"), "--task 'regress'"),
            (("--target", "outcome", "--metric", "f1"), "'f1' does not suit"),
            (("--target", "outcome", "--budget", "1m", "--max-trials", "9"), "choose one of"),
            (("--target", "outcome", "--max-trials", "9"), "--max-trials 9 is too few"),
            (("--target", "outcome", "--sep", "ab"), "--sep 'ab'"),
            (("--target", "outcome", "--drop", "y9"), "'y9'"),
            (("--target", "outcome", "--code", "--json"), "choose one of --code and --json"),
            (("--target", "outcome", "--groups", "site", "--time", "visit"), "groups and a time"),
        ],
    )
    def test_bad_words_are_refused_in_a_sentence(self, capsys, tmp_path, words, message):
        path = tmp_path / "t.csv"
        mixed(40).to_csv(path, index=False)
        code, _, err = self.run(capsys, "select", path, *words, "--out", tmp_path / "out")
        # What only the loaded data show is failed work, not wrong usage.
        assert code == (1 if "--time" in words else 2) and message in err and "Traceback" not in err


def test_a_table_or_a_target(tmp_path):
    with pytest.raises(UsageError, match="either y, or the name"):
        mfbench.select(mixed())
    with pytest.raises(UsageError, match="150 rows, and y 3 values"):
        mfbench.select(mixed(), [1, 2, 3])
