r"""Epistasis without marginal effects, after GAMETES: loci that affect the class jointly and not at all on their own.

A locus is a feature with the genotypes 0, 1, 2 (the number of minor alleles), whose probabilities are :math:`(1-m)^2,
2m(1-m), m^2` for the minor allele frequency m. A penetrance table f gives the probability of the disease for each
combination of genotypes. The model is pure and strict if no proper subset of the loci carries information about the
disease: the mean of f along each axis, weighted by the genotype probabilities, is everywhere the prevalence K. The
heritability is :math:`h^2 = \sum_g P(g) (f(g) - K)^2 / (K (1 - K))`.

GAMETES solves for such tables step by step. Here a table of standard normal numbers is projected onto the linear space
of tables whose weighted means along every axis are 0: :math:`d \leftarrow d - \sum_g p_g d_g`, one axis after the
other. Then :math:`f = K + s d`, where s follows from the heritability, provided that f stays within [0, 1]; otherwise
the next table is drawn.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import UsageError
from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_flag, check_real, check_whole
from mfbench_datasets.ground_truth.assembly import assemble, numbered, streams

GENOTYPES = ("0", "1", "2")
_ONE, _MIXTURE = "gametes-like", "gametes-like-mixture"
_BATCH, _BATCHES = 2000, 100
_NOISE_MAF = (0.05, 0.5)


def genotype_probabilities(maf: float) -> NDArray[np.float64]:
    """Return the probabilities of 0, 1 and 2 minor alleles in Hardy-Weinberg equilibrium.

    Examples
    --------
    >>> genotype_probabilities(0.5)
    array([0.25, 0.5 , 0.25])
    """
    return np.array([(1 - maf) ** 2, 2 * maf * (1 - maf), maf**2])


def cell_probabilities(maf: float, order: int) -> NDArray[np.float64]:
    """Return the probability of each combination of genotypes of independent loci; shape (3,) * order."""
    p = genotype_probabilities(maf)
    cells = p
    for _ in range(order - 1):
        cells = np.multiply.outer(cells, p)
    return cells


def heritability_of(table: NDArray[np.float64], maf: float) -> float:
    """Return the heritability of a penetrance table.

    Examples
    --------
    >>> import numpy as np
    >>> heritability_of(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]), maf=0.5)
    1.0
    """
    cells = cell_probabilities(maf, table.ndim)
    prevalence = float((cells * table).sum())
    return float((cells * (table - prevalence) ** 2).sum() / (prevalence * (1 - prevalence)))


def penetrance_table(
    order: int = 2, heritability: float = 0.4, maf: float = 0.2, prevalence: float | None = None, seed: int = 0
) -> NDArray[np.float64]:
    r"""Return a random penetrance table of a pure, strict epistatic model.

    Up to 200,000 tables are drawn, in batches; the time for each is proportional to :math:`3^{order}`.

    Parameters
    ----------
    order : {2, 3}, default=2
        Number of loci.
    heritability : float, default=0.4
        Heritability, which the table has exactly; above 0 and at most 1.
    maf : float, default=0.2
        Minor allele frequency of the loci, above 0 and at most 0.5.
    prevalence : float or None, default=None
        Probability of the disease, between 0 and 1; None chooses the one that allows the drawn table the largest
        heritability.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    ndarray of shape (3,) * order

    Raises
    ------
    UsageError
        If a parameter is out of range, or no drawn table has that heritability.

    Examples
    --------
    >>> table = penetrance_table(order=3, heritability=0.1)
    >>> table.shape, round(heritability_of(table, 0.2), 12)
    ((3, 3, 3), 0.1)
    """
    return _table(_ONE, order, heritability, maf, prevalence, streams(_ONE, seed, 1)[0])


def gametes_like(
    n_samples: int = 1600,
    n_noise: int = 18,
    order: int = 2,
    heritability: float = 0.4,
    maf: float = 0.2,
    prevalence: float | None = None,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return cases and controls of a pure, strict epistatic model of 2 or 3 loci among irrelevant loci.

    The penetrance table is `penetrance_table` with the same parameters. Half of the rows are cases (class 1), drawn
    from the distribution of the genotypes given the disease, and half are controls; this sampling preserves the absence
    of marginal effects. The minor allele frequencies of irrelevant loci are uniform between 0.05 and 0.5. All pairs of
    the model's loci are interactions. Time and memory are proportional to n times the number of loci.

    With equally many cases and controls, the variance of the class between the cells is about
    :math:`h^2 / (16 K (1 - K))`: at the same heritability, a rarer disease is easier to detect. The GAMETES datasets in
    circulation were made by the GAMETES program with other random tables and prevalences; the defaults here have the
    size, heritability and allele frequency of one of them.

    Parameters
    ----------
    n_samples : int, default=1600
        Number of rows.
    n_noise : int, default=18
        Number of irrelevant loci.
    order : {2, 3}, default=2
        Number of interacting loci.
    heritability : float, default=0.4
        Heritability in the population, above 0 and at most 1. The possible values depend on `order` and `maf`.
    maf : float, default=0.2
        Minor allele frequency of the relevant loci, above 0 and at most 0.5.
    prevalence : float or None, default=None
        Probability of the disease in the population; None chooses it to suit the table.
    shuffle : bool, default=True
        Whether the columns are in random order; False puts the noise loci (N-1, …) first, as GAMETES does, then P-1, ….
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        The columns are categories with the labels 0, 1, 2.

    References
    ----------
    R. J. Urbanowicz et al.: GAMETES: a fast, direct algorithm for generating pure, strict, epistatic models with random
    architectures. BioData Mining 5:16, 2012.

    Examples
    --------
    >>> dataset = gametes_like(n_samples=200, n_noise=8, shuffle=False)
    >>> dataset.X.shape, dataset.relevant, dataset.interactions
    ((200, 10), (8, 9), ((8, 9),))
    """
    n, p = check_whole(_ONE, "n_samples", n_samples, 2), check_whole(_ONE, "n_noise", n_noise, 0)
    shuffle = check_flag(_ONE, "shuffle", shuffle)
    model, rows, noise, columns = streams(_ONE, seed, 4)
    table = _table(_ONE, order, heritability, maf, prevalence, model)
    y = np.repeat([0, 1], [n - n // 2, n // 2])
    X = np.hstack([_noise_loci(noise, n, p), _loci(rows, table, maf, y)])
    relevant = range(p, p + order)
    return assemble(
        _ONE,
        X,
        y,
        (*numbered("N", p), *numbered("P", order)),
        relevant,
        tuple(combinations(relevant, 2)),
        order=columns if shuffle else None,
        categories=GENOTYPES,
    )


def gametes_like_mixture(
    n_samples: int = 1600,
    n_noise: int = 16,
    share: float = 0.5,
    heritability: float = 0.4,
    maf: float = 0.2,
    prevalence: float | None = None,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    """Return a heterogeneous mixture: one pair of loci determines the class in some of the rows, another in the rest.

    Each pair has its own pure, strict penetrance table with the same parameters, see `gametes_like`; in the other
    pair's rows it is noise. Each part has as many cases as controls (one control more if its size is odd). Time and
    memory are proportional to n times the number of loci.

    Parameters
    ----------
    n_samples : int, default=1600
        Number of rows.
    n_noise : int, default=16
        Number of irrelevant loci.
    share : float, default=0.5
        Share of the rows that belong to the first pair, above 0 and below 1.
    heritability : float, default=0.4
        Heritability of each table, above 0 and at most 1.
    maf : float, default=0.2
        Minor allele frequency of the four relevant loci, above 0 and at most 0.5.
    prevalence : float or None, default=None
        Probability of the disease in both populations; None chooses it to suit each table.
    shuffle : bool, default=True
        Whether the columns are in random order; False puts the noise loci first, then M0P0, M0P1, M1P0, M1P1.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        The rows of the first pair come first; within each part, controls precede cases.

    References
    ----------
    R. J. Urbanowicz et al.: GAMETES: a fast, direct algorithm for generating pure, strict, epistatic models with random
    architectures. BioData Mining 5:16, 2012.

    Examples
    --------
    >>> dataset = gametes_like_mixture(n_samples=200, share=0.75, shuffle=False)
    >>> dataset.relevant, dataset.interactions
    ((16, 17, 18, 19), ((16, 17), (18, 19)))
    """
    n, p = check_whole(_MIXTURE, "n_samples", n_samples, 4), check_whole(_MIXTURE, "n_noise", n_noise, 0)
    share = check_real(_MIXTURE, "share", share, 0, 1, without=[0, 1])
    shuffle = check_flag(_MIXTURE, "shuffle", shuffle)
    model, rows, noise, columns = streams(_MIXTURE, seed, 4)
    tables = [_table(_MIXTURE, 2, heritability, maf, prevalence, model) for _ in range(2)]
    sizes = (round(share * n), n - round(share * n))
    y = np.concatenate([np.repeat([0, 1], [size - size // 2, size // 2]) for size in sizes])
    part = np.repeat([0, 1], sizes)
    pairs = []
    for number, table in enumerate(tables):
        pair = _alleles(rows, n, np.full(2, maf))
        pair[part == number] = _loci(rows, table, maf, y[part == number])
        pairs.append(pair)
    X = np.hstack([_noise_loci(noise, n, p), *pairs])
    return assemble(
        _MIXTURE,
        X,
        y,
        (*numbered("N", p), "M0P0", "M0P1", "M1P0", "M1P1"),
        range(p, p + 4),
        ((p, p + 1), (p + 2, p + 3)),
        order=columns if shuffle else None,
        categories=GENOTYPES,
    )


def _table(
    name: str, order: Any, heritability: Any, maf: Any, prevalence: Any, random: np.random.RandomState
) -> NDArray[np.float64]:
    """Draw tables until one can be scaled to the heritability within [0, 1]."""
    order = check_whole(name, "order", order, 2, 3)
    heritability = check_real(name, "heritability", heritability, 0, 1, without=[0])
    maf = check_real(name, "maf", maf, 0, 0.5, without=[0])
    if prevalence is not None:
        prevalence = check_real(name, "prevalence", prevalence, 0, 1, without=[0, 1])
    p, weights, best = genotype_probabilities(maf), cell_probabilities(maf, order).ravel(), 0.0
    for _ in range(_BATCHES):
        tables = random.standard_normal(size=(_BATCH, *(3,) * order))
        for axis in range(1, order + 1):
            along = np.moveaxis(tables, axis, -1)  # a view: the next line changes the tables
            along -= (along * p).sum(axis=-1, keepdims=True)
        flat = tables.reshape(_BATCH, -1)
        high, low = flat.max(axis=1), -flat.min(axis=1)
        prevalences = low / (low + high) if prevalence is None else np.full(_BATCH, prevalence)
        largest_scale = np.minimum((1 - prevalences) / high, prevalences / low)
        variances = (flat**2 * weights).sum(axis=1)
        largest = largest_scale**2 * variances / (prevalences * (1 - prevalences))
        fitting = np.flatnonzero(largest >= heritability)
        if len(fitting):
            i = fitting[0]
            table = prevalences[i] + np.sqrt(heritability / largest[i]) * largest_scale[i] * tables[i]
            clipped: NDArray[np.float64] = np.clip(table, 0.0, 1.0)  # only rounding can leave the range
            return clipped
        best = max(best, float(largest.max()))
    raise UsageError(
        f"dataset {name!r}: no random table of order {order} with heritability {heritability:g} at minor allele "
        f"frequency {maf:g}{'' if prevalence is None else f' and prevalence {prevalence:g}'}; the highest heritability "
        f"was {best:.3g}"
    )


def _loci(
    random: np.random.RandomState, table: NDArray[np.float64], maf: float, y: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Draw the genotypes of the model's loci, given the class of each row."""
    cells = cell_probabilities(maf, table.ndim)
    u = random.random_sample(size=len(y))
    cell = np.empty(len(y), dtype=np.int64)
    for code, weights in enumerate((cells * (1 - table), cells * table)):
        cumulative = np.cumsum(weights.ravel())
        positions = np.searchsorted(cumulative / cumulative[-1], u[y == code], side="right")
        cell[y == code] = np.minimum(positions, cells.size - 1)
    return np.stack(np.unravel_index(cell, table.shape), axis=1).astype(np.float64)


def _alleles(random: np.random.RandomState, n: int, maf: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw the genotypes of independent loci, two alleles each."""
    minor = random.random_sample(size=(n, len(maf), 2)) < maf[:, None]
    genotypes: NDArray[np.float64] = minor.sum(axis=2).astype(np.float64)
    return genotypes


def _noise_loci(random: np.random.RandomState, n: int, p: int) -> NDArray[np.float64]:
    low, high = _NOISE_MAF
    return _alleles(random, n, low + (high - low) * random.random_sample(size=p))
