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
    """Return the classifier in the description of a method, for a run whose version did not record it.

    Examples
    --------
    >>> classifier_of("relieff → top 5 → knn(n_neighbors=1) [tunes metric]")
    'knn(n_neighbors=1)'
    """
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
    """Return one row per dataset and method with a curve.

    Parameters
    ----------
    curves : DataFrame
        One row per trial, size and metric: columns dataset, method, replicate, fold, size, metric and score.
    trials : DataFrame
        As `mfbench.stats.results.Run.compared`, with the columns of `AREAS`.
    rankings : DataFrame
        As `mfbench.stats.curves.rankings.ranking_figures` returns.
    classifiers : mapping of str to str
        The classifier of each method with a curve.
    settings : ComparisonSettings
        Its metric is that of the curves.

    Returns
    -------
    DataFrame
        Columns dataset, method, classifier, area and area_linear (means over folds), best_size, best_mean,
        sufficient_size, sufficient_mean and close_size (see `mfbench.stats.curves.sufficient.sufficient_sizes`),
        stability, precision and recall (at the sufficient size, or at the best one if there is no test), folds (that
        succeeded) and planned.
    """
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
    """Return one row per method with a curve: means, ranks and medians over datasets, classifier by classifier.

    Parameters
    ----------
    summary : DataFrame
        As `curve_summary` returns.
    trials : DataFrame
        As `mfbench.stats.results.Run.compared`, with the columns of `AREAS`.
    settings : ComparisonSettings
        Its metric is that of the curves; its policy for missing cells applies.
    dummies : mapping of str to float or None, default=None
        Scores of a constant guess by dataset, which are also the areas under its curve.

    Returns
    -------
    DataFrame
        Columns classifier, method, area, area_linear (means) and rank (average rank of the area among the methods of
        the classifier), all three over the `compared` datasets that the policy keeps; datasets; sufficient_size
        (median) and sufficient_on (number of datasets on which there is one); close_size and close_on likewise;
        stability, precision and recall (at the same sizes as in `curve_summary`, means over the datasets that have
        them). Best rank
        first within a classifier.
    """
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
