"""The curves of a run in one row for each dataset and method, and in one row for each method."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from mfbench.stats.curves.sufficient import sufficient_sizes
from mfbench.stats.one_dataset.cells import results_by_cell
from mfbench.stats.settings import ComparisonSettings
from mfbench.stats.summary import complete_table, means_of
from mfbench.suite.scores import CURVE_METRICS

AREAS = CURVE_METRICS
"""The metrics that a trial with a curve has, whichever the suite names."""
AT_SIZE = ("stability", "precision", "recall")
COLUMNS = [
    "dataset", "method", "classifier", *AREAS, "best_size", "best_mean", "sufficient_size", "sufficient_mean",
    "close_size", *AT_SIZE, "folds", "planned",
]  # fmt: skip
OVERVIEW = [
    "classifier", "method", *AREAS, "rank", "compared", "datasets", "sufficient_size", "sufficient_on", "close_size",
    "close_on", *AT_SIZE,
]  # fmt: skip


def classifier_of(description: str) -> str:
    """Return the classifier in the description of a method, for a run whose version did not record it."""
    return description.rpartition(" [tunes ")[0].rpartition(" → ")[2] or description.rpartition(" → ")[2]


def classifiers_of(methods: Mapping[str, str], recorded: Mapping[str, str], curved: Collection[str]) -> dict[str, str]:
    """Return the classifier of each method with a curve: the recorded one, or that of its description."""
    return {label: recorded.get(label) or classifier_of(text) for label, text in methods.items() if label in curved}


def curve_summary(
    curves: pd.DataFrame,
    trials: pd.DataFrame,
    rankings: pd.DataFrame,
    classifiers: Mapping[str, str],
    settings: ComparisonSettings,
) -> pd.DataFrame:
    """Return one row per dataset and method with a curve."""
    if not len(curves):
        return pd.DataFrame(columns=COLUMNS)
    own = trials[trials["method"].isin(list(classifiers))]
    areas = {name: means_of(results_by_cell(own, name)) for name in AREAS}
    frame = areas["area"].rename(columns={"mean": "area", "completed": "folds"})
    frame["area_linear"] = areas["area_linear"]["mean"]
    frame["classifier"] = frame["method"].map(classifiers)
    whole = frame[frame["complete"].astype(bool)]
    complete = set(zip(whole["dataset"], whole["method"], strict=True))
    sizes = sufficient_sizes(
        curves,
        settings.metric,
        ratio=settings.ratio,
        alpha=settings.alpha,
        greater_is_better=settings.greater_is_better,
        complete=complete,
    )
    frame = frame.merge(sizes, on=["dataset", "method"], how="left")
    frame["at"] = frame["sufficient_size"].fillna(frame["best_size"])
    figures = rankings.drop(columns="folds").rename(columns={"size": "at"}).astype({"at": float})
    return frame.merge(figures, on=["dataset", "method", "at"], how="left")[COLUMNS]


def curve_overview(
    summary: pd.DataFrame,
    trials: pd.DataFrame,
    settings: ComparisonSettings,
    dummies: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return one row per method with a curve: means, ranks and medians over datasets, classifier by classifier."""
    parts = [
        _overview(str(classifier), part, trials[trials["method"].isin(part["method"])], settings, dummies)
        for classifier, part in summary.groupby("classifier", sort=False)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=OVERVIEW)


def _overview(
    classifier: str,
    summary: pd.DataFrame,
    trials: pd.DataFrame,
    settings: ComparisonSettings,
    dummies: Mapping[str, float] | None,
) -> pd.DataFrame:
    log, linear = (complete_table(means_of(results_by_cell(trials, name)), trials, settings, dummies) for name in AREAS)
    groups = summary.groupby("method", sort=False)
    frame = groups[list(AT_SIZE)].mean()
    frame["area"], frame["area_linear"] = log.scores.mean(axis=0), linear.scores.mean(axis=0)
    frame["rank"] = log.ranks.mean(axis=0)
    frame["compared"], frame["datasets"] = len(log.scores), groups["folds"].agg(lambda folds: int((folds > 0).sum()))
    for name in ("sufficient", "close"):
        sizes = groups[f"{name}_size"]
        frame[f"{name}_size"], frame[f"{name}_on"] = sizes.median(), sizes.count()
    frame = frame.reset_index().assign(classifier=classifier)
    return frame.sort_values("rank", kind="stable", ignore_index=True)[OVERVIEW]
