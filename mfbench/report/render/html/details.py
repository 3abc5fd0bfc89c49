"""What a click on a cell of the table of scores opens: folds, parameters, times, features, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfbench.analysis.results import Run

MOST_PARAMETERS, MOST_FEATURES, LONGEST_ERROR = 5, 12, 400


def details_of(run: Run) -> dict[str, dict[str, Any]]:
    """Return the details of each cell by dataset and method.

    Parameters
    ----------
    run : Run

    Returns
    -------
    dict of str to dict
        By dataset, then by method: ``scores`` (of the folds, None where a trial failed), ``seconds`` (medians of
        tuning, selecting, fitting and predicting), ``memory`` (largest peak in bytes), ``parameters`` and ``features``
        (each with the number of folds), ``errors`` (each with its number).
    """
    metric = run.settings.metric
    outcomes = run.outcomes
    chosen, selected = _chosen(run), _selected(run)
    details: dict[str, dict[str, Any]] = {}
    for (dataset, method), own in outcomes.groupby(["dataset", "method"], sort=False):
        place = (str(dataset), str(method))
        ok = own[own["status"] == "ok"]
        details.setdefault(place[0], {})[place[1]] = {
            "scores": [_rounded(value) for value in own[metric]] if metric in own else [],
            "seconds": [
                _rounded(ok[name].median(), 3) for name in ("tune_wall", "select_wall", "fit_wall", "predict_wall")
            ],
            "memory": None if ok["peak_memory"].isna().all() else int(ok["peak_memory"].max()),
            "parameters": chosen.get(place, []),
            "features": selected.get(place, []),
            "errors": _errors(own),
        }
    return details


def _chosen(run: Run) -> dict[tuple[str, str], list[tuple[str, int]]]:
    if not run.tuned:
        return {}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in run.trials[["dataset", "method", "chosen"]].to_dict("records"):
        if row["chosen"]:
            text = ", ".join(f"{name} = {value}" for name, value in row["chosen"].items())
            counts.setdefault((row["dataset"], row["method"]), Counter())[text] += 1
    return {place: counter.most_common(MOST_PARAMETERS) for place, counter in counts.items()}


def _selected(run: Run) -> dict[tuple[str, str], list[tuple[str, int]]]:
    frame = run.selected
    found = {}
    for row in frame[frame["least"] < frame["n_features"]].to_dict("records"):
        dataset, method = row["dataset"], row["method"]
        names = run.feature_names(dataset)
        counts = Counter(int(index) for folds in run.selections(dataset, [method])["selected"] for index in folds)
        found[dataset, method] = [(names[index], count) for index, count in counts.most_common(MOST_FEATURES)]
    return found


def _errors(own: Any) -> list[tuple[str, int]]:
    failed = own[own["status"].notna() & (own["status"] != "ok")]
    counts: Counter[str] = Counter()
    for row in failed[["status", "error_type", "error_message"]].to_dict("records"):
        words = f"{row['status']}: {row['error_type'] or ''}: {row['error_message'] or ''}"
        counts[words[:LONGEST_ERROR]] += 1
    return counts.most_common()


def _rounded(value: Any, digits: int = 4) -> float | None:
    """Return a number with a few significant digits, None if it is not finite: the page holds many of them."""
    return float(f"{float(value):.{digits}g}") if value is not None and np.isfinite(value) else None


def compact(
    details: Mapping[str, Mapping[str, Any]], datasets: Sequence[str], methods: Sequence[str]
) -> list[list[Any]]:
    """Return details as rows of lists in the order of datasets and methods, a third of the size of named fields."""
    names = ("scores", "seconds", "memory", "parameters", "features", "errors")
    return [
        [[details[d][m][name] for name in names] if m in details.get(d, {}) else None for m in methods]
        for d in datasets
    ]
