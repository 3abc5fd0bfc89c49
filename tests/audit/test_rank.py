"""``mfbench rank``: tables of many forms, what they allow to say, and what their usual reading would be worth."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import friedmanchisquare
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from mfbench.errors import UsageError
from mfbench_audit.rank_report import report_of_ranking
from mfbench_audit.ranking import compare, skillings_mack, usual_readings
from mfbench_audit.reading import ScoreTable, read_scores


def _frame(gap=0.0, datasets=8, methods=3, folds=5, seed=0, spread=0.02):
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{d}", f"m{m}", f, 0.8 + gap * (m == 0) + spread * rng.normal())
        for d in range(datasets)
        for m in range(methods)
        for f in range(folds)
    ]
    return pd.DataFrame(rows, columns=["dataset", "method", "fold", "accuracy"])


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a frame as a file, and reads it as a table of scores."""

    def read(frame, name="table.csv", metric=None):
        path = tmp_path / name
        frame.to_csv(path, index=False)
        return read_scores([path], metric)

    return read


def test_forms_of_one_table_say_the_same(read):
    frame = _frame(gap=0.1)
    wide = frame.groupby(["dataset", "method"])["accuracy"].mean().unstack().reset_index()
    percent = wide.set_index("dataset").mul(100).reset_index()
    losses = frame.assign(metric_error=1 - frame["accuracy"], metric="acc").drop(columns="accuracy")
    runs = frame.groupby(["dataset", "method"], sort=False)["accuracy"].agg(list).reset_index()
    openml = pd.DataFrame(
        {
            "run_id": range(len(runs)),
            "setup_id": 1,
            "flow_name": runs["method"],
            "data_name": runs["dataset"],
            "function": "predictive_accuracy",
            "value": runs["accuracy"].map(np.mean),
            "values": runs["accuracy"].map(str),
        }
    )
    for table, folds, source in [
        (read(frame), 5, "one row per score"),
        (read(wide), 0, "one row per dataset and one column per method"),
        (read(percent), 0, "one row per dataset and one column per method"),
        (read(losses), 5, "results of TabArena"),
        (read(openml), 5, "evaluations of OpenML runs"),
    ]:
        ranking = compare(table)
        assert table.source == source
        assert ranking.folds == folds
        means = ranking.overall.completed.scores.mean()
        expected = frame.groupby("method")["accuracy"].mean()
        if source == "results of TabArena":
            assert not ranking.score.greater_is_better
            means = 1 - means
        assert means.to_dict() == pytest.approx(expected.to_dict())
        text = " ".join(report_of_ranking(ranking, "t").answer)
        assert "On datasets like these, m0 is better than" in text
        assert ("m0 is better on average than both other methods" in text) == bool(folds)


def test_results_of_scikit_learn(read):
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 100]}, cv=5).fit(*load_iris(return_X_y=True))
    ranking = compare(read(pd.DataFrame(search.cv_results_), "search.csv"))
    assert ranking.folds == 5
    assert list(ranking.means.index) == ["search"]
    assert ranking.means.iloc[0].tolist() == pytest.approx(search.cv_results_["mean_test_score"].tolist())
    assert any("no statement about others" in note for note in report_of_ranking(ranking, "t").sections[1].notes)


def test_results_of_benchopt(read):
    rows = [
        (data, solver, stop, repetition, {"a": 1.0, "b": 2.0}[solver] / (1 + stop))
        for data in ("x", "y")
        for solver in ("a", "b")
        for repetition in (0, 1)
        for stop in (0, 3)
    ]
    columns = ["data_name", "solver_name", "stop_val", "idx_rep", "objective_value"]
    table = read(pd.DataFrame(rows, columns=columns))
    assert not table.has_folds
    assert table.greater_is_better is False
    assert table.frame["score"].tolist() == [0.25, 0.5, 0.25, 0.5]


