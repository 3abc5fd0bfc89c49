"""Rejections of equality by each rule on methods that are equal by construction."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from toy_metrics import SCORES

from mfbench.model.evaluation import Score
from mfbench.stats.calibration import design_of, rejections, share
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.paired import corrected_t_test, paired_t_test
from mfbench_protocols.splits import RepeatedCV

SETTINGS = ComparisonSettings("accuracy", SCORES, "A", "corrected-t", 0.05, 1 / 9)


def centroid_right(X, y, train, test):
    means = [X[train[y[train] == code]].mean(axis=0) for code in (0, 1)]
    distances = [((X[test] - mean) ** 2).sum(axis=1) for mean in means]
    return (distances[1] < distances[0]) == y[test]


@pytest.fixture(scope="module")
def two_views():
    """Sixty datasets of 100 rows, two views of each, nearest class means, ten times ten folds."""
    rng = np.random.default_rng(5)
    rows, right = [], {}
    for number in range(60):
        y = np.arange(100) % 2
        views = rng.normal(size=(2, 100, 5)) + 0.5 * y[:, None]
        protocol = RepeatedCV(folds=10, repeats=10, seed=number)
        for repeat in range(10):
            for fold, (train, test) in enumerate(protocol.splits("d", y, repeat)):
                for method, X in zip("AB", views, strict=True):
                    found = centroid_right(X, y, train, test)
                    right.setdefault((f"d{number}", method), []).append(found)
                    place = {"dataset": f"d{number}", "method": method, "repeat": repeat, "fold": fold}
                    rows.append({**place, "status": "ok", "accuracy": found.mean()})
    return pd.DataFrame(rows), right


def test_the_published_rule_finds_what_is_not_and_the_corrected_one_does_not(two_views):
    trials, right = two_views
    groups = dict.fromkeys(trials["dataset"], "design")
    found = rejections(trials, SETTINGS, [("A", "B")], groups, lambda d, m: right[d, m])
    shares = found.set_index("rule")["frequency"]
    assert (found["datasets"] == 60).all()
    assert shares["paired t, all folds"] > 0.40
    assert shares["paired t, repetition means"] > 0.60
    assert shares["corrected t, all folds"] < 0.10
    assert shares["McNemar, exact, pooled first repetition"] < 0.20


def test_frequencies_are_those_of_the_tests(two_views):
    trials, right = two_views
    groups = dict.fromkeys(trials["dataset"], "design")
    shares = rejections(trials, SETTINGS, [("A", "B")], groups, lambda d, m: right[d, m]).set_index("rule")["rejected"]
    scores = {key: np.array([fold.mean() for fold in folds]) for key, folds in right.items()}
    for rule, test in (
        ("paired t, all folds", lambda a, b: paired_t_test(a, b)),
        ("corrected t, all folds", lambda a, b: corrected_t_test(a, b, 1 / 9)),
        ("corrected t, first repetition", lambda a, b: corrected_t_test(a[:10], b[:10], 1 / 9)),
    ):
        assert shares[rule] == sum(test(scores[d, "A"], scores[d, "B"]).p_value < 0.05 for d in groups)


def test_designs_are_told_apart_and_single_repetitions_leave_rules_out(two_views):
    trials, right = two_views
    few = trials[trials["dataset"].isin(["d0", "d1", "d2"]) & (trials["repeat"] == 0)]
    groups = {"d0": "x", "d1": "y", "d2": "y"}
    found = rejections(few, SETTINGS, [("A", "B")], groups, lambda d, m: right[d, m][:10])
    assert found.groupby("group")["datasets"].first().to_dict() == {"x": 1, "y": 2}
    assert not any("all folds" in rule or "means" in rule for rule in found["rule"])
    assert "corrected t, first repetition" in set(found["rule"])


def test_an_incomplete_pair_does_not_count(two_views):
    trials, right = two_views
    holed = trials[trials["dataset"].isin(["d0", "d1"])].copy()
    holed.loc[holed.index[0], "status"] = "error"
    groups = {"d0": "x", "d1": "x"}
    assert set(rejections(holed, SETTINGS, [("A", "B")], groups, lambda d, m: right[d, m])["datasets"]) == {1}


def test_a_design_is_a_dataset_without_its_seed():
    for label, design in [
        ("two-views(n_samples=100, seed=3)", "two-views(n_samples=100)"),
        ("two-views(seed=3)", "two-views"),
        ("two-views(seed=3, n_samples=5)", "two-views(n_samples=5)"),
        ("iris", "iris"),
    ]:
        assert design_of(label) == design


def test_the_interval_of_a_share_covers_it():
    assert share(0, 50)[0] == 0.0
    assert share(50, 50)[1] == 1.0
    assert share(0, 50)[1] == pytest.approx(1 - 0.025 ** (1 / 50))


def test_rules_that_a_design_defines():
    for repeats, folds, defined in [
        (3, 4, {"all folds", "repetition means", "first repetition", "first test set", "Bayesian"}),
        (1, 4, {"first repetition", "first test set", "Bayesian"}),
        (4, 1, {"all folds", "first test set", "Bayesian"}),
        (1, 1, {"first test set"}),
    ]:
        rng = np.random.default_rng(0)
        rows, right = [], {}
        for method in "AB":
            decisions = rng.random((repeats * folds, 20)) < 0.7
            right["d", method] = list(decisions)
            rows += [
                {
                    "dataset": "d",
                    "method": method,
                    "repeat": i // folds,
                    "fold": i % folds,
                    "status": "ok",
                    "accuracy": mean,
                }
                for i, mean in enumerate(decisions.mean(axis=1))
            ]
        found = rejections(
            pd.DataFrame(rows), SETTINGS, [("A", "B")], {"d": "design"}, lambda d, m, right=right: right[d, m]
        )
        words = {"all folds", "repetition means", "first repetition", "first test set", "Bayesian"}
        assert {word for word in words if found["rule"].str.contains(word).any()} == defined


def test_scores_in_units_have_a_margin_in_those_of_each_dataset_and_no_decisions():
    rows = [
        {"dataset": d, "method": m, "repeat": r, "fold": f, "status": "ok", "rmse": unit * (10 + shift * (1 + f / 100))}
        for d, unit in (("metres", 1.0), ("millimetres", 1000.0))
        for m, shift in (("A", 0.0), ("B", 0.02))
        for r in range(2)
        for f in range(5)
    ]
    spreads = (("metres", 1.0), ("millimetres", 1000.0))
    scores = {"rmse": Score(greater_is_better=False, in_units=True, percent=False)}
    settings = ComparisonSettings("rmse", scores, "A", "corrected-t", 0.05, 1 / 4, spreads=spreads)
    for rope, label, found in ((0.01, "0.01", 2), (0.03, "0.03", 0)):
        groups = dict.fromkeys(("metres", "millimetres"), "design")
        table = rejections(
            pd.DataFrame(rows),
            replace(settings, rope=rope),
            [("A", "B")],
            groups,
            lambda d, m: pytest.fail("decisions"),
        ).set_index("rule")
        assert table.loc[f"Bayesian correlated t, ROPE {label} sd", "rejected"] == found
        assert not any("test set" in rule or "pooled" in rule for rule in table.index)
