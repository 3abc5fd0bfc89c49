"""Rules by name: each is the test it says, reads what it should, and a report's columns follow it."""

import numpy as np
import pandas as pd
import pytest
from toy_metrics import SCORES

from mfbench.errors import RunError
from mfbench.stats.bayesian import correlated_t_test
from mfbench.stats.cells import ComparisonSettings, results_by_cell
from mfbench.stats.paired import corrected_t_test, mcnemar_test, paired_t_test, s_test, sign_test, wilcoxon_test
from mfbench.stats.rules import RULES, compare, sound_test
from mfbench.stats.summary import compare_with_reference, summarise
from mfbench.suite.schema import ReportSettings

FOLDS, REPEATS = 4, 3
RNG = np.random.default_rng(0)
RIGHT = {name: [RNG.random(25) < share for _ in range(FOLDS * REPEATS)] for name, share in (("A", 0.8), ("B", 0.6))}


def settings_for(**changes):
    base = {"metric": "accuracy", "scores": SCORES, "reference": "A", "test": "corrected-t", "alpha": 0.05}
    return ComparisonSettings(**{**base, "ratio": 1 / 3, **changes})


@pytest.fixture(scope="module")
def trials():
    rows = [
        {
            "dataset": "d",
            "method": name,
            "repeat": i // FOLDS,
            "fold": i % FOLDS,
            "status": "ok",
            "accuracy": right.mean(),
        }
        for name, folds in RIGHT.items()
        for i, right in enumerate(folds)
    ]
    times = dict.fromkeys(["tune_wall", "select_wall", "fit_wall", "predict_wall", "duration", "peak_memory"], 1.0)
    return pd.DataFrame(rows).assign(**times).sample(frac=1, random_state=1)


def decisions(dataset, method):
    assert dataset == "d"
    return RIGHT[method]


def test_every_rule_is_the_test_it_says(trials):
    cells = results_by_cell(trials, "accuracy", decisions)
    a, b = cells["d", "A"], cells["d", "B"]
    first = [np.concatenate(RIGHT[name][:FOLDS]) for name in "AB"]
    expected = {
        "corrected-t": corrected_t_test(a.scores, b.scores, 1 / 3),
        "paired-t": paired_t_test(a.scores, b.scores),
        "bayes-t": correlated_t_test(a.scores, b.scores, 1 / 3, 0.01),
        "wilcoxon": wilcoxon_test(a.scores, b.scores),
        "sign": sign_test(a.scores, b.scores),
        "s-test": s_test(*first, exact=False),
        "s-test-exact": s_test(*first),
        "mcnemar": mcnemar_test(RIGHT["A"][0], RIGHT["B"][0]),
    }
    assert set(expected) == set(RULES)
    for name, test in expected.items():
        assert repr(compare(a, b, settings_for(), name)) == repr(test)  # NaN equals itself in a text
        assert repr(compare(a, b, settings_for(test=name))) == repr(test)


def test_a_test_of_decisions_has_no_verdict_on_another_metric(trials):
    cells = results_by_cell(trials.assign(log_loss=1 - trials["accuracy"]), "log_loss", decisions)
    settings = settings_for(metric="log_loss")
    for name, rule in RULES.items():
        test = compare(cells["d", "A"], cells["d", "B"], settings, name)
        assert (test.verdict() is None) == rule.of_decisions
        assert test.difference > 0, "A is better, whatever the direction of the metric"
    assert test.reason == "mcnemar compares decisions, not log_loss"


def test_a_suite_can_name_every_rule():
    for key in ("test", "published_test"):
        (item,) = [ReportSettings.model_json_schema()["properties"][key]]
        assert set(item["enum"]) == set(RULES)


def test_exchanging_the_methods_turns_the_verdict(trials):
    for name in RULES:
        cells = results_by_cell(trials, "accuracy", decisions)
        one = compare(cells["d", "A"], cells["d", "B"], settings_for(), name)
        other = compare(cells["d", "B"], cells["d", "A"], settings_for(), name)
        assert one.verdict() == -other.verdict()
        assert compare(cells["d", "A"], cells["d", "A"], settings_for(), name).verdict() == 0


def test_both_verdicts_and_the_mark_stand_beside_the_test(trials):
    verdicts = compare_with_reference(trials, settings_for(test="s-test"), decisions)
    found = verdicts.iloc[0]
    pooled = s_test(*(np.concatenate(RIGHT[name][:FOLDS]) for name in "AB"), exact=False)
    assert (found["mark"], found["p_value"], found["difference"]) == (pooled.mark, pooled.p_value, pooled.difference)
    words = {1: "win", 0: "tie", -1: "loss"}
    cells = results_by_cell(trials, "accuracy", decisions)
    for column, rule in (("published", "paired-t"), ("sound", "corrected-t"), ("verdict", "s-test")):
        assert found[column] == words[compare(cells["d", "A"], cells["d", "B"], settings_for(), rule).verdict()]
    posterior = correlated_t_test(cells["d", "A"].scores, cells["d", "B"].scores, 1 / 3, 0.01)
    assert (found["better"], found["equal"], found["worse"]) == (posterior.first, posterior.rope, posterior.second)
    row = summarise(trials, settings_for(test="s-test"), verdicts).set_index("method").loc["B"]
    for prefix, column in (("", "verdict"), ("published_", "published"), ("sound_", "sound")):
        assert row[f"{prefix}{found[column]}"] == 1


class TestOneTestSet:
    def cells(self, trials, asked=decisions):
        return results_by_cell(trials[(trials["repeat"] == 0) & (trials["fold"] == 0)], "accuracy", asked)

    RULES_OF_SCORES = ("corrected-t", "paired-t", "bayes-t", "wilcoxon", "sign")

    def test_mcnemars_takes_the_place_of_tests_of_scores(self, trials):
        cells = self.cells(trials)
        expected = compare(cells["d", "A"], cells["d", "B"], settings_for(), "mcnemar")
        for name in self.RULES_OF_SCORES:
            assert compare(cells["d", "A"], cells["d", "B"], settings_for(), name) == expected

    def test_without_predictions_tests_of_scores_are_not_defined(self, trials):
        cells = self.cells(trials, None)
        for name in self.RULES_OF_SCORES:
            found = compare(cells["d", "A"], cells["d", "B"], settings_for(), name)
            assert np.isnan(found.p_value) and found.verdict() is None

    def test_the_sound_rule_is_mcnemars(self, trials):
        assert sound_test(self.cells(trials)["d", "A"], settings_for()) == "mcnemar"
        assert sound_test(results_by_cell(trials, "accuracy", decisions)["d", "A"], settings_for()) == "corrected-t"

    def test_without_predictions_there_is_none(self, trials):
        assert sound_test(self.cells(trials, None)["d", "A"], settings_for()) == "corrected-t"


def test_a_test_of_decisions_without_predictions_says_so(trials):
    with pytest.raises(RunError, match="no predictions of A on d"):
        compare_with_reference(trials, settings_for(test="mcnemar"))


def test_below_five_pairs_no_rule_of_fold_scores_has_a_verdict(trials):
    for name in ["corrected-t", "paired-t", "bayes-t", "wilcoxon", "sign"]:
        cells = results_by_cell(trials[trials["repeat"] == 0], "accuracy", decisions)
        found = compare(cells["d", "A"], cells["d", "B"], settings_for(), name)
        assert len(cells["d", "A"].scores) == 4
        assert found.verdict() is None and np.isnan(found.p_value)
        assert found.reason == "fewer than 5 pairs"
