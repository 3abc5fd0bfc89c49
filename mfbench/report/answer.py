"""The answer of a report in two sentences: who is ahead, and from whom it is not significantly different."""

from __future__ import annotations

from collections.abc import Sequence

from mfbench.analysis.across_datasets.overall import Overall
from mfbench.report.cells import rank_text
from mfbench.wording import counted

MOST_NAMED = 6
TEST = "Wilcoxon's test over datasets, with Holm's adjustment over all pairs of methods"


def answer_across(overall: Overall) -> list[str]:
    """Return the answer of a comparison over several datasets.

    Parameters
    ----------
    overall : Overall

    Returns
    -------
    list of str
        Two sentences; one if there is nothing to test.
    """
    if not len(overall.ranks):
        return ["No method has a score on every dataset, so none is ahead."]
    best, rank = str(overall.ranks.index[0]), float(overall.ranks.iloc[0])
    if not overall.testable:
        place = "the only dataset" if overall.n_datasets == 1 else "no dataset"
        return [f"{best} is ahead on {place}; a statement on other data needs at least two datasets and two methods."]
    first = f"{best} has the best average rank, {rank_text(rank)}, over {counted(overall.n_datasets, 'dataset')}."
    return [first, _second(overall, best)]


def _second(overall: Overall, best: str) -> str:
    others = [str(name) for name in overall.ranks.index[1:]]
    similar = [name for name in overall.not_worse if name != best]
    worse = [name for name in others if name not in similar]
    by = f"({TEST}, α = {overall.alpha:g})"
    if overall.pairs["detectable"].isna().all():
        return f"{counted(overall.n_datasets, 'dataset')} are too few for any difference to be significant {by}."
    if not worse:
        return f"No other method is significantly worse {by}."
    if not similar:
        return f"{'All other methods are' if len(worse) > 1 else f'{worse[0]} is'} significantly worse {by}."
    return f"Not significantly different from it: {listed(similar)}; {_worse(worse)} significantly worse {by}."


def _worse(names: Sequence[str]) -> str:
    """Return the subject and verb of what is said of the methods that are worse."""
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{listed(names)} are" if len(names) <= MOST_NAMED // 2 else f"the other {len(names)} methods are"


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return names as a list in a sentence; beyond `most` they are counted.

    Examples
    --------
    >>> listed(["A"]), listed(["A", "B", "C"]), listed(["A", "B", "C", "D"], most=2)
    ('A', 'A, B and C', 'A, B and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
