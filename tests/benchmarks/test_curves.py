"""The analysis of curves: 60 methods, 10 datasets, 25 folds and 15 sizes, of which every three methods share a ranking.

Run: ``pytest tests/benchmarks/test_curves.py --benchmark-only``.
"""

import numpy as np
import pandas as pd
import pytest

from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.curves import curve_overview, curve_summary, mean_curves, ranking_figures

SELECTORS, CLASSIFIERS, DATASETS, FOLDS, FEATURES = 20, 3, 10, 25, 500
SIZES = np.unique(np.geomspace(1, FEATURES, 17).round().astype(int))[:15]
SETTINGS = ComparisonSettings("accuracy", True, None, "corrected-t", 0.05, 0.25)


@pytest.fixture(scope="module")
def frames():
    """Scores that rise with the size, so that every smaller size is tested; and the rows with the weights."""
    rng = np.random.default_rng(0)
    names = {f"s{s}-c{c}": f"c{c}" for s in range(SELECTORS) for c in range(CLASSIFIERS)}
    places = [(f"d{d}", method) for d in range(DATASETS) for method in names]
    trials = pd.DataFrame(
        [(*p, 0, f) for p in places for f in range(FOLDS)], columns=["dataset", "method", "repeat", "fold"]
    )
    trials["status"], trials["area"], trials["area_linear"] = "ok", rng.random(len(trials)), 0.5
    curves = trials.loc[trials.index.repeat(len(SIZES)), ["dataset", "method", "fold"]].reset_index(drop=True)
    curves["size"] = np.tile(SIZES, len(trials))
    rising = np.log(curves["size"]) / np.log(FEATURES)
    curves = curves.assign(replicate=0, metric="accuracy", seconds=0.1, score=rising + 0.05 * rng.random(len(curves)))
    weights = {
        (f"d{d}", f"s{s}"): list(rng.normal(size=(FOLDS, FEATURES))) for d in range(DATASETS) for s in range(SELECTORS)
    }
    rows = [
        {"dataset": d, "method": m, "status": "ok", "weights": one}
        for d, m in places
        for one in weights[d, m.partition("-")[0]]
    ]
    return curves, trials, rows, names


def test_all_figures_of_60_methods_on_10_datasets(benchmark, frames):
    curves, trials, rows, names = frames
    sizes = dict.fromkeys(zip(trials["dataset"], trials["method"], strict=True), SIZES)

    def whole():
        mean_curves(curves, lambda dataset: 0.25)
        rankings = ranking_figures(rows, sizes, {f"d{d}": range(10) for d in range(0, DATASETS, 3)})
        summary = curve_summary(curves, trials, rankings, names, SETTINGS)
        return curve_overview(summary, trials, SETTINGS)

    overview = benchmark.pedantic(whole, rounds=3, warmup_rounds=1)
    assert len(overview) == SELECTORS * CLASSIFIERS
