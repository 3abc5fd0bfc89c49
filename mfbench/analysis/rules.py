"""The rules that decide between two methods on one dataset, by the names that ``[report] test`` knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.analysis.bayesian import Posterior, correlated_t_test
from mfbench.analysis.missing import POLICIES, Policy
from mfbench.analysis.paired import DecisionTest, PairedTest, corrected_t_test, mcnemar_test, paired_t_test, s_test
from mfbench.analysis.signed import sign_test, wilcoxon_test
from mfbench.errors import RunError, UnknownNameError, UsageError
from mfbench.run.trial.metrics import SCORES

if TYPE_CHECKING:
    from numpy.typing import NDArray

Comparison = PairedTest | DecisionTest | Posterior
Decisions = Callable[[str, str], "list[NDArray[np.bool_]]"]
"""From the labels of a dataset and a method to what was right in the test rows of each fold, in order."""


@dataclass(frozen=True)
class Settings:
    """How trials are compared.

    Attributes
    ----------
    metric : str
        Column of the score.
    greater_is_better : bool
        Its direction.
    reference : str or None
        Method that wins, ties and losses are told for.
    test : str
        One of `RULES`, which marks the tables.
    alpha : float
        Level of the two-sided test.
    ratio : float
        Test rows over training rows of a fold.
    published_test : str
        One of `RULES`: the rule of the papers that the results are compared with.
    rope : float
        Differences of at most this size are practically none, in the metric's unit.
    missing : {"drop-dataset", "worst-rank", "impute-dummy"}
        What becomes of cells without a score when datasets are compared.
    """

    metric: str
    greater_is_better: bool
    reference: str | None
    test: str
    alpha: float
    ratio: float
    published_test: str = "paired-t"
    rope: float = 0.01
    missing: Policy = "drop-dataset"

    def replace(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed; a new metric brings its own direction."""
        if "metric" in changes:
            if changes["metric"] not in SCORES:
                raise UnknownNameError("metric", changes["metric"], SCORES)
            changes.setdefault("greater_is_better", SCORES[changes["metric"]].greater_is_better)
        if not 0 < changes.get("alpha", self.alpha) < 1:
            raise UsageError(f"alpha is {changes['alpha']}; a level lies between 0 and 1")
        if not 0 <= changes.get("rope", self.rope) < np.inf:
            raise UsageError(f"rope is {changes['rope']}; a size is 0 or more")
        for name, kind, known in (
            ("test", "test", RULES), ("published_test", "test", RULES), ("missing", "policy", POLICIES),
        ):  # fmt: skip
            if changes.get(name, getattr(self, name)) not in known:
                raise UnknownNameError(kind, changes[name], known)
        return dataclasses.replace(self, **changes)

    @property
    def sign(self) -> float:
        """1 if greater is better, else -1."""
        return 1.0 if self.greater_is_better else -1.0


@dataclass(frozen=True)
class Cell:
    """One method on one dataset, every planned fold in the order of repeats and folds.

    Attributes
    ----------
    scores : ndarray of shape (n_folds,)
        In the metric's unit; NaN where a trial did not end well.
    repeats : ndarray of shape (n_folds,)
    ok : ndarray of bool of shape (n_folds,)
        Which trials ended well.
    decisions : callable
        Returns what was right in the test rows of each fold.
    """

    scores: NDArray[np.float64]
    repeats: NDArray[np.int64]
    ok: NDArray[np.bool_]
    decisions: Callable[[], list[NDArray[np.bool_]]]

    @property
    def complete(self) -> bool:
        """Whether every planned trial ended well and has a score."""
        return bool(self.ok.all() and np.isfinite(self.scores).all())

    def first_repeat(self) -> NDArray[np.bool_]:
        """Return what was right in the test rows of the first repetition: every row is tested at most once in it."""
        folds = self.decisions()
        return np.concatenate(
            [fold for fold, repeat in zip(folds, self.repeats, strict=True) if repeat == self.repeats[0]]
        )

    def first_test_set(self) -> NDArray[np.bool_]:
        """Return what was right in the test rows of the first fold."""
        return self.decisions()[0]


@dataclass(frozen=True)
class Rule:
    """A rule: its words in a report, how it compares, whether the metric is beside the point for it."""

    title: str
    compare: Callable[[Cell, Cell, Settings], Comparison]
    of_decisions: bool = False


