"""Aggregate trials into the tables of a report. Every function is pure: a frame of trials in, a frame out.

A cell (one method on one dataset) is *complete* if each of its planned trials has status ok and a score. Only complete
cells are compared on a dataset; incomplete ones are shown and counted. Across datasets, the policy for missing cells
applies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mfbench.errors import UnknownNameError
from mfbench.stats.across_datasets import Completed, complete
from mfbench.stats.bayesian import correlated_t_test
from mfbench.stats.cells import CellResults, ComparisonSettings, Decisions, results_by_cell
from mfbench.stats.rules import against_best, compare, sound_test

TIMES = ["tune_wall", "select_wall", "fit_wall", "predict_wall"]
CLOCK = 1e-6
"""Lower limit of trial times in comparisons, in seconds: the clock's resolution."""
VERDICTS = ("win", "tie", "loss")
NO_VERDICT = "no verdict"
COUNTED = {**{word: word for word in VERDICTS}, NO_VERDICT: "no_verdict"}
"""The name of each verdict's count in the summary."""
KINDS = {"": "verdict", "published_": "published", "sound_": "sound"}
"""Prefix of the summary's counts for each verdict column."""
MEANS = ["dataset", "method", "mean", "sd", "planned", "completed", "complete"]
WORDS = {1: "win", 0: "tie", -1: "loss", None: NO_VERDICT}


def tabulate(trials: pd.DataFrame, settings: ComparisonSettings, decisions: Decisions | None = None) -> pd.DataFrame:
    """Return one row per (dataset, method): mean, sd, planned, completed, and the marks of the table."""
    cells = results_by_cell(trials, settings.metric, decisions)
    table = means_of(cells)
    table["best"], table["p_best"] = False, np.nan
    for dataset, own in table[table["complete"].astype(bool)].groupby("dataset", sort=False):
        label = str(dataset)
        goodness = [round(settings.sign * mean / settings.unit_on(label), 12) for mean in own["mean"]]
        best, candidates = max(goodness), [cells[label, method] for method in own["method"]]
        table.loc[own.index, "best"] = [value == best for value in goodness]
        table.loc[own.index, "p_best"] = against_best(candidates, goodness.index(best), settings.on(label))
    table.insert(len(table.columns) - 1, "not_worse", table["best"] | (table["p_best"] >= settings.alpha))
    return table


def means_of(cells: Mapping[tuple[str, str], CellResults]) -> pd.DataFrame:
    """Return the columns of `tabulate` that need no comparison."""
    rows = []
    for (dataset, method), cell in cells.items():
        values = cell.scores[cell.ok]
        mean = float(np.mean(values)) if len(values) else np.nan
        sd = float(np.std(values, ddof=1)) if len(values) > 1 else np.nan
        rows.append([dataset, method, mean, sd, len(cell.scores), len(values), cell.complete])
    return pd.DataFrame(rows, columns=MEANS)


def compare_with_reference(
    trials: pd.DataFrame, settings: ComparisonSettings, decisions: Decisions | None = None
) -> pd.DataFrame:
    """Compare the reference with each other method, on each dataset where both are complete."""
    columns = [
        "method", "dataset", "difference", "low", "high", "p_value", "verdict", "published", "sound", "mark",
        "better", "equal", "worse", "detectable", "reason",
    ]  # fmt: skip
    cells = results_by_cell(trials, settings.metric, decisions)
    reference = settings.reference
    candidates = list(dict.fromkeys(method for _, method in cells))
    if reference is not None and candidates and reference not in candidates:
        raise UnknownNameError("method", reference, candidates, owner="this run")
    rows = []
    for (dataset, method), cell in cells.items():
        first = cells.get((dataset, str(reference)))
        if method == reference or first is None or not (cell.complete and first.complete):
            continue
        rows.append([method, dataset, *_row(first, cell, settings.on(dataset))])
    return pd.DataFrame(rows, columns=columns)