def test_results_of_sdufseval(tmp_path):
    paths = []
    for method, shift in (("relief", 0.0), ("mrmr", 0.1)):
        path = tmp_path / f"{method}_ACC_wide_SI5_CV5_RS1.csv"
        pd.DataFrame({"Dataset": ["a", "b"], "10.0%": [0.5, 0.6], "20.0%": [0.7, 0.8]}).set_index("Dataset").add(
            shift
        ).to_csv(path)
        paths.append(path)
    table = read_scores(paths)
    assert table.frame.set_index(["dataset", "method"])["score"].to_dict() == pytest.approx(
        {("a", "relief"): 0.6, ("b", "relief"): 0.7, ("a", "mrmr"): 0.7, ("b", "mrmr"): 0.8}
    )
    assert any("optimistic" in remark for remark in table.remarks)


def test_cells_of_print(read):
    frame = pd.DataFrame(
        {"data": ["a", "b", "Average"], "x": ["93,1 ± 0.4", "80.0 %", "86.6"], "y": ["90.0", "-", "90"]}
    )
    table = read(frame)
    assert table.frame["score"].tolist() == [93.1, 80.0, 90.0]
    assert table.remarks == ["Rows left out: Average."]


def test_what_is_refused(read, tmp_path):
    frame = _frame()
    negative = frame.assign(accuracy=frame["accuracy"] * 100 - 90)
    for table, sentence in [
        (pd.concat([frame, frame.iloc[:1]]), r"1 cell of the table is there more than once, such as m0 on d0"),
        (frame[frame["method"] == "m1"], "has scores of 1 method, and two are needed"),
        (frame.drop(columns="method"), "columns were read as one row per dataset and one column per method"),
        (frame.assign(accuracy="good"), "'good' is not a score"),
        (frame.rename(columns={"accuracy": "gain"}), "which column is the score"),
        (frame.assign(accuracy=np.inf), "infinite"),
        (frame.iloc[:0], "has no rows"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            compare(read(table))
    with pytest.raises(UsageError, match="neither shares nor all positive"):
        compare(read(negative))
    with pytest.raises(UsageError, match="--folds 9 does not fit"):
        compare(read(frame), folds=9)
    with pytest.raises(UsageError, match="'m9' is not in the table"):
        compare(read(frame), reference="m9")
    with pytest.raises(UsageError, match="cannot read"):
        read_scores([tmp_path / "absent.csv"])


def test_unequal_folds_and_missing_cells(read):
    frame = _frame(gap=0.05)
    ranking = compare(read(frame[(frame["method"] != "m1") | (frame["fold"] != 2)]))
    assert ranking.folds == 4
    assert any("Only folds that all methods have" in remark for remark in ranking.remarks)
    holes = compare(read(frame[(frame["method"] != "m1") | (frame["dataset"] != "d3")]))
    assert holes.missing is not None
    assert holes.overall.n_datasets == 7
    answer = report_of_ranking(holes, "t").answer
    assert "1 cell of 24 is missing" in answer[-1]


def test_repeats_are_told_from_folds(read):
    frame = pd.concat([_frame(seed=s).assign(repeat=s) for s in range(3)])
    once, thrice = compare(read(frame)), compare(read(frame), folds=5)
    assert (once.folds, thrice.folds) == (15, 5)
    # Folds of three repeats share more rows than fifteen folds would: the error is larger.
    assert thrice.overall.claims.these["p_value"].min() > once.overall.claims.these["p_value"].min()


def test_each_dataset_has_its_own_number_of_folds(read):
    frame = pd.concat(
        [_frame(folds=10), _frame(folds=3, seed=1).replace({"dataset": {"d0": "few"}}).query("dataset == 'few'")]
    )
    ranking = compare(read(frame))
    assert any("up to 10 folds" in remark for remark in ranking.remarks)
    errors = ranking.overall.errors
    own = frame[frame["dataset"] == "few"].pivot(index="fold", columns="method", values="accuracy")
    variance = (own["m0"] - own["m1"]).var(ddof=1)
    assert errors["few"].squares[0, 1] == pytest.approx((1 / 3 + 1 / 2) * variance, rel=1e-6)
    assert errors["few"].df == 2


def test_one_of_several_metrics(read):
    long = _frame().rename(columns={"accuracy": "value"})
    both = pd.concat([long.assign(metric="acc"), long.assign(metric="rmse", value=5 * long["value"])])
    with pytest.raises(UsageError, match="has several metrics: name one of acc and rmse with --metric"):
        read(both)
    assert read(both, metric="rmse").greater_is_better is False
    assert read(both[both["metric"] == "acc"], metric="acc").metric == "acc"
    # TabArena has another metric for other kinds of data.
    read(both[(both["metric"] == "acc") == (both["dataset"] < "d4")])


def test_errors_of_other_units_are_compared_by_ratio(read):
    frame = _frame(gap=0.1, spread=0.001).rename(columns={"accuracy": "rmse"})
    units = frame["dataset"].map({f"d{d}": 10.0**d for d in range(8)})
    ranking = compare(read(frame.assign(rmse=frame["rmse"] * units)))
    assert not ranking.score.greater_is_better
    assert ranking.overall.claims.methods[-1] == "m0"
    assert ranking.overall.completed.scores.median(axis=1).tolist() == pytest.approx([1.0] * 8)


def test_skillings_and_mack_without_holes_is_friedmans():
    scores = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 4)))
    test = skillings_mack(scores)
    friedman = friedmanchisquare(*scores.to_numpy().T)
    assert test.statistic == pytest.approx(friedman.statistic)
    assert test.df == 3
    assert test.p_value == pytest.approx(friedman.pvalue, abs=0.05)


