"""From trials to the tables of a report. Every function is pure: a frame of trials in, a frame out.

A cell (one method on one dataset) is *complete* when each of its planned trials ended well. Only complete cells are
compared, ranked and averaged; an incomplete one is shown and counted, never filled in.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.paired import PairedTest, corrected_t_test
from mfbench.analysis.ranks import average_ranks
from mfbench.errors import UnknownNameError, UsageError
from mfbench.run.metrics import SCORES

TIMES = ["tune_wall", "select_wall", "fit_wall", "predict_wall"]
TESTS = ("corrected-t", "paired-t")


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
    test : {"corrected-t", "paired-t"}
    alpha : float
        Level of the two-sided test.
    ratio : float
        Test rows over training rows of a fold.
    """

    metric: str
    greater_is_better: bool
    reference: str | None
    test: str
    alpha: float
    ratio: float

    def replace(self, **changes: Any) -> Settings:
        """Return a copy with some settings changed; a new metric brings its own direction."""
        if "metric" in changes:
            if changes["metric"] not in SCORES:
                raise UnknownNameError("metric", changes["metric"], SCORES)
            changes.setdefault("greater_is_better", SCORES[changes["metric"]].greater_is_better)
        if not 0 < changes.get("alpha", self.alpha) < 1:
            raise UsageError(f"alpha is {changes['alpha']}; a level lies between 0 and 1")
        if changes.get("test", self.test) not in TESTS:
            raise UnknownNameError("test", changes["test"], TESTS)
        return dataclasses.replace(self, **changes)


