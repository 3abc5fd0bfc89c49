"""Ours beside published figures: the standard error, the verdicts, what is not compared."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from scipy import stats
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mfbench.stats.published import compare_with_published, summarise
from mfbench.suite.published import PublishedFigure


def trials(scores, status=None):
    """The trials of a cell, from scores of shape (repeats, folds)."""
    scores = np.atleast_2d(np.asarray(scores, dtype=float))
    repeats, folds = np.indices(scores.shape)
    status = status or ["ok"] * scores.size
    columns = {"repeat": repeats.ravel(), "fold": folds.ravel(), "status": status, "accuracy": scores.ravel()}
    return pd.DataFrame({"dataset": "d", "method": "m", **columns, "mcc": 0.0})


def figure(value, **more):
    return PublishedFigure(**{"table": "t", "dataset": "d", "method": "m", "label": "D", "value": value, **more})


def compare(frame, *figures, metric="accuracy", rows=10_000):
    return compare_with_published(frame, figures, {"t": metric}, [{"label": "d", "n_samples": rows}])


REPEATS = np.array([[0.8, 0.9], [0.9, 0.84], [0.88, 0.96], [0.86, 0.9], [0.91, 0.85]])
MEANS = REPEATS.mean(axis=1)


def test_above_or_below_if_a_t_test_of_repeats_rejects_equality():
    error = MEANS.std(ddof=1) * np.sqrt(1 / 5 + 1 / 10)
    edge = stats.t.ppf(0.975, 4) * error
    for shift, verdict in [
        (0, "undecided"),
        (0.999, "undecided"),
        (1.001, "above"),
        (-0.999, "undecided"),
        (-1.001, "below"),
    ]:
        row = compare(trials(REPEATS), figure(MEANS.mean() - shift * edge, repeats=10)).iloc[0]
        assert row["verdict"] == verdict
        assert row["ours"] == pytest.approx(MEANS.mean()) and row["difference"] == pytest.approx(shift * edge)
        assert row["uncertainty"] == pytest.approx(edge)


def test_a_figure_is_a_mean_over_its_own_repeats():
    many, one = (compare(trials(REPEATS), figure(0.88, repeats=count)).iloc[0] for count in (10**9, 1))
    assert many["uncertainty"] == pytest.approx(stats.t.ppf(0.975, 4) * stats.sem(MEANS))  # as an exact number
    assert one["uncertainty"] / many["uncertainty"] == pytest.approx(np.sqrt(6))


@pytest.mark.parametrize("sign", [1, -1])
def test_equivalent_if_two_one_sided_tests_reject_a_difference_of_two_points(sign):
    steady = 0.88 + np.array([[-0.01], [-0.005], [0.0], [0.005], [0.01]])

    def largest_p(value):  # against an exact number these are one-sample t-tests at level 0.05
        differences = steady[:, 0] - value
        tests = [(-0.02, "greater"), (0.02, "less")]
        return max(stats.ttest_1samp(differences, bound, alternative=way).pvalue for bound, way in tests)

    edge = scipy.optimize.brentq(lambda shift: largest_p(0.88 - sign * shift) - 0.05, 0.0, 0.02)
    figures = [figure(0.88 - sign * edge * factor, repeats=10**9) for factor in (0.999, 1.001)]
    frame = compare(trials(steady), *figures)
    assert frame["verdict"].tolist() == ["equivalent", "above" if sign > 0 else "below"]
    interval = stats.t.interval(0.9, 4, loc=frame["difference"][0], scale=stats.sem(steady[:, 0]))
    assert (frame["low"][0], frame["high"][0]) == pytest.approx(interval)


def test_folds_take_the_place_of_fewer_than_three_repeats():
    row = compare(trials([[0.8, 0.9, 0.85, 0.95, 0.9]]), figure(0.88)).iloc[0]
    error = stats.sem([0.8, 0.9, 0.85, 0.95, 0.9]) * np.sqrt(2)
    assert row["uncertainty"] == pytest.approx(stats.t.ppf(0.975, 4) * error)


def test_equal_repeats_are_not_exact():
    row = compare(trials([[0.9, 0.9]] * 10), figure(0.905, repeats=10), rows=100).iloc[0]
    assert row["uncertainty"] == pytest.approx(stats.t.ppf(0.975, 9) * 0.005 * np.sqrt(1 / 5))
    assert row["verdict"] == "equivalent"


def test_a_small_difference_is_equivalent_even_if_it_is_significant():
    steady = [[0.9001], [0.8999], [0.9], [0.9001], [0.8999]]
    assert compare(trials(steady), figure(0.89)).iloc[0]["verdict"] == "equivalent"


def test_the_repeats_that_would_decide():
    undecided = compare(trials(REPEATS), figure(MEANS.mean() - 0.005, repeats=100)).iloc[0]
    needed = int(undecided["repeats_to_decide"])

    def half(repeats):
        return stats.t.ppf(0.95, repeats - 1) * MEANS.std(ddof=1) * np.sqrt(1 / repeats + 1 / 100)

    assert undecided["verdict"] == "undecided" and 0.005 + half(needed) <= 0.02 < 0.005 + half(needed - 1)
    single = compare(trials(REPEATS), figure(MEANS.mean() - 0.005)).iloc[0]  # its own split is too uncertain
    assert single["verdict"] == "undecided" and np.isnan(single["repeats_to_decide"])
    assert np.isnan(compare(trials(REPEATS), figure(0.1)).iloc[0]["repeats_to_decide"])


def test_with_few_scores_there_is_no_verdict():
    frame = compare(trials([[0.9, 0.8]]), figure(0.9), figure(0.1))
    assert frame["verdict"].tolist() == ["undecided"] * 2 and frame["reason"].tolist() == ["fewer than 3 scores"] * 2


def test_a_printed_figure_is_as_exact_as_its_digits():
    edge = stats.t.ppf(0.975, 4) * MEANS.std(ddof=1) * np.sqrt(2 / 5)
    beyond = MEANS.mean() - edge - 0.0004
    frame = compare(trials(REPEATS), *(figure(beyond, rounding=half, repeats=5) for half in (0.0005, 0.0003)))
    assert frame["verdict"].tolist() == ["undecided", "above"]


@pytest.mark.slow(reason="1,500 cross-validations")
def test_the_level_and_the_power_with_real_learners():
    """Two means of ten repeats of one learner on the same data: how often they count as different or equivalent."""
    rng, different, equivalent, margin = np.random.default_rng(0), [], [], []
    for X, y in (load_iris(return_X_y=True), load_wine(return_X_y=True)):
        for learner in (KNeighborsClassifier(3), DecisionTreeClassifier(random_state=0), LinearDiscriminantAnalysis()):
            pool = np.array(
                [
                    [
                        learner.fit(X[a], y[a]).score(X[b], y[b])
                        for a, b in KFold(5, shuffle=True, random_state=seed).split(X)
                    ]
                    for seed in range(250)
                ]
            )
            for _ in range(150):
                places = rng.permutation(len(pool))
                ours, theirs = pool[places[:10]], pool[places[10:20]].mean()
                frame = compare(
                    trials(ours), *(figure(theirs + by, repeats=10) for by in (0.0, 0.02, -0.02)), rows=len(y)
                )
                same, *shifted = frame["verdict"]
                different.append(same in ("above", "below"))
                equivalent.append(same == "equivalent")
                margin += [verdict == "equivalent" for verdict in shifted]
    assert np.mean(different) <= 0.06 and np.mean(margin) <= 0.06 and np.mean(equivalent) >= 0.6


def comparison(differences, verdicts=None, method="m"):
    return pd.DataFrame(
        {"table": "t", "method": method, "verdict": verdicts or "undecided", "difference": np.array(differences)}
    )


def test_a_method_is_equivalent_on_average_by_the_spread_over_datasets():
    for differences, verdict in [
        ([0.01, -0.01, 0.0, 0.005], "equivalent"),
        ([0.10, 0.11, 0.12], "above"),
        ([-0.10, -0.11, -0.12], "below"),
        ([0.10, -0.10, 0.05], "undecided"),
        ([0.0], "undecided"),
    ]:
        row = summarise(comparison(differences)).iloc[0]
        assert row["verdict"] == verdict
        assert row["datasets"] == len(differences) and row["difference"] == pytest.approx(np.mean(differences))
        if len(differences) > 1:
            half = stats.t.ppf(0.95, len(differences) - 1) * stats.sem(differences)
            assert row["high"] - row["low"] == pytest.approx(2 * half)


def test_the_summary_counts_comparable_figures_only():
    verdicts = ["above", "equivalent", "below", "not comparable", "incomplete"]
    frame = pd.concat([comparison([0.1, 0.0, -0.1, 9.0, 9.0], verdicts), comparison([9.0], ["incomplete"], "n")])
    summary = summarise(frame)
    assert summary["method"].tolist() == ["m"]
    row = summary.iloc[0]
    assert row[["datasets", "above", "equivalent", "undecided", "below"]].tolist() == [3, 1, 1, 0, 1]
    assert row["difference"] == pytest.approx(0.0)


def test_an_obstacle_goes_over_everything():
    row = compare(trials(REPEATS), figure(0.1, obstacle="another size")).iloc[0]
    assert (row["verdict"], row["reason"]) == ("not comparable", "another size")


@pytest.mark.parametrize(
    "frame",
    [
        trials(REPEATS, ["ok", "error"] * 5),
        trials(REPEATS, [None] * 10),
        trials([0.8, np.nan, 0.9, 0.9, 0.9]),
    ],
    ids=["failed", "not run", "no score"],
)
def test_an_incomplete_cell_is_not_compared(frame):
    assert compare(frame, figure(0.1)).iloc[0]["verdict"] == "incomplete"


def test_the_metric_is_the_tables():
    assert compare(trials(REPEATS), figure(0.5), metric="mcc").iloc[0][["metric", "ours"]].tolist() == ["mcc", 0.0]


def test_figures_of_other_cells_and_no_figures_leave_a_frame_with_columns():
    empty = compare(trials(REPEATS), figure(0.5, method="n"))
    assert len(empty) == len(compare(trials(REPEATS))) == len(compare(trials(REPEATS).iloc[:0], figure(0.5))) == 0
    assert "verdict" in empty.columns
