"""The decision rules for two methods on one dataset, by the names that ``[report] test`` accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mfbench.errors import RunError
from mfbench.stats.one_dataset.bayesian import Posterior, correlated_t_test
from mfbench.stats.one_dataset.cells import CellResults
from mfbench.stats.one_dataset.decisions import DecisionTest, mcnemar_test, s_test
from mfbench.stats.one_dataset.paired import LEAST_PAIRS, TOO_FEW, PairedTest, corrected_t_test, paired_t_test
from mfbench.stats.one_dataset.signed import sign_test, wilcoxon_test
from mfbench.stats.settings import ComparisonSettings
from mfbench.suite.scores import SCORES

Comparison = PairedTest | DecisionTest | Posterior
S_TESTS = ("s-test", "s-test-exact")
"""The rules that are one-sided, in the direction that the data suggest."""


@dataclass(frozen=True)
class Rule:
    """A decision rule: its name in reports, the comparison, and whether it uses decisions instead of scores."""

    title: str
    compare: Callable[[CellResults, CellResults, ComparisonSettings], Comparison]
    of_decisions: bool = False


def compare(
    first: CellResults, second: CellResults, settings: ComparisonSettings, test: str | None = None
) -> Comparison:
    """Compare two complete cells of a dataset."""
    # A single test set has no spread between folds, so no test of scores is defined; `sound_test` is used instead. A
    # test of decisions has no verdict on a metric that does not count them.
    name = test or settings.test
    if len(first.scores) < 2 and not RULES[name].of_decisions:
        name = sound_test(first, settings)
    rule = RULES[name]
    if rule.of_decisions and not SCORES[settings.metric].counts_decisions:
        difference = settings.sign * float(np.mean(first.scores - second.scores))
        reason = f"{name} compares decisions, not {settings.metric}"
        return PairedTest(difference, np.nan, np.nan, np.nan, reason=reason)
    return rule.compare(first, second, settings)


def sound_test(cell: CellResults, settings: ComparisonSettings) -> str:
    """Return the rule to trust: the corrected resampled t-test, or McNemar's test on a single test set."""
    # For a protocol with independent rounds the ratio is 0, and the corrected test equals the plain paired t-test.
    if len(cell.scores) > 1 or not SCORES[settings.metric].counts_decisions:
        return "corrected-t"
    try:
        cell.decisions()
    except RunError:  # nothing was predicted, as in ground-truth: a single round allows no test
        return "corrected-t"
    return "mcnemar"


def _of_scores(
    test: Callable[..., PairedTest | Posterior], *names: str
) -> Callable[[CellResults, CellResults, ComparisonSettings], Comparison]:
    """Return a rule that compares the scores of folds; `names` are the settings it uses besides the level."""

    def rule(first: CellResults, second: CellResults, settings: ComparisonSettings) -> Comparison:
        a, b = settings.sign * first.scores, settings.sign * second.scores
        if len(a) < LEAST_PAIRS:
            return PairedTest(float(np.mean(a - b)), np.nan, np.nan, np.nan, reason=TOO_FEW)
        return test(a, b, **{name: getattr(settings, name) for name in names}, alpha=settings.alpha)

    return rule


def _s_test(exact: bool) -> Callable[[CellResults, CellResults, ComparisonSettings], Comparison]:
    def rule(first: CellResults, second: CellResults, settings: ComparisonSettings) -> Comparison:
        return s_test(first.first_repeat, second.first_repeat, exact=exact, alpha=settings.alpha)

    return rule


def _mcnemar(first: CellResults, second: CellResults, settings: ComparisonSettings) -> Comparison:
    return mcnemar_test(first.first_test_set(), second.first_test_set(), settings.alpha)


RULES: Mapping[str, Rule] = {
    "corrected-t": Rule("corrected resampled t-test (Nadeau and Bengio)", _of_scores(corrected_t_test, "ratio")),
    "paired-t": Rule("plain paired t-test, which treats overlapping folds as independent", _of_scores(paired_t_test)),
    "bayes-t": Rule(
        "Bayesian correlated t-test (Corani and Benavoli), at a probability above 1 - α of a difference beyond the "
        "region of practical equivalence",
        _of_scores(correlated_t_test, "ratio", "rope"),
    ),
    "wilcoxon": Rule(
        "Wilcoxon test over folds, which treats overlapping folds as independent", _of_scores(wilcoxon_test)
    ),
    "sign": Rule("sign test over folds, which treats overlapping folds as independent", _of_scores(sign_test)),
    "s-test": Rule(
        "s-test (Yang and Liu) in its normal form on the pooled decisions of the first repeat, one-sided in the "
        "direction chosen by the data",
        _s_test(exact=False),
        of_decisions=True,
    ),
    "s-test-exact": Rule(
        "exact s-test on the pooled decisions of the first repeat, one-sided in the direction chosen by the data",
        _s_test(exact=True),
        of_decisions=True,
    ),
    "mcnemar": Rule("exact McNemar test on the first test set", _mcnemar, of_decisions=True),
}
