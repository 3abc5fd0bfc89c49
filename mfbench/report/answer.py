"""The answer of a report: what holds on these datasets, and what on datasets like these, in a sentence each."""

from collections.abc import Mapping, Sequence

import pandas as pd

from mfbench.base.text import counted, listing
from mfbench.model.evaluation import Score
from mfbench.report.cells import in_points, size_text
from mfbench.report.heading import listed
from mfbench.stats.across_datasets import Overall
from mfbench.stats.mean_differences import LEAST_FAMILIES, MeanDifferences

MOST_NAMED = 8


Names = Mapping[str, str]
"""The name of each method in reports, by label."""


def answer_across(overall: Overall, score: Score, names: Names | None = None) -> list[str]:
    """Return the conclusion of a comparison over datasets."""
    claims = overall.claims
    names = names or {label: label for label in claims.methods}
    if not claims.scores.size:
        return ["No dataset has a score of every method, so none is ahead."]
    if len(claims.methods) == 1:
        return [f"{names[claims.methods[0]]} is the only method with scores, so there is nothing to compare."]
    return [_on_these(overall, claims, score, names), *_on_others(claims, score, names)]


def where(overall: Overall) -> str:
    """Return the datasets that a statement is about."""
    n = overall.n_datasets
    if n == 1:
        return f"the only {'complete ' * bool(overall.completed.dropped)}dataset"
    return f"these {n} datasets"


def _on_these(overall: Overall, claims: MeanDifferences, score: Score, names: Names) -> str:
    best, place = names[claims.methods[0]], where(overall)
    against = _named(claims.against(claims.methods[0], claims.these), names)
    mean = overall.completed.scores[claims.methods[0]].mean()
    lead = f"On {place}, {best}"
    has = f"has the best mean, {size_text(mean, score.percent)}{' %' if score.percent else ''}"
    shared = [best, *against["second"][against["mean"] == 0.0]]
    if len(shared) > 1:
        lead, has = f"On {place}, {listed(shared)}", has.replace("has", "share", 1)
    if against["holm"].isna().all():
        return f"{lead} {has}; there are no folds that allow a test."
    worse = against[against["holm"] < claims.alpha]
    similar = list(against["second"][~(against["holm"] < claims.alpha)])
    equal = list(against["second"][against["equal"] < claims.alpha])
    if not len(worse):
        others = [name for name in similar if name not in shared]
        nobody = f"; {others[0]} is not" if len(others) == 1 else "; no other method is"
        apart = f"{nobody} separated from {'them' if len(shared) > 1 else 'it'}" if others else ""
        return f"{lead} {has}{apart}{_equal(equal, claims, score)}."
    beyond = int((worse["beyond"] < claims.alpha).sum())
    return (
        f"On {place}, {best} is better {'on average ' * (overall.n_datasets > 1)}than {_counted(worse, len(against))}"
        f"{_beyond(beyond, len(worse), in_points(claims.margin, score))}"
        f"{f'; not separated: {listed(similar, MOST_NAMED)}' if similar else ''}{_equal(equal, claims, score)}."
    )


def _named(rows: pd.DataFrame, names: Names) -> pd.DataFrame:
    return rows.assign(second=rows["second"].map(names))


def _counted(rows: pd.DataFrame, n_others: int) -> str:
    """Return the methods of some rows as the object of a sentence: named, or counted if they are many."""
    names = list(rows["second"])
    if len(names) == n_others:
        return names[0] if n_others == 1 else "both other methods" if n_others == 2 else f"all {n_others} other methods"
    return listing(names) if len(names) <= 2 else f"{len(names)} of {n_others} methods"


def _beyond(count: int, n_worse: int, margin: str) -> str:
    if not count:
        return ""
    if count == n_worse:
        return (
            f", by more than {margin}" if count == 1 else f", {'both' if count == 2 else 'all'} by more than {margin}"
        )
    return f", {'one' if count == 1 else count} of them by more than {margin}"


def _equal(names: Sequence[str], claims: MeanDifferences, score: Score) -> str:
    return f"; equal within {in_points(claims.margin, score)}: {listed(names)}" if names else ""


def _on_others(claims: MeanDifferences, score: Score, names: Names) -> list[str]:
    n, families = len(claims.scores), claims.n_families
    if not claims.is_enough:
        own = counted(n, "dataset") if n == families else f"{n} datasets of {families} families"
        needed = f"it takes {LEAST_FAMILIES}" if families < LEAST_FAMILIES else f"α = {claims.alpha:g} takes more"
        return [f"{own} cannot support a statement about other datasets: {needed}."]
    level = f"family-wise level {100 * claims.alpha:g} %, differences capped at {in_points(claims.cap, score)}"
    best, reference = claims.methods[0], claims.reference
    # What was named before the run needs no adjustment for having been chosen; the tables have the same p-values.
    column = "named" if best == reference else "adjusted"
    sentences = [f"On datasets like these, {names[best]} {_claimed(claims, best, column, names)} ({level})."]
    if reference in claims.methods and reference != best and len(claims.methods) > 2:
        predicate = _claimed(claims, str(reference), "named", names)
        sentences.append(f"There, the reference {names[str(reference)]} {predicate}.")
    return sentences


def _claimed(claims: MeanDifferences, method: str, column: str, names: Names) -> str:
    """Return a predicate on what a method is better and worse than, and how many comparisons remain open."""
    rows = _named(claims.against(method, claims.like_these), names)
    decided = rows[rows[column] < claims.alpha]
    if not len(decided):
        return f"is not separated from {rows['second'][0] if len(rows) == 1 else 'any other method'}"
    better, worse = (list(decided["second"][sign * decided["mean"] > 0]) for sign in (1, -1))
    parts = [
        f"{word} than {listed(names, MOST_NAMED)}" for word, names in (("better", better), ("worse", worse)) if names
    ]
    rest = len(rows) - len(decided)
    still = f", with {counted(rest, 'comparison')} open" if rest else ""
    return f"is {' and '.join(parts)}{still}"