def _row(first: CellResults, second: CellResults, settings: ComparisonSettings) -> list[Any]:
    names = (settings.test, settings.published_test, sound_test(first, settings))
    made = {name: compare(first, second, settings, name) for name in dict.fromkeys(names)}
    test, published, sound = (made[name] for name in names)
    words = [WORDS[t.verdict(settings.alpha)] for t in (test, published, sound)]
    # Tests treat greater as better, but the table is in metric units; decision tests already report accuracies.
    turned = not settings.greater_is_better and not hasattr(test, "mark")
    figures = [-test.difference, -test.high, -test.low] if turned else [test.difference, test.low, test.high]
    posterior = [np.nan] * 3
    if len(first.scores) > 1:
        a, b = settings.sign * first.scores, settings.sign * second.scores
        comparison = correlated_t_test(a, b, settings.ratio, settings.margin)
        posterior = [comparison.first, comparison.rope, comparison.second]
    open_ones = [t for t in (sound, test, published) if t.verdict(settings.alpha) is None]
    reason = getattr((open_ones or [sound])[0], "reason", "")
    limits = [getattr(sound, "detectable", np.nan), reason]
    return [*figures, test.p_value, *words, getattr(test, "mark", ""), *posterior, *limits]


def mean_table(scores: pd.DataFrame) -> pd.DataFrame:
    """Return datasets by methods, in plan order: means of complete cells, NaN elsewhere."""
    datasets, methods = scores["dataset"].unique().tolist(), scores["method"].unique().tolist()
    whole = scores[scores["complete"].astype(bool)]
    return whole.pivot(index="dataset", columns="method", values="mean").reindex(index=datasets, columns=methods)


def complete_table(
    scores: pd.DataFrame, trials: pd.DataFrame, settings: ComparisonSettings, dummies: Mapping[str, float] | None = None
) -> Completed:
    """Return one value per dataset and method, with the missing-cell policy of `settings` applied."""
    means = mean_table(scores)
    units = {str(label): settings.unit_on(str(label)) for label in means.index}
    means = means.div(pd.Series(units, dtype=float), axis=0)
    guesses = {label: value / units.get(label, 1.0) for label, value in (dummies or {}).items()}
    run = trials["status"].notna().groupby([trials["dataset"], trials["method"]], sort=False).all()
    # A cell that no run planned, as can happen in joined runs, is not a failure.
    ended = run.unstack(fill_value=False).reindex(index=means.index, columns=means.columns, fill_value=False)
    return complete(means, settings.missing, greater_is_better=settings.greater_is_better, ended=ended, dummies=guesses)


