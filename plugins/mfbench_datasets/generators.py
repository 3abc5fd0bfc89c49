"""UCI datasets that are programs: the waveform and LED domains of Breiman, Friedman, Olshen and Stone (1984).

UCI's own files are single draws from these definitions with unknown seeds; here the number of rows and the seed are
parameters. All random numbers come from `numpy.random.RandomState`, the only generator of NumPy whose stream is frozen,
so a seed gives the same data with every version.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_real, check_whole
from mfbench_datasets.citations import attribution

# Segments in UCI's order: top, upper left, upper right, middle, lower left, lower right, bottom.
SEGMENTS = ("top", "upper-left", "upper-right", "middle", "lower-left", "lower-right", "bottom")
DIGITS = np.array(
    [[int(lit) for lit in digit] for digit in (
        "1110111", "0010010", "1011101", "1011011", "0111010",
        "1101011", "1101111", "1010010", "1111111", "1111011",
    )]
)  # fmt: skip

_PEAKS = np.array([7, 15, 11])
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def waveform_21(n_samples: int = 5000, seed: int = 0) -> Dataset:
    r"""Return the waveform data, version 1: mixtures of two of three triangular waves, with noise.

    A row of class c is :math:`x_i = u\,h_a(i) + (1 - u)\,h_b(i) + e_i` for i = 1, …, 21, with u uniform on [0, 1],
    :math:`e_i` standard normal and (a, b) = (1, 2), (1, 3), (2, 3) for c = 0, 1, 2. The waves are
    :math:`h_k(i) = \max(6 - |i - p_k|, 0)` with peaks p = 7, 15, 11, numbered such that the classes are those of UCI's
    file. Each class has probability 1/3. Values have two decimals, as in UCI's file.

    All waves are 0 at i = 1 and i = 21, so the first and the last feature are pure noise and the other 19 are relevant.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows; UCI's file has 5000.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone: Classification and regression trees. Wadsworth 1984,
    section 2.6.2. The Bayes rule has an accuracy of about 86 %.

    Examples
    --------
    >>> dataset = waveform_21(n_samples=200)
    >>> dataset.X.shape, dataset.relevant[0], dataset.relevant[-1]
    ((200, 21), 1, 19)
    """
    return _waveform("waveform-21", 0, n_samples, seed)


def waveform_40(n_samples: int = 5000, seed: int = 0) -> Dataset:
    """Return the waveform data, version 2: version 1 followed by 19 features of standard normal noise.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows; UCI's file has 5000.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        The first 21 features are those of `waveform_21` with the same parameters.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = waveform_40(n_samples=50, seed=7), waveform_21(n_samples=50, seed=7)
    >>> np.array_equal(a.X[:, :21], b.X) and np.array_equal(a.y, b.y)
    True
    """
    return _waveform("waveform-40", 19, n_samples, seed)


def _waveform(name: str, n_noise: int, n_samples: int, seed: int) -> Dataset:
    random = _random(name, n_samples, seed)
    i = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(i - _PEAKS[:, None]), 0)
    y = random.randint(0, 3, size=n_samples, dtype=np.int64)
    u = random.random_sample(size=(n_samples, 1))
    first, second = waves[_PAIRS[y, 0]], waves[_PAIRS[y, 1]]
    X = u * first + (1 - u) * second + random.standard_normal(size=(n_samples, 21))
    X = np.hstack([X, random.standard_normal(size=(n_samples, n_noise))])
    return Dataset(
        name=name,
        # Rounding also removes the last bits, in which machines may differ; adding 0.0 turns -0.0 into 0.0.
        X=np.round(X, 2) + 0.0,
        y=y,
        class_names=("0", "1", "2"),
        feature_names=tuple(f"x{j}" for j in range(1, X.shape[1] + 1)),
        categorical=np.zeros(X.shape[1], dtype=bool),
        relevant=tuple(int(j) for j in np.flatnonzero(waves.any(axis=0))),
        **attribution(name),
    )


def led_7(n_samples: int = 1000, seed: int = 0) -> Dataset:
    """Return the LED display data: digits shown by a faulty seven-segment display.

    A digit is drawn uniformly from 0 to 9; each of its seven segments is inverted independently with probability 0.1.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows. UCI does not prescribe it (its program asks for it); 1000 is our choice.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone: Classification and regression trees. Wadsworth 1984,
    section 2.6.1. The Bayes rule has an accuracy of 74 %.

    Examples
    --------
    >>> dataset = led_7(n_samples=100)
    >>> dataset.X.shape, dataset.n_classes
    ((100, 7), 10)
    """
    return _led("led-7", 0, n_samples, seed, 0.1)


def led_24(n_samples: int = 1000, seed: int = 0, n_noise: int = 17, flip: float = 0.1) -> Dataset:
    """Return the LED display data with 17 additional features that are fair coin flips.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows. UCI does not prescribe it (its program asks for it); 1000 is our choice.
    seed : int, default=0
        Seed of the random numbers.
    n_noise : int, default=17
        Number of coin flips.
    flip : float, default=0.1
        Probability that a segment is inverted, from 0 to 0.5.

    Returns
    -------
    Dataset
        The first seven features are those of `led_7` with the same parameters.

    Examples
    --------
    >>> led_24(n_samples=100).relevant
    (0, 1, 2, 3, 4, 5, 6)
    """
    count = check_whole("led-24", "n_noise", n_noise, 0)
    return _led("led-24", count, n_samples, seed, check_real("led-24", "flip", flip, 0, 0.5))


def _led(name: str, n_noise: int, n_samples: int, seed: int, flip: float) -> Dataset:
    random = _random(name, n_samples, seed)
    y = random.randint(0, 10, size=n_samples, dtype=np.int64)
    inverted = random.random_sample(size=(n_samples, 7)) < flip
    lit: NDArray[np.bool_] = DIGITS[y].astype(bool) ^ inverted
    noise = random.random_sample(size=(n_samples, n_noise)) < 0.5
    names = (*SEGMENTS, *(f"random-{j}" for j in range(1, n_noise + 1)))
    return Dataset(
        name=name,
        X=np.hstack([lit, noise]).astype(np.float64),
        y=y,
        class_names=tuple(str(digit) for digit in range(10)),
        feature_names=names,
        categorical=np.ones(len(names), dtype=bool),
        categories=dict.fromkeys(names, ("0", "1")),
        relevant=tuple(range(7)),
        **attribution(name),
    )


def _random(name: str, n_samples: int, seed: int) -> np.random.RandomState:
    """Check the arguments of a generator and return its source of random numbers."""
    check_whole(name, "n_samples", n_samples, 1)
    return np.random.RandomState(check_whole(name, "seed", seed, 0, 2**32 - 1))
