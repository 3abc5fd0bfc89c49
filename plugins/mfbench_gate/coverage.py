"""What two stored runs have in common, and a sentence on each method, dataset and trial that cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from mfbench.base.wording import counted
from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.suite.restriction import Restriction
from mfbench_gate.comparison import Omission

CELL = ["dataset", "method"]
_COORDINATES = ["repeat", "fold"]
SIDES = ("base", "head")


def select(groups: Sequence[Sequence[str]], only: Sequence[str]) -> list[set[str]]:
    """Return the names of each group that ``--only`` leaves."""
    return Restriction(tuple(only), scope="nothing in the two results").kept(groups)


def one_sided(
    kind: str, base: Iterable[str], head: Iterable[str], left_out: Sequence[dict[str, str]] = ()
) -> list[Omission]:
    """Return an omission for each name that only one side has."""
    names = list(base), list(head)
    omissions = []
    for number, (here, there) in enumerate([names, names[::-1]]):
        reasons = left_out[1 - number] if left_out else {}
        for name in dict.fromkeys(here):
            if name not in there:
                why = f"; {SIDES[1 - number]} left it out: {reasons[name].rstrip('.')}" if name in reasons else ""
                omissions.append(Omission(name, f"This {kind} is in {SIDES[number]} only{why}."))
    return omissions


def lost_trials(base: pd.DataFrame, head: pd.DataFrame) -> list[Omission]:
    """Return an omission for each cell of both sides with trials that failed or have not run."""
    both = base.merge(head, on=[*CELL, *_COORDINATES], suffixes=("_base", "_head"))
    omissions = []
    for (dataset, method), cell in both.groupby(CELL, sort=False):
        parts = [part for side in SIDES for part in _losses(cell[f"status_{side}"], side)]
        if not parts:
            continue
        left = int(((cell["status_base"] == Status.OK) & (cell["status_head"] == Status.OK)).sum())
        rest = (
            f"the other {counted(left, 'trial')} {'is' if left == 1 else 'are'} compared"
            if left
            else "nothing is compared"
        )
        omissions.append(Omission(f"{method}/{dataset}", f"{'; '.join(parts)}: {rest}."))
    return omissions


def _losses(statuses: pd.Series[str], side: str) -> list[str]:
    """Return what happened to the trials of one cell and side that have no result."""
    n_pending = int(statuses.isna().sum())
    failed = statuses[statuses.notna() & (statuses != Status.OK)]
    parts = []
    if len(failed):
        kinds = ", ".join(dict.fromkeys(map(str, failed)))
        parts.append(f"{len(failed)} of {counted(len(statuses), 'trial')} failed in {side} ({kinds})")
    if n_pending:
        verb = "has" if n_pending == 1 else "have"
        parts.append(f"{n_pending} of {counted(len(statuses), 'trial')} {verb} not run in {side}")
    return parts


def why_folds_differ(base: Run, head: Run, dataset: str) -> str:
    """Return why the scores of two runs on a dataset are not pairs; empty if they are."""
    hashes = [
        dict(zip(run.datasets["dataset"], run.datasets["sha256"], strict=True)).get(dataset) for run in (base, head)
    ]
    if hashes[0] != hashes[1]:
        return "the data differ"
    if base.meta.protocol_key != head.meta.protocol_key:
        return "the protocols or their seeds differ"
    rows = base.test_rows(dataset), head.test_rows(dataset)
    if any(not np.array_equal(rows[0][fold], rows[1][fold]) for fold in rows[0].keys() & rows[1].keys()):
        return "the test rows of the folds differ"
    return ""
