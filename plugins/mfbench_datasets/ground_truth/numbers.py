"""Generated data whose target is a number: Friedman's problems, the RFVM simulations, and correlated blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_flag, check_real, check_whole
from mfbench_datasets.ground_truth.assembly import Regression, assemble, normal, streams
from mfbench_datasets.ground_truth.designs import block_features, friedman_regression_1
from mfbench_datasets.ground_truth.rfvm import rfvm_regression_1, rfvm_regression_2

_FIRST, _SECOND, _THIRD = "friedman-regression-1", "friedman-regression-2", "friedman-regression-3"
_RFVM_1, _RFVM_2, _BLOCKS = "rfvm-regression-1", "rfvm-regression-2", "correlated-regression"
_STREAMS = 4  # relevant features, irrelevant features, response noise, order of columns


def _whole(name: str, raw: Regression, shuffle: object, seed: object) -> Dataset:
    order = streams(name, seed, _STREAMS)[-1] if check_flag(name, "shuffle", shuffle) else None
    return assemble(
        name, raw.X, raw.y, raw.feature_names, raw.relevant, raw.interactions, order=order, task="regression"
    )


def friedman_1_numbers(
    n_samples: int = 500, n_noise: int = 5, noise_sd: float = 1.0, shuffle: bool = True, seed: int = 0
) -> Dataset:
    r"""Return Friedman's first problem with its response as the target.

    .. math:: y = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4 + 5 x_5 + \varepsilon

    Parameters
    ----------
    n_samples, n_noise, noise_sd, shuffle, seed
        As in `mfbench_datasets.ground_truth.designs.friedman_1`; 500 rows by default.

    Returns
    -------
    Dataset

    References
    ----------
    J. H. Friedman: Multivariate adaptive regression splines. The Annals of Statistics 19(1):1-67, 1991, section 4.3.

    Examples
    --------
    >>> dataset = friedman_1_numbers(n_samples=60, shuffle=False)
    >>> dataset.relevant, dataset.y.dtype.name
    ((0, 1, 2, 3, 4), 'float64')
    """
    return _whole(_FIRST, friedman_regression_1(n_samples, n_noise, noise_sd, seed, _FIRST), shuffle, seed)


def _circuit(
    name: str, n_samples: int, n_noise: int, noise_sd: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the four quantities of Friedman's circuit, reactance, irrelevant features and noise."""
    n, p = check_whole(name, "n_samples", n_samples, 2), check_whole(name, "n_noise", n_noise, 0)
    sd = check_real(name, "noise_sd", noise_sd, 0)
    signal, noise, response, _ = streams(name, seed, _STREAMS)
    low, high = np.array([0.0, 40.0 * np.pi, 0.0, 1.0]), np.array([100.0, 560.0 * np.pi, 1.0, 11.0])
    x = low + (high - low) * signal.random_sample(size=(n, 4))
    reactance = x[:, 1] * x[:, 2] - 1.0 / (x[:, 1] * x[:, 3])
    return x, reactance, noise.random_sample(size=(n, p)), sd * normal(response, n)


def _of_circuit(x: NDArray[np.float64], irrelevant: NDArray[np.float64], y: NDArray[np.float64]) -> Regression:
    names = tuple(f"x{j}" for j in range(1, 5 + irrelevant.shape[1]))
    # The capacitance x4 hardly matters: its term is at most 1 / 126 of a unit of a reactance of hundreds.
    return Regression(np.hstack([x, irrelevant]), y, (0, 1, 2), ((0, 1), (0, 2), (1, 2)), names)


def friedman_2_numbers(
    n_samples: int = 500, n_noise: int = 5, noise_sd: float = 125.0, shuffle: bool = True, seed: int = 0
) -> Dataset:
    r"""Return Friedman's second problem: the impedance of an alternating-current circuit.

    .. math:: y = \sqrt{x_1^2 + (x_2 x_3 - 1 / (x_2 x_4))^2} + \varepsilon

    with uniform resistance x1 in [0, 100], angular frequency x2 in [40π, 560π], inductance x3 in [0, 1] and capacitance
    x4 in [1, 11]. The features x1 to x3 are **relevant**; x4 changes y by less than a hundredth.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows.
    n_noise : int, default=5
        Number of irrelevant features besides x4, uniform on [0, 1].
    noise_sd : float, default=125.0
        Standard deviation of the Gaussian noise, a third of the signal's.
    shuffle : bool, default=True
        Whether the columns are in random order; False gives x1, x2, ….
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    References
    ----------
    J. H. Friedman: Multivariate adaptive regression splines. The Annals of Statistics 19(1):1-67, 1991, section 4.4.

    Examples
    --------
    >>> friedman_2_numbers(n_samples=60, shuffle=False).relevant
    (0, 1, 2)
    """
    x, reactance, irrelevant, noise = _circuit(_SECOND, n_samples, n_noise, noise_sd, seed)
    return _whole(_SECOND, _of_circuit(x, irrelevant, np.hypot(x[:, 0], reactance) + noise), shuffle, seed)


