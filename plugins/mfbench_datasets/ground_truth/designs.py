"""Two statistical designs: Friedman's first function as classification, and blocks of correlated features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import UsageError
from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_flag, check_real, check_whole
from mfbench_datasets.ground_truth.assembly import Regression, assemble, classify, normal, streams

_FRIEDMAN, _BLOCKS = "friedman-1", "correlated-blocks"
_STREAMS = 4  # relevant or correlated features, irrelevant features, response noise, order of columns


def friedman_regression_1(
    n_samples: int = 1000, n_noise: int = 5, noise_sd: float = 1.0, seed: int = 0, name: str = _FRIEDMAN
) -> Regression:
    r"""Return Friedman's first problem as regression; the parameters are those of `friedman_1`.

    .. math:: y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    Returns
    -------
    Regression
        The columns are in the order x1, x2, ….

    Examples
    --------
    >>> raw = friedman_regression_1(n_samples=50)
    >>> raw.X.shape, raw.relevant, raw.interactions
    ((50, 10), (0, 1, 2, 3, 4), ((0, 1),))
    """
    n, p = check_whole(name, "n_samples", n_samples, 2), check_whole(name, "n_noise", n_noise, 0)
    sd = check_real(name, "noise_sd", noise_sd, 0)
    signal, noise, response, _ = streams(name, seed, _STREAMS)
    x = signal.random_sample(size=(n, 5))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    y = y + sd * normal(response, n)
    X = np.hstack([x, noise.random_sample(size=(n, p))])
    return Regression(X, y, tuple(range(5)), ((0, 1),), tuple(f"x{j}" for j in range(1, 6 + p)))


def friedman_1(
    n_samples: int = 1000, n_noise: int = 5, noise_sd: float = 1.0, shuffle: bool = True, seed: int = 0
) -> Dataset:
    r"""Return Friedman's first problem as classification: its response cut at the median.

    .. math:: y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    where all features are independent and uniform on [0, 1] and the noise is Gaussian. The dataset keeps the response.
    Time and memory are proportional to n times the number of columns.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_noise : int, default=5
        Number of irrelevant features.
    noise_sd : float, default=1.0
        Standard deviation of the Gaussian noise on the response.
    shuffle : bool, default=True
        Whether the columns are in random order; False gives x1, x2, ….
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    References
    ----------
    J. H. Friedman: Multivariate adaptive regression splines. The Annals of Statistics 19(1):1-67, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = friedman_1(n_samples=60, shuffle=False)
    >>> dataset.relevant, dataset.interactions, np.bincount(dataset.y)
    ((0, 1, 2, 3, 4), ((0, 1),), array([30, 30]))
    """
    shuffle = check_flag(_FRIEDMAN, "shuffle", shuffle)
    raw = friedman_regression_1(n_samples, n_noise, noise_sd, seed)
    return classify(_FRIEDMAN, raw, streams(_FRIEDMAN, seed, _STREAMS)[-1] if shuffle else None)


def correlated_blocks(
    n_samples: int = 500,
    n_blocks: int = 10,
    block_size: int = 10,
    rho: float = 0.7,
    n_active: int = 5,
    n_relevant: int = 2,
    noise: float = 0.3,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return blocks of correlated Gaussian features; the class is a linear rule on a few features of some blocks.

    Blocks are independent. Within a block every pair of features has correlation `rho`: :math:`x_j = \sqrt{\rho}\,z +
    \sqrt{1-\rho}\,e_j`. The class is 1 if

    .. math:: \sum_{j \in R} x_j + \nu\,\sigma\,\varepsilon > 0,

    where R contains the first `n_relevant` features of each of the first `n_active` blocks, :math:`\sigma` is the
    standard deviation of the sum, :math:`\nu` is `noise`, and :math:`\varepsilon` is standard normal.

    Only the features in R are **relevant**. The other features of an active block correlate with the class but add no
    information to R; a method that ranks features one at a time mistakes them for relevant. The rule is linear, so
    there are no interactions. Time and memory are proportional to n times the number of columns.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    n_blocks : int, default=10
        Number of blocks.
    block_size : int, default=10
        Features per block.
    rho : float, default=0.7
        Correlation within a block, at least 0 and below 1.
    n_active : int, default=5
        Number of blocks with relevant features.
    n_relevant : int, default=2
        Number of relevant features in each of these blocks.
    noise : float, default=0.3
        Standard deviation of the noise on the sum, as a multiple of the sum's standard deviation.
    shuffle : bool, default=True
        Whether the columns are in random order; a name such as ``b3-x1`` gives the block and the position in it.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> correlated_blocks(n_blocks=3, block_size=4, n_active=2, shuffle=False).relevant
    (0, 1, 4, 5)
    """
    shuffle = check_flag(_BLOCKS, "shuffle", shuffle)
    X, y, names, relevant = block_features(
        _BLOCKS, n_samples, n_blocks, block_size, rho, n_active, n_relevant, noise, seed
    )
    order = streams(_BLOCKS, seed, _STREAMS)[-1] if shuffle else None
    return assemble(_BLOCKS, X, (y > 0).astype(np.int64), names, relevant, (), order=order)


def block_features(
    name: str,
    n_samples: int,
    n_blocks: int,
    block_size: int,
    rho: float,
    n_active: int,
    n_relevant: int,
    noise: float,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, ...], list[int]]:
    """Return the features of `correlated_blocks`, the sum with its noise, the names, and the relevant features."""
    n, blocks = check_whole(name, "n_samples", n_samples, 2), check_whole(name, "n_blocks", n_blocks, 1)
    size, active = check_whole(name, "block_size", block_size, 1), check_whole(name, "n_active", n_active, 1)
    r, rho = check_whole(name, "n_relevant", n_relevant, 1), check_real(name, "rho", rho, 0, 1, without=[1])
    nu = check_real(name, "noise", noise, 0)
    for small, value, large, limit in (("n_active", active, "n_blocks", blocks), ("n_relevant", r, "block_size", size)):
        if value > limit:
            raise UsageError(f"{small!r} of dataset {name!r} must be at most {large!r} ({limit}), got {value}")
    common, own, response, _ = streams(name, seed, _STREAMS)
    x = np.sqrt(rho) * normal(common, n, blocks, 1) + np.sqrt(1 - rho) * normal(own, n, blocks, size)
    X = np.round(x.reshape(n, -1), 9)
    relevant = [block * size + j for block in range(active) for j in range(r)]
    sigma = np.sqrt(active * r * (1 + (r - 1) * rho))
    y = X[:, relevant].sum(axis=1) + nu * sigma * normal(response, n)
    names = tuple(f"b{block}-x{j}" for block in range(1, blocks + 1) for j in range(1, size + 1))
    return X, y, names, relevant
