"""The noise simulation of the IMMIGRATE paper: two interacting features, obscured by noise rows."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import UsageError
from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_flag, check_real, check_whole
from mfbench_datasets.ground_truth.assembly import assemble, normal, numbered, streams

_NAME = "immigrate-noise"
_MEANS = ((4.0, 2.0), (6.0, 0.0))
_NOISE_MEANS = ((8.0, -2.0), (2.0, 4.0))
_NOISE_VARIANCE = 8.0
_CORRELATION = {2019: 0.0, 2020: 0.5}


def immigrate_noise(
    n_samples: int = 200,
    noise: float = 0.1,
    version: int = 2020,
    rows: Literal["added", "replaced"] = "added",
    n_noise: int = 0,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return two Gaussian classes on either side of a line, and noise rows on the wrong side of it.

    Class 0 has mean (4, 2) and its noise rows have mean (8, -2); class 1 has mean (6, 0) and its noise rows (2, 4). The
    covariance is C for clean rows and 8 C for noise rows, with

    .. math:: C = \begin{pmatrix} 1 & \rho \\ \rho & 1 \end{pmatrix},

    :math:`\rho = 0.5` in the version of 2020 and 0 in that of 2019. Without noise, the best boundary in both versions
    is the line :math:`x_1 - x_2 = 4`; the noise rows lie beyond it. What the papers call the interaction is the weight
    of the product of differences, :math:`|x_1 - x_1'|\,|x_2 - x_2'|`, in a learned distance; each feature is also
    informative on its own. Time and memory are proportional to :math:`n\,(2 + n_{noise})`.

    The papers leave two points open. Noise rows are "added", yet the noise level is described as a share of all rows:
    ``rows="added"`` adds ``noise`` times the size of the class to its clean rows, so the clean rows of a seed are the
    same at every noise level; ``rows="replaced"`` replaces that share of the clean rows, so the number of rows does not
    change. The sign in the noise mean (8, -2) follows the version of 2019: it mirrors (2, 4) at the boundary.

    Parameters
    ----------
    n_samples : int, default=200
        Number of clean rows (or of all rows, if some are replaced), half of them in each class.
    noise : float, default=0.1
        Noise level, from 0 to 1; the papers use 0.05 to 0.5 in steps of 0.05.
    version : {2020, 2019}, default=2020
        Version of the paper.
    rows : {"added", "replaced"}, default="added"
        Whether the noise rows are added to the clean rows or replace some of them.
    n_noise : int, default=0
        Number of irrelevant features, standard normal; the papers have none.
    shuffle : bool, default=True
        Whether the columns are in random order; False gives x-1, x-2, noise-1, ….
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        First the clean rows, class 0 before class 1, then the noise rows in the same order.

    References
    ----------
    R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms. Entropy
    22(3):291, 2020, section 4.1; the version of 2019 is its preprint (arXiv:1810.02658), section 4.1.

    Examples
    --------
    >>> immigrate_noise(noise=0.5).X.shape, immigrate_noise(noise=0.5, rows="replaced").X.shape
    ((300, 2), (200, 2))
    >>> immigrate_noise(n_noise=8, shuffle=False).interactions
    ((0, 1),)
    """
    n = check_whole(_NAME, "n_samples", n_samples, 2)
    level = check_real(_NAME, "noise", noise, 0, 1)
    p, shuffle = check_whole(_NAME, "n_noise", n_noise, 0), check_flag(_NAME, "shuffle", shuffle)
    if isinstance(version, bool) or version not in tuple(_CORRELATION):
        raise UsageError(f"'version' of dataset {_NAME!r} must be 2020 or 2019, got {version!r}")
    if rows not in ("added", "replaced"):
        raise UsageError(f"'rows' of dataset {_NAME!r} must be 'added' or 'replaced', got {rows!r}")
    clean, noisy, irrelevant, order = streams(_NAME, seed, 4)
    sizes = (n - n // 2, n // 2)
    counts = [int(level * size + 0.5) for size in sizes]
    clean_counts = [size - count if rows == "replaced" else size for size, count in zip(sizes, counts, strict=True)]
    rho = _CORRELATION[version]
    clean_rows = [_gauss(clean, size, mean, 1.0, rho) for size, mean in zip(sizes, _MEANS, strict=True)]
    noise_rows = [
        _gauss(noisy, count, mean, _NOISE_VARIANCE, rho) for count, mean in zip(counts, _NOISE_MEANS, strict=True)
    ]
    x = np.vstack([*(part[:kept] for part, kept in zip(clean_rows, clean_counts, strict=True)), *noise_rows])
    y = np.repeat([0, 1, 0, 1], [*clean_counts, *counts])
    X = np.hstack([x, normal(irrelevant, len(x), p)])
    names = (*numbered("x", 2), *numbered("noise", p))
    return assemble(_NAME, X, y, names, (0, 1), ((0, 1),), order=order if shuffle else None)


def _gauss(
    random: np.random.RandomState, size: int, mean: tuple[float, float], variance: float, rho: float
) -> NDArray[np.float64]:
    """Draw rows of a two-dimensional Gaussian with equal variances."""
    z = normal(random, size, 2)
    first, second = z[:, 0], rho * z[:, 0] + np.sqrt(1 - rho**2) * z[:, 1]
    rows: NDArray[np.float64] = np.column_stack([first, second]) * np.sqrt(variance) + np.array(mean)
    return rows