def test_skillings_and_mack_with_holes():
    scores = pd.DataFrame(np.random.default_rng(1).normal(size=(20, 4)))
    scores[0] += 3.0
    scores = scores.mask(np.random.default_rng(2).random(scores.shape) < 0.3)
    assert skillings_mack(scores).p_value < 0.01
    # Neither the order of methods nor a monotone scale of a dataset matters.
    same = skillings_mack(np.exp(scores[[2, 0, 3, 1]]))
    assert same.statistic == pytest.approx(skillings_mack(scores).statistic)
    apart = pd.DataFrame([[1.0, np.nan], [np.nan, 2.0]])
    assert skillings_mack(apart) is None


def test_levels_of_usual_readings():
    frame = _frame(datasets=10, methods=2)
    means = frame.groupby(["dataset", "method"])["accuracy"].mean().unstack()
    frame = frame.assign(repeat=0)
    two = usual_readings(frame, means, 5)
    # One test of two exchangeable methods keeps its level; ten t-tests of correlated folds do not.
    assert two["Wilcoxon's test of each pair over the datasets, at 5 % each"] == pytest.approx(0.05, abs=0.035)
    many = _frame(datasets=10, methods=8).assign(repeat=0)
    wide = many.groupby(["dataset", "method"])["accuracy"].mean().unstack()
    levels = usual_readings(many, wide, 5)
    assert min(levels.values()) > 0.4


@pytest.mark.slow(reason="six hundred tables of equal methods")
def test_levels_of_rank_on_equal_methods():
    wrong = {"these": 0, "others": 0}
    for seed in range(600):
        rng = np.random.default_rng(seed)
        frame = _frame(datasets=8, methods=4, seed=seed)
        # By the model of correlated folds: a fifth of the variance is common to those of a cell.
        common = rng.normal(size=(8, 4)) * 0.02 * np.sqrt(0.25)
        frame["accuracy"] += np.repeat(common.ravel(), 5)
        table = ScoreTable(frame.rename(columns={"accuracy": "score"}), "", "", True)
        claims = compare(table).overall.claims
        wrong["these"] += bool((claims.these["holm"] < 0.05).any())
        wrong["others"] += bool((claims.like_these["adjusted"] < 0.05).any())
    assert max(wrong.values()) <= 600 * 0.07


def test_command(tmp_path, capsys, monkeypatch):
    from mfbench.cli.entry import main

    path = tmp_path / "scores.csv"
    _frame(gap=0.1).to_csv(path, index=False)

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["mfbench", "rank", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    code, shown = call(path, "--json")
    assert code in (0, None)
    assert json.loads(shown.out)["folds"] == 5
    page = tmp_path / "page.html"
    assert call(path, "--html", "-o", page)[0] in (0, None)
    assert "m0 is better" in page.read_text()
    code, shown = call(path, "--lower", "--higher")
    assert code == 2
    assert "choose one of" in shown.err
