"""The answer of a report in two sentences: who is ahead, and from whom it is not significantly different."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfbench.base.wording import counted, listing
from mfbench.report.cells import rank_text
from mfbench.stats.across_datasets.overall import Overall
from mfbench.stats.one_dataset.signed import attained_level

MOST_NAMED = 6
TEST = "Wilcoxon's test over datasets, with Holm's adjustment over all pairs of methods"


def answer_across(overall: Overall) -> list[str]:
    """Return the answer of a comparison over several datasets."""
    names = [str(name) for name in overall.ranks.index]
    if not names:
        return ["No dataset has a score of every method, so none is ahead."]
    if len(names) == 1:
        return [f"{names[0]} is the only method with scores, so there is nothing to compare."]
    ranks = overall.ranks.to_numpy()
    leaders = [name for name, rank in zip(names, ranks, strict=True) if np.isclose(rank, ranks[0])]
    shared, who = len(leaders) > 1, listed(leaders)
    if not overall.testable:
        lead = "share the lead" if shared else "is ahead"
        place = "dataset that every method completed" if overall.completed.dropped else "dataset"
        return [f"{who} {lead} on the only {place}; a statement on other data needs at least two datasets."]
    verb = "share" if shared else "has"
    over = counted(overall.n_datasets, "dataset")
    return [
        f"{who} {verb} the best average rank, {rank_text(float(ranks[0]))}, over {over}.",
        _second(overall, names[0], names[0] if shared else "it"),
    ]


def _second(overall: Overall, best: str, it: str) -> str:
    others = [str(name) for name in overall.ranks.index[1:]]
    similar = [name for name in overall.not_worse if name != best]
    worse = [name for name in others if name not in similar]
    by = f"({TEST}, α = {overall.alpha:g})"
    if np.isnan(attained_level(overall.n_datasets, overall.alpha / len(overall.pairs))):
        return f"{counted(overall.n_datasets, 'dataset')} are too few for any difference to be significant {by}."
    if not worse:
        return f"No other method is significantly worse {by}."
    if not similar:
        return f"{'All other methods are' if len(worse) > 1 else f'{worse[0]} is'} significantly worse {by}."
    lowest = [name for name in similar if others.index(name) > others.index(worse[0])]
    among = f" ({listed(lowest)} among them, despite a worse rank)" if lowest else ""
    return f"Not significantly different from {it}: {listed(similar)}{among}; {_worse(worse)} significantly worse {by}."


def _worse(names: Sequence[str]) -> str:
    """Return the worse methods as a subject with its verb."""
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{listed(names)} are" if len(names) <= MOST_NAMED // 2 else f"the other {len(names)} methods are"


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return names as a list in a sentence; beyond `most` they are counted."""
    return listing(names if len(names) <= most else [*names[:most], f"{len(names) - most} more"])