def cells_of(trials: pd.DataFrame, metric: str, decisions: Decisions | None = None) -> dict[tuple[str, str], Cell]:
    """Return every (dataset, method) of a frame of trials, in the order of their first rows.

    Parameters
    ----------
    trials : DataFrame
        Columns dataset, method, repeat, fold, status and the metric; rows in any order.
    metric : str
    decisions : callable or None, default=None
        As `Decisions`; None where there are no predictions.

    Notes
    -----
    O(n log n) for n trials.
    """
    if not len(trials):
        return {}
    datasets, dataset_names = pd.factorize(trials["dataset"])
    methods, method_names = pd.factorize(trials["method"])
    codes = datasets * len(method_names) + methods
    repeats = trials["repeat"].to_numpy(dtype=np.int64)
    order = np.lexsort((trials["fold"].to_numpy(), repeats, codes))
    ok = (trials["status"] == "ok").to_numpy(dtype=bool)[order]
    scores, repeats = trials[metric].to_numpy(dtype=float)[order], repeats[order]
    scores = np.where(ok, scores, np.nan)
    found, begins = np.unique(codes[order], return_index=True)
    ends = [*begins[1:], len(codes)]
    places = {int(code): slice(begin, end) for code, begin, end in zip(found, begins, ends, strict=True)}
    cells = {}
    for code in dict.fromkeys(codes.tolist()):
        place = places[code]
        dataset, method = str(dataset_names[code // len(method_names)]), str(method_names[code % len(method_names)])
        cells[dataset, method] = Cell(scores[place], repeats[place], ok[place], _asking(decisions, dataset, method))
    return cells


def _asking(decisions: Decisions | None, dataset: str, method: str) -> Callable[[], list[NDArray[np.bool_]]]:
    def ask() -> list[NDArray[np.bool_]]:
        if decisions is None:
            raise RunError(f"no predictions of {method} on {dataset} are at hand; s-test and McNemar's test need them")
        return decisions(dataset, method)

    return ask


def compare(first: Cell, second: Cell, settings: Settings, test: str | None = None) -> Comparison:
    """Compare two complete cells of a dataset.

    Parameters
    ----------
    first, second : Cell
    settings : Settings
    test : str or None, default=None
        One of `RULES`; None takes the settings'.

    Returns
    -------
    PairedTest, DecisionTest or Posterior
        First minus second, larger meaning better whatever the metric's direction.

    Notes
    -----
    A single test set has no spread between folds, so that no test of scores is defined: `sound_test` takes its place.
    """
    rule = RULES[test or settings.test]
    if len(first.scores) < 2 and not rule.of_decisions:
        rule = RULES[sound_test(first)]
    return rule.compare(first, second, settings)


def sound_test(cell: Cell) -> str:
    """Return the rule to believe: the corrected resampled t-test, or on a single test set McNemar's.

    The ratio of a protocol whose rounds are independent is 0, which makes the first the plain paired t-test.
    """
    if len(cell.scores) > 1:
        return "corrected-t"
    try:
        cell.decisions()
    except RunError:  # nothing was predicted, as where selectors alone are measured: then one round tells nothing
        return "corrected-t"
    return "mcnemar"


def _of_scores(
    test: Callable[..., PairedTest | Posterior], *names: str
) -> Callable[[Cell, Cell, Settings], Comparison]:
    """Return a rule that looks at the scores of folds; `names` are the settings that it takes beside the level."""

    def rule(first: Cell, second: Cell, settings: Settings) -> Comparison:
        a, b = settings.sign * first.scores, settings.sign * second.scores
        if len(a) < 2:  # one test set has no spread between folds
            return PairedTest(float(np.mean(a - b)), np.nan, np.nan, np.nan)
        return test(a, b, **{name: getattr(settings, name) for name in names}, alpha=settings.alpha)

    return rule


def _s_test(exact: bool) -> Callable[[Cell, Cell, Settings], Comparison]:
    def rule(first: Cell, second: Cell, settings: Settings) -> Comparison:
        return s_test(first.first_repeat(), second.first_repeat(), exact=exact, alpha=settings.alpha)

    return rule


def _mcnemar(first: Cell, second: Cell, settings: Settings) -> Comparison:
    return mcnemar_test(first.first_test_set(), second.first_test_set(), settings.alpha)


RULES: Mapping[str, Rule] = {
    "corrected-t": Rule("corrected resampled t-test (Nadeau and Bengio)", _of_scores(corrected_t_test, "ratio")),
    "paired-t": Rule(
        "plain paired t-test, which takes overlapping folds for independent ones", _of_scores(paired_t_test)
    ),
    "bayes-t": Rule(
        "Bayesian correlated t-test (Corani and Benavoli), at a probability above 1 - α of a difference beyond the "
        "region of practical equivalence",
        _of_scores(correlated_t_test, "ratio", "rope"),
    ),
    "wilcoxon": Rule(
        "Wilcoxon test over folds, which takes overlapping folds for independent ones", _of_scores(wilcoxon_test)
    ),
    "sign": Rule("sign test over folds, which takes overlapping folds for independent ones", _of_scores(sign_test)),
    "s-test": Rule(
        "s-test (Yang and Liu) in its normal form on the pooled decisions of the first repetition, one-sided in the "
        "direction that the data choose",
        _s_test(exact=False),
        of_decisions=True,
    ),
    "s-test-exact": Rule(
        "exact s-test on the pooled decisions of the first repetition, one-sided in the direction that the data choose",
        _s_test(exact=True),
        of_decisions=True,
    ),
    "mcnemar": Rule("exact McNemar test on the first test set", _mcnemar, of_decisions=True),
}
