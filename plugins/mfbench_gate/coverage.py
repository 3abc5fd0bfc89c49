"""What two stored runs have in common, and a sentence on each method, dataset and trial that cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from mfbench.base.wording import counted
from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.suite.restriction import Restriction
from mfbench_gate.comparison import Omission

CELL = ["dataset", "method"]
SIDES = ("base", "head")


def select(groups: Sequence[Sequence[str]], only: Sequence[str]) -> list[set[str]]:
    """Return the names of each group that ``--only`` leaves."""
    return Restriction(tuple(only), scope="nothing in the two results").kept(groups)


def one_sided(
    kind: str, sides: Sequence[Iterable[str]], left_out: Sequence[Mapping[str, str]] = ({}, {})
) -> list[Omission]:
    """Return an omission for each name that only one side has."""
    omissions = []
    names = [dict.fromkeys(side) for side in sides]
    for here, there in ((0, 1), (1, 0)):
        for name in names[here]:
            if name not in names[there]:
                reason = left_out[there].get(name, "").rstrip(".")
                why = f"; {SIDES[there]} left it out: {reason}" if reason else ""
                omissions.append(Omission(name, f"This {kind} is in {SIDES[here]} only{why}."))
    return omissions


def lost_trials(base: pd.DataFrame, head: pd.DataFrame) -> list[Omission]:
    """Return an omission for each cell of both sides with trials that failed or have not run."""
    both = base.merge(head, on=[*CELL, "repeat", "fold"], suffixes=("_base", "_head"))
    omissions = []
    for (dataset, method), cell in both.groupby(CELL, sort=False):
        succeeded = {side: cell[f"status_{side}"] == Status.OK for side in SIDES}
        parts = []
        for side, is_ok in succeeded.items():
            if not is_ok.all():
                kinds = ", ".join(dict.fromkeys(cell.loc[~is_ok, f"status_{side}"].fillna("not run yet").map(str)))
                n_lost = f"{(~is_ok).sum()} of {counted(len(cell), 'trial')}"
                parts.append(f"{n_lost} without a result in {side} ({kinds})")
        if parts:
            n_left = int((succeeded["base"] & succeeded["head"]).sum())
            rest = f"the other {counted(n_left, 'trial')} compared" if n_left else "nothing compared"
            omissions.append(Omission(f"{method}/{dataset}", f"{'; '.join(parts)}; {rest}."))
    return omissions


def why_folds_differ(base: Run, head: Run, dataset: str) -> str:
    """Return why the scores of two runs on a dataset are not pairs; empty if they are."""
    hashes = [run.datasets.set_index("dataset")["sha256"].get(dataset) for run in (base, head)]
    if hashes[0] != hashes[1]:
        return "the data differ"
    if base.meta.protocol_key != head.meta.protocol_key:
        return "the protocols or their seeds differ"
    rows = base.test_rows(dataset), head.test_rows(dataset)
    if any(not np.array_equal(rows[0][fold], rows[1][fold]) for fold in rows[0].keys() & rows[1].keys()):
        return "the test rows of the folds differ"
    return ""