def summarise(
    trials: pd.DataFrame,
    settings: ComparisonSettings,
    verdicts: pd.DataFrame,
    dummies: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return one row per method, best mean first; `verdicts` are those of `compare_with_reference`."""
    if not len(trials):
        return pd.DataFrame()
    cells = results_by_cell(trials, settings.metric)
    completed = complete_table(means_of(cells), trials, settings, dummies)
    ranks, means = completed.ranks.mean(axis=0), completed.scores.mean(axis=0)
    counts = {
        prefix: Counter(zip(verdicts["method"], verdicts[column], strict=True)) for prefix, column in KINDS.items()
    }
    costs = _costs(trials)
    rows = [
        {
            "method": method,
            "mean": means.get(method, np.nan),
            "rank": ranks.get(method, np.nan),
            **{f"{prefix}{name}": counts[prefix][method, word] for prefix in KINDS for word, name in COUNTED.items()},
            **costs.loc[method].to_dict(),
        }
        for method in trials["method"].unique()
    ]
    table = pd.DataFrame(rows)
    whole = ["peak_memory", "failed", "planned"]
    table = table.astype(dict.fromkeys(whole, int))
    order = settings.sign * table["mean"].round(12)
    return table.iloc[np.argsort(-order.to_numpy(), kind="stable")].reset_index(drop=True)


def time_table(trials: pd.DataFrame) -> pd.DataFrame:
    """Return datasets by methods: wall seconds of all trials, NaN if any of them failed."""
    # A dataset with pending trials, or on which a method has no trials, is omitted.
    times = trials[TIMES].astype(float).fillna(0.0).sum(axis=1).clip(lower=CLOCK).where(trials["status"] == "ok")
    places = [trials["dataset"], trials["method"]]
    table = times.groupby(places, sort=False).sum(min_count=1).where((trials["status"] == "ok").groupby(places).all())
    methods = trials["method"].unique().tolist()
    planned = trials.groupby("dataset")["method"].nunique()
    unfinished = {*trials.loc[trials["status"].isna(), "dataset"], *planned.index[planned < len(methods)]}
    return table.unstack().reindex(
        columns=methods, index=[d for d in trials["dataset"].unique() if d not in unfinished]
    )


def _costs(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the time, memory and failures of each method."""
    good = trials["status"] == "ok"
    times = trials[TIMES].astype(float).fillna(0.0).where(good, 0.0)
    lost = trials["duration"].astype(float).fillna(0.0).where(~good, 0.0)
    parts = times.rename(columns=lambda name: name.replace("_wall", "_seconds"))
    parts["total_seconds"] = times.sum(axis=1) + lost
    parts["failed"] = trials["status"].notna() & ~good
    parts["planned"] = 1
    grouped = parts.groupby(trials["method"], sort=False).sum()
    grouped.insert(5, "peak_memory", trials["peak_memory"].astype(float).fillna(0).groupby(trials["method"]).max())
    return grouped


LARGE = 0.65
"""Share of the largest class above which accuracy is uninformative."""
COLUMNS = ["metric", *MEANS[:2], "largest_class", *MEANS[2:], "best", "not_worse", "p_best"]


def companion_scores(
    trials: pd.DataFrame, settings: ComparisonSettings, metrics: Iterable[str], shares: Mapping[str, float]
) -> pd.DataFrame:
    """Return each method's scores by further metrics, on datasets with a dominant class."""
    skewed = trials[trials["dataset"].map(shares) > LARGE]
    # A constant prediction does well on such a dataset by scores that count decisions.
    if not settings.score.counts_decisions or not len(skewed):
        return pd.DataFrame(columns=COLUMNS)
    tables = []
    for metric in metrics:
        if not settings.scores[metric].counts_decisions:
            table = tabulate(skewed, settings.replace(metric=metric, test="corrected-t"))
            tables.append(table.assign(metric=metric, largest_class=table["dataset"].map(shares)))
    return pd.concat(tables, ignore_index=True)[COLUMNS] if tables else pd.DataFrame(columns=COLUMNS)


FLOOR = 1e-3
EXPONENTS = ["dataset", "method", "n_train", "n_features", "seconds", "rows_exponent", "features_exponent"]


def timing_profile(trials: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """Return the fit times for each size."""
    merged = trials[trials["status"] == "ok"].merge(sizes, on=["dataset", "repeat", "fold"])
    merged["fit_seconds"] = merged["select_wall"].fillna(0.0) + merged["fit_wall"].fillna(0.0)
    keys = ["dataset", "method", "n_train", "n_features"]
    return merged.groupby(keys, sort=False)["fit_seconds"].min().reset_index()


def timing_exponents(profile: pd.DataFrame) -> pd.DataFrame:
    """Return the exponents of the power laws that fit times follow."""
    # Least-squares slope of log seconds over log size: b in t = a n^b. Times below a millisecond are dropped, because
    # constant overhead dominates there; a slope needs at least two sizes.
    rows = []
    for (dataset, method), cells in profile.groupby(["dataset", "method"], sort=False):
        n, p = cells["n_train"].max(), cells["n_features"].max()
        whole = cells[(cells["n_train"] == n) & (cells["n_features"] == p)]
        seconds = float(whole["fit_seconds"].iloc[0]) if len(whole) else np.nan
        exponents = (
            _slope(cells[cells["n_features"] == p], "n_train"),
            _slope(cells[cells["n_train"] == n], "n_features"),
        )
        rows.append([dataset, method, int(n), int(p), seconds, *exponents])
    return pd.DataFrame(rows, columns=EXPONENTS)


def _slope(cells: pd.DataFrame, size: str) -> float:
    counted = cells[cells["fit_seconds"] >= FLOOR]
    x, y = (np.log(counted[name].to_numpy(dtype=float)) for name in (size, "fit_seconds"))
    if len(x) < 2 or np.ptp(x) == 0:
        return float("nan")
    return float(np.polyfit(x, y, 1)[0])
