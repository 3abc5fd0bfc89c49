"""What a click on a cell of the table of scores opens: folds, parameters, times, features, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.stats.results import Run

MOST_PARAMETERS, MOST_FEATURES, MOST_ERRORS, LONGEST_ERROR = 5, 12, 5, 400
_STEPS = ("tune_wall", "select_wall", "fit_wall", "predict_wall")

Place = tuple[str, str]
"""Labels of a dataset and a method."""


def details_of(run: Run) -> dict[Place, list[Any]]:
    """Return the details of each cell by dataset and method."""
    outcomes, selected = run.outcomes, _selected(run)
    parameters = run.chosen_parameters if run.tuned else ()
    texts = ((place, ", ".join(f"{name} = {value}" for name, value in own.items())) for place, own in parameters)
    chosen = _counted(texts, MOST_PARAMETERS)
    failures = run.failures[["status", "error_type", "error_message"]].to_dict("records")
    reasons = [": ".join(str(part) for part in row.values() if not pd.isna(part))[:LONGEST_ERROR] for row in failures]
    places_of_failures = zip(run.failures["dataset"], run.failures["method"], strict=True)
    errors = _counted(zip(places_of_failures, reasons, strict=True), MOST_ERRORS)
    ok = outcomes["status"].eq("ok").fillna(False).to_numpy(dtype=bool)
    places: dict[Any, Any] = dict(outcomes.groupby(["dataset", "method"], sort=False).indices)
    metric = run.settings.metric
    scores = outcomes[metric].to_numpy(dtype=float) if metric in outcomes else np.full(len(outcomes), np.nan)
    times = outcomes[list(_STEPS)].to_numpy(dtype=float, na_value=np.nan)
    memory = outcomes["peak_memory"].to_numpy(dtype=float, na_value=np.nan)
    details: dict[Place, list[Any]] = {}
    for key, rows in places.items():
        place = (str(key[0]), str(key[1]))
        done = rows[ok[rows]]
        largest = memory[done].max(initial=-np.inf, where=np.isfinite(memory[done]))
        details[place] = [
            [_rounded(value) for value in scores[rows].tolist()],
            [_rounded(_median(column), 3) for column in times[done].T],
            int(largest) if np.isfinite(largest) else None,
            chosen.get(place, []),
            selected.get(place, []),
            errors.get(place, []),
        ]
    return details


def _counted(pairs: Iterable[tuple[Place, str]], most: int) -> dict[Place, list[tuple[str, int]]]:
    """Return how often each text occurs at each place, the most frequent first."""
    counts: dict[Place, Counter[str]] = {}
    for place, text in pairs:
        counts.setdefault(place, Counter())[text] += 1
    return {place: _first(counter.most_common(), most) for place, counter in counts.items()}


def _selected(run: Run) -> dict[Place, list[tuple[str, int]]]:
    frame = run.selected
    leaving_out = frame[frame["least"] < frame["n_features"]]
    selected: dict[Place, list[tuple[str, int]]] = {}
    for dataset, method in leaving_out[["dataset", "method"]].itertuples(index=False, name=None):
        if (dataset, method) in run.selection_counts:
            names, (counts, _) = run.feature_names(dataset), run.selection_counts[dataset, method]
            order = np.argsort(-counts, kind="stable")
            pairs = [(names[index], int(counts[index])) for index in order if counts[index]]
            selected[dataset, method] = _first(pairs, MOST_FEATURES)
    return selected


def _first(pairs: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """Return the first pairs; one more, with the largest of their numbers, says how many others there are."""
    if len(pairs) <= most:
        return pairs
    return [*pairs[:most], (f"… and {len(pairs) - most} more, at most", pairs[most][1])]


def _median(values: NDArray[np.float64]) -> float:
    """Return the median of the values that are known; NaN if none is, as for a step that a method does not have."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else np.nan


def _rounded(value: float, digits: int = 4) -> float | None:
    """Return a number with a few significant digits, None if it is not finite: the page holds many of them."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None
