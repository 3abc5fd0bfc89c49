"""Scores of simulated suites, and races replayed on complete scores."""

from pathlib import Path

import numpy as np

import mfbench
from mfbench_race.rule import Race

QUICK = Path(__file__).parents[2] / "reports" / "uci-quick" / "claim.zip"


def replay(scores, target, folds=10):
    """Run a race on scores of shape (datasets, methods, folds); return it, and the share of trials saved."""
    n_datasets, n_methods, n_folds = scores.shape
    names = [str(place) for place in range(n_methods)]
    datasets = [str(place) for place in range(n_datasets)]
    race = Race(names, dict.fromkeys(datasets, n_folds), dict.fromkeys(datasets, 1 / (folds - 1)), target)
    ran = before = 0
    for look in race.looks:
        alive = [int(name) for name in race.alive]
        ran, before = ran + len(alive) * (look - before), look
        race.look(look, {name: own[alive, :look] for name, own in zip(datasets, scores, strict=True)})
    ran += len(race.alive) * (n_folds - before)
    return race, 1 - ran / (n_methods * n_folds)


def winner_remains(race, scores):
    """Return whether a method that the complete plan puts first is still in the race."""
    means = scores.mean(axis=(0, 2))
    return any(means[int(name)] >= means.max() - 1e-12 for name in race.alive)


def measured_folds():
    """Return the scores of the published quick run: array of datasets, methods and five folds."""
    run = mfbench.load_run(QUICK)
    table = run.outcomes.pivot(index=["dataset", "method"], columns=["repeat", "fold"], values="accuracy")
    shape = (run.outcomes["dataset"].nunique(), run.outcomes["method"].nunique(), 5)
    values = table.to_numpy(float).reshape(shape)
    return values[np.isfinite(values).all(axis=(1, 2))]


def realistic(measured, n_datasets, n_folds, rng):
    """Return folds with the means of measured cells and, between methods, the covariance of their residuals."""
    own = measured[rng.choice(len(measured), n_datasets, replace=False)]
    means = own.mean(axis=2, keepdims=True)
    residuals = (own - means) / np.sqrt(own.shape[2] - 1)
    centre = means.mean(axis=1, keepdims=True)
    means = centre + 0.95 * (means - centre)  # a part of the spread of measured means is that of their folds
    return means + np.einsum("dmr,drj->dmj", residuals, rng.normal(size=(n_datasets, own.shape[2], n_folds)))