def tabulate(trials: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return one row per (dataset, method): mean, sd, planned, completed, and the marks of the table.

    Parameters
    ----------
    trials : DataFrame
        As `mfbench.analysis.results.Run.trials`.
    settings : Settings

    Returns
    -------
    DataFrame
        Columns dataset, method, mean, sd, planned, completed, complete, best (largest mean of the dataset's complete
        cells) and not_worse (not significantly worse than the best by the chosen test).
    """
    rows = []
    for (dataset, method), cell in trials.groupby(["dataset", "method"], sort=False):
        values = cell.loc[cell["status"] == "ok", settings.metric].to_numpy(dtype=float)
        complete = len(values) == len(cell) and bool(np.isfinite(values).all())
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "mean": float(np.mean(values)) if len(values) else np.nan,
                "sd": float(np.std(values, ddof=1)) if len(values) > 1 else np.nan,
                "planned": len(cell),
                "completed": len(values),
                "complete": complete,
            }
        )
    columns = ["dataset", "method", "mean", "sd", "planned", "completed", "complete"]
    table = pd.DataFrame(rows, columns=columns)
    return _mark(table, trials, settings)


def _mark(table: pd.DataFrame, trials: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    table["best"] = False
    table["not_worse"] = False
    folds = _by_fold(trials, settings)
    for dataset, cells in table[table["complete"].astype(bool)].groupby("dataset", sort=False):
        means = cells["mean"].round(12)
        top = means.max() if settings.greater_is_better else means.min()
        winners = cells.index[means == top]
        table.loc[winners, "best"] = True
        table.loc[winners, "not_worse"] = True
        best = str(cells.loc[winners[0], "method"])
        for index, method in cells["method"].items():
            if index not in winners:
                verdict = compare(folds[str(dataset), best], folds[str(dataset), str(method)], settings).verdict(
                    settings.alpha
                )
                table.loc[index, "not_worse"] = verdict == 0
    return table


def compare(first: Any, second: Any, settings: Settings) -> PairedTest:
    """Compare two arrays of paired scores by the chosen test."""
    ratio = settings.ratio if settings.test == "corrected-t" else 0.0
    return corrected_t_test(first, second, ratio, settings.alpha)


def compare_with_reference(trials: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return the reference against each other method on each dataset where both are complete.

    Returns
    -------
    DataFrame
        Columns method, dataset, difference (reference minus method, in the metric's unit), low, high, p_value and
        verdict ("win", "tie" or "loss" of the reference).
    """
    columns = ["method", "dataset", "difference", "low", "high", "p_value", "verdict"]
    reference = settings.reference
    known = list(dict.fromkeys(trials["method"]))
    if reference is not None and known and reference not in known:
        raise UnknownNameError("method of this run", reference, known)
    cells = tabulate_complete(trials, settings)
    folds = _by_fold(trials, settings)
    sign = 1 if settings.greater_is_better else -1
    rows = []
    for dataset, method in cells:
        if method == reference or (dataset, str(reference)) not in cells:
            continue
        test = compare(folds[dataset, str(reference)], folds[dataset, method], settings)
        verdict = {1: "win", 0: "tie", -1: "loss"}[sign * test.verdict(settings.alpha)]
        rows.append([method, dataset, test.difference, test.low, test.high, test.p_value, verdict])
    return pd.DataFrame(rows, columns=columns)


def tabulate_complete(trials: pd.DataFrame, settings: Settings) -> list[tuple[str, str]]:
    """Return the (dataset, method) pairs that are complete, in the plan's order."""
    if not len(trials):
        return []
    good = (trials["status"] == "ok") & np.isfinite(trials[settings.metric].astype(float))
    whole = good.groupby([trials["dataset"], trials["method"]], sort=False).all()
    return [(str(cell[0]), str(cell[1])) for cell in whole[whole].index.tolist()]


def summarise(trials: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Return one row per method, best average rank first.

    Returns
    -------
    DataFrame
        Columns method, mean (over datasets that every method completed), rank, win, tie, loss (of the reference against
        the method), select_seconds, fit_seconds, predict_seconds, tune_seconds (wall, over the
        trials that ended well), total_seconds (their sum, and the whole duration of those that did not), peak_memory
        (largest, bytes), failed (number of trials that did not end well) and planned.
    """
    means = tabulate(trials, settings).query("complete").pivot(index="dataset", columns="method", values="mean")
    # A method that completed nothing has no rank; it must not take the others' ranks away.
    means = means.reindex(columns=list(dict.fromkeys(trials["method"]))).dropna(axis=1, how="all")
    ranks = average_ranks(means, greater_is_better=settings.greater_is_better)
    verdicts = compare_with_reference(trials, settings)
    counts = Counter(zip(verdicts["method"], verdicts["verdict"], strict=True))
    compared = means.dropna()
    rows = []
    for method, group in trials.groupby("method", sort=False):
        good = group["status"] == "ok"
        times = group.loc[good, TIMES].fillna(0.0).sum()
        lost = float(group.loc[~good, "duration"].fillna(0.0).sum())
        rows.append(
            {
                "method": method,
                "mean": compared[method].mean() if method in compared and len(compared) else np.nan,
                "rank": ranks.get(method, np.nan),
                **{verdict: counts[method, verdict] for verdict in ("win", "tie", "loss")},
                **{name.replace("_wall", "_seconds"): float(times[name]) for name in TIMES},
                "total_seconds": float(times.sum()) + lost,
                "peak_memory": int(group["peak_memory"].fillna(0).max()),
                "failed": int((group["status"].notna() & (group["status"] != "ok")).sum()),
                "planned": len(group),
            }
        )
    table = pd.DataFrame(rows)
    return table.sort_values("rank", kind="stable", ignore_index=True) if len(table) else table


def _by_fold(trials: pd.DataFrame, settings: Settings) -> dict[tuple[str, str], Any]:
    """Return the scores of each cell in the order of repeats and folds, so that cells of a dataset are paired."""
    ordered = trials.sort_values(["repeat", "fold"], kind="stable")
    return {
        (str(dataset), str(method)): cell[settings.metric].to_numpy(dtype=float)
        for (dataset, method), cell in ordered.groupby(["dataset", "method"], sort=False)
    }
