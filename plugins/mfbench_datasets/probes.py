"""Probes: features added to a dataset that say nothing about its target, or nothing new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import UsageError
from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_real, check_whole

PREFIX = "probe-"
Columns = NDArray[np.float64]


def probed(of: Dataset, kind: str = "permuted", share: float = 0.5, seed: int = 0) -> Dataset:
    """Return a dataset with probes after its own features.

    A selector that keeps a probe and drops a feature of the dataset has probably made a mistake, so false alarms can be
    measured where the truth is unknown. The dataset's own features are called relevant, and may not be.

    Parameters
    ----------
    of : Dataset
        The dataset; in expressions its name, as in ``"probed(of='wine')"``.
    kind : {"permuted", "random", "corrupted", "second-order"}, default="permuted"
        "permuted": columns of the dataset with their values in random order. "random": Gaussian. "corrupted": columns
        plus as much Gaussian noise; of categories, half are replaced by those of other rows. "second-order": products
        of two standardised columns. The last two depend on the target, but say little that the features do not.
    share : float, default=0.5
        Share of the probes among all features, above 0 and at most 0.95.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If the kind is unknown, a number is out of range, the dataset is sparse, or has no numbers to multiply.

    References
    ----------
    I. Guyon, S. Gunn, A. Ben-Hur, G. Dror: Result analysis of the NIPS 2003 feature selection challenge. NIPS 17, 2004
    (probes). V. Cherepanova and others: A performance-driven benchmark for feature selection in tabular deep learning.
    NeurIPS 2023 (random, corrupted and second-order features).

    Examples
    --------
    >>> import mfbench
    >>> data = mfbench.load_dataset("probed(of='wine')")
    >>> data.X.shape, data.feature_names[-1], data.relevant[-1]
    ((178, 26), 'probe-13', 12)
    """
    if kind not in _KINDS:
        raise UsageError(f"'kind' of dataset 'probed' is {kind!r}; use one of {', '.join(_KINDS)}")
    part = check_real("probed", "share", share, 0.0, 0.95, without=[0.0])
    random = np.random.RandomState(check_whole("probed", "seed", seed, 0, 2**32 - 1))
    if of.is_sparse:
        raise UsageError(f"dataset {of.name!r} is sparse, and probes are dense: make it dense first")
    count = max(1, round(of.n_features * part / (1.0 - part)))
    usable = np.arange(of.n_features) if kind in ("permuted", "corrupted") else np.flatnonzero(~of.categorical)
    if kind == "second-order" and not len(usable):
        raise UsageError(f"dataset {of.name!r} has no numeric columns, so second-order probes cannot be made of it")
    places = _picked(random, usable, count) if len(usable) else np.empty(0, dtype=np.intp)
    probes, categorical = _KINDS[kind](random, of, places, count)
    names = tuple(f"{PREFIX}{number}" for number in range(1, count + 1))
    categories = {
        name: of.categories[of.feature_names[place]]
        for name, place, is_category in zip(names, places, categorical, strict=False)
        if is_category and of.feature_names[place] in of.categories
    }
    return replace(
        of,
        name="probed",
        X=np.hstack([of.X, probes]) + 0.0,
        feature_names=(*of.feature_names, *names),
        categorical=np.concatenate([of.categorical, categorical]),
        categories={**of.categories, **categories},
        relevant=tuple(range(of.n_features)),
        interactions=None,
    )


def _picked(random: np.random.RandomState, usable: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return so many columns, each as often as the others up to one."""
    rounds = [random.permutation(usable) for _ in range(-(-count // len(usable)))]
    return np.concatenate(rounds)[:count]


Probes = tuple[Columns, NDArray[np.bool_]]


def _permuted(random: np.random.RandomState, of: Dataset, places: NDArray[np.intp], count: int) -> Probes:
    columns = [of.X[random.permutation(of.n_samples), place] for place in places]
    return np.column_stack(columns), of.categorical[places]


def _gaussian(random: np.random.RandomState, of: Dataset, places: NDArray[np.intp], count: int) -> Probes:
    return random.standard_normal(size=(of.n_samples, count)), np.zeros(count, dtype=bool)


def _corrupted(random: np.random.RandomState, of: Dataset, places: NDArray[np.intp], count: int) -> Probes:
    columns = []
    for place in places:
        own = of.X[:, place]
        if of.categorical[place]:
            others = own[random.permutation(of.n_samples)]
            columns.append(np.where(random.random_sample(of.n_samples) < 0.5, own, others))
        else:
            spread = float(np.nanstd(own)) if np.isfinite(own).any() else 0.0
            columns.append(own + spread * random.standard_normal(of.n_samples))
    return np.column_stack(columns), of.categorical[places]


def _second_order(random: np.random.RandomState, of: Dataset, places: NDArray[np.intp], count: int) -> Probes:
    usable = np.flatnonzero(~of.categorical)
    columns = []
    for place in places:
        others = usable[usable != place] if len(usable) > 1 else usable
        columns.append(_standardised(of.X[:, place]) * _standardised(of.X[:, random.choice(others)]))
    return np.column_stack(columns), np.zeros(count, dtype=bool)


def _standardised(column: Columns) -> Columns:
    if not np.isfinite(column).any():
        return column
    spread = np.nanstd(column)
    return np.asarray((column - np.nanmean(column)) / (spread if spread > 0 else 1.0))


_KINDS: dict[str, Callable[[np.random.RandomState, Dataset, NDArray[np.intp], int], Probes]] = {
    "permuted": _permuted,
    "random": _gaussian,
    "corrupted": _corrupted,
    "second-order": _second_order,
}