def friedman_3_numbers(
    n_samples: int = 500, n_noise: int = 5, noise_sd: float = 0.1, shuffle: bool = True, seed: int = 0
) -> Dataset:
    r"""Return Friedman's third problem: the phase of an alternating-current circuit.

    .. math:: y = \arctan\frac{x_2 x_3 - 1 / (x_2 x_4)}{x_1} + \varepsilon

    with the features of `friedman_2_numbers`.

    Parameters
    ----------
    n_samples, n_noise, shuffle, seed
        As in `friedman_2_numbers`.
    noise_sd : float, default=0.1
        Standard deviation of the Gaussian noise, a third of the signal's.

    Returns
    -------
    Dataset

    References
    ----------
    J. H. Friedman: Multivariate adaptive regression splines. The Annals of Statistics 19(1):1-67, 1991, section 4.4.

    Examples
    --------
    >>> friedman_3_numbers(n_samples=60, n_noise=0).n_features
    4
    """
    x, reactance, irrelevant, noise = _circuit(_THIRD, n_samples, n_noise, noise_sd, seed)
    return _whole(_THIRD, _of_circuit(x, irrelevant, np.arctan2(reactance, x[:, 0]) + noise), shuffle, seed)


def rfvm_1_numbers(
    n_samples: int = 1000,
    n_noise: int = 96,
    noise_sd: float = 0.005,
    equal_ranges: bool = False,
    copies: int = 0,
    copy_noise: float = 0.0,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return the first RFVM simulation with its response as the target, as in the paper.

    Parameters
    ----------
    n_samples, n_noise, noise_sd, equal_ranges, copies, copy_noise, shuffle, seed
        As in `mfbench_datasets.ground_truth.rfvm.rfvm_simulation_1`.

    Returns
    -------
    Dataset

    References
    ----------
    H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine. MLDM
    2007, LNCS 4571:144-159, section 4.1.

    Examples
    --------
    >>> rfvm_1_numbers(n_samples=60, shuffle=False).relevant
    (0, 1, 2)
    """
    raw = rfvm_regression_1(n_samples, n_noise, noise_sd, equal_ranges, copies, copy_noise, seed, _RFVM_1)
    return _whole(_RFVM_1, raw, shuffle, seed)


def rfvm_2_numbers(
    n_samples: int = 2000,
    n_relevant: int = 20,
    n_noise: int = 80,
    basis: Sequence[int] | None = None,
    noise_sd: float = 0.0,
    feature_noise_sd: float = 1.0,
    equal_ranges: bool = False,
    copies: int = 0,
    copy_noise: float = 0.0,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return the second RFVM simulation with its response as the target, as in the paper.

    Parameters
    ----------
    n_samples, n_relevant, n_noise, basis, noise_sd, feature_noise_sd, equal_ranges, copies, copy_noise, shuffle, seed
        As in `mfbench_datasets.ground_truth.rfvm.rfvm_simulation_2`.

    Returns
    -------
    Dataset

    References
    ----------
    H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine. MLDM
    2007, LNCS 4571:144-159, section 4.2.

    Examples
    --------
    >>> len(rfvm_2_numbers(n_samples=60).relevant)
    20
    """
    raw = rfvm_regression_2(
        n_samples,
        n_relevant,
        n_noise,
        basis,
        noise_sd,
        feature_noise_sd,
        equal_ranges,
        copies,
        copy_noise,
        seed,
        _RFVM_2,
    )
    return _whole(_RFVM_2, raw, shuffle, seed)


def correlated_blocks_numbers(
    n_samples: int = 300,
    n_blocks: int = 10,
    block_size: int = 10,
    rho: float = 0.7,
    n_active: int = 5,
    n_relevant: int = 2,
    noise: float = 0.5,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return blocks of correlated Gaussian features; the target is a sum of a few features of some blocks, with noise.

    Parameters
    ----------
    n_samples, n_blocks, block_size, rho, n_active, n_relevant, noise, shuffle, seed
        As in `mfbench_datasets.ground_truth.designs.correlated_blocks`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> correlated_blocks_numbers(n_blocks=3, block_size=4, n_active=2, shuffle=False).relevant
    (0, 1, 4, 5)
    """
    X, y, names, relevant = block_features(
        _BLOCKS, n_samples, n_blocks, block_size, rho, n_active, n_relevant, noise, seed
    )
    return _whole(_BLOCKS, Regression(X, y, tuple(relevant), (), names), shuffle, seed)
