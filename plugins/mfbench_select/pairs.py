"""Pairs of features that say together what neither says alone: a likelihood-ratio test of the three-way interaction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special
from scipy.stats import chi2_contingency

from mfbench_select.inference import LEVEL

Floats = NDArray[np.float64]
MOST_FEATURES, MOST_ROWS = 300, 20_000
_LEAST_ROWS = 30
_BINS = 3
_ROUNDS, _CLOSE = 100, 1e-4  # of the fit: at most so many, until margins differ by less than this many rows
_BLOCK = 20_000  # pairs at once


@dataclass(frozen=True)
class Pair:
    """Two features that interact."""

    first: str
    second: str
    p_value: float  # adjusted for all pairs
    alone: bool  # whether neither is significant by itself


def interacting_pairs(X: pd.DataFrame, y: pd.Series) -> list[Pair]:
    """Return the pairs whose joint effect is not the sum of single effects on the log-odds, most significant first.

    Features, and a target of numbers, are divided at their quantiles. The test compares the table of two features and
    the target with its fit by all two-way margins (iterative proportional fitting); p-values are Bonferroni's. Returns
    nothing for fewer than 30 rows. Of more than 300 columns, the first ones are tested, and of more than 20,000 rows as
    many at random.
    """
    if len(y) < _LEAST_ROWS:
        return []
    if len(y) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)
    bins = 2 if len(y) < 40 * _BINS**2 else _BINS
    target = _codes(y, bins, most=10)
    codes = {str(name): _codes(X[name], bins, most=bins) for name in X.columns}
    codes = {name: values for name, values in codes.items() if values.max(initial=0) > 0}
    names = list(codes)[:MOST_FEATURES]
    if len(names) < 2:
        return []
    single = [_marginal_p(codes[name], target) for name in names]
    hot = np.array([[codes[name] == code for code in range(bins)] for name in names], dtype=np.float64)
    first, second = np.triu_indices(len(names), 1)
    p_values = np.ones(len(first))
    flat, classes = hot.reshape(len(names) * bins, -1), int(target.max()) + 1
    cubes = np.array([(flat * (target == code)) @ flat.T for code in range(classes)])
    cubes = cubes.reshape(classes, len(names), bins, len(names), bins)
    for start in range(0, len(first), _BLOCK):
        part = slice(start, start + _BLOCK)
        tables = cubes[:, first[part], :, second[part], :]  # (pairs, classes, bins, bins)
        p_values[part] = interaction_p(tables)
    adjusted = np.minimum(p_values * len(first), 1.0)
    shown = np.flatnonzero(adjusted < LEVEL)
    limit = LEVEL / len(names)
    return [
        Pair(names[i], names[j], float(p), single[i] >= limit and single[j] >= limit)
        for i, j, p in ((first[k], second[k], adjusted[k]) for k in shown[np.argsort(adjusted[shown], kind="stable")])
    ]


def interaction_p(tables: Floats) -> Floats:
    """Return the p-value of no three-way interaction for each table of shape (n_tables, classes, bins, bins)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        fitted, margins = np.ones_like(tables), [tables.sum(axis=axis, keepdims=True) for axis in (1, 2, 3)]
        for _ in range(_ROUNDS):
            change = 0.0
            for axis, margin in zip((1, 2, 3), margins, strict=True):
                own = fitted.sum(axis=axis, keepdims=True)
                change = max(change, float(np.abs(margin - own).max(initial=0.0)))
                fitted *= np.where(own > 0, margin / own, 0.0)
            if change < _CLOSE:
                break
        terms = np.where(tables > 0, tables * np.log(tables / fitted), 0.0)
    deviance = 2.0 * terms.sum(axis=(1, 2, 3))
    # Levels that do not occur take their degrees of freedom with them.
    sizes = [(tables.sum(axis=tuple({1, 2, 3} - {axis})) > 0).sum(axis=1) - 1 for axis in (1, 2, 3)]
    freedom = np.prod(sizes, axis=0)
    return np.where(freedom > 0, special.chdtrc(np.maximum(freedom, 1), np.maximum(deviance, 0.0)), 1.0)


def _marginal_p(codes: NDArray[np.int64], target: NDArray[np.int64]) -> float:
    table = np.zeros((codes.max() + 1, target.max() + 1))
    np.add.at(table, (codes, target), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return float(chi2_contingency(table, correction=False).pvalue) if min(table.shape) > 1 else 1.0


def _codes(column: pd.Series, bins: int, most: int) -> NDArray[np.int64]:
    """Return the part of each row: between quantiles, or the most frequent categories and the rest."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        order = column.value_counts().index[: most - 1].tolist()
        return np.array([order.index(value) if value in order else len(order) for value in column], dtype=np.int64)
    values = column.to_numpy(dtype=float)
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if len(distinct) <= bins:
        cuts = (distinct[1:] + distinct[:-1]) / 2
    else:
        cuts = np.unique(np.quantile(present, np.arange(1, bins) / bins))
        cuts = cuts[cuts > distinct[0]]
    filled = np.where(np.isnan(values), np.median(present) if len(present) else 0.0, values)
    return np.searchsorted(cuts, filled, "right").astype(np.int64)
