"""The two simulations of the paper on the relevance feature vector machine (RFVM).

Both are regression problems. The registered datasets cut the response at its median into two classes of equal size and
keep the response, which the protocol `ground-truth` passes to selectors for regression. `rfvm_regression_1` and
`rfvm_regression_2` return the response itself, with the columns in the published order.

Two points are open in the paper. We read "N(0, 0.005)" as a standard deviation of 0.005 (a variance of 0.005 would be
equally negligible, since the standard deviation of the response is about 13.5), and give the "Gaussian noise" on the
irrelevant features of the second simulation a standard deviation of 1.

As published, relevant and irrelevant features have different ranges, so a method that is sensitive to scale can
separate them by range alone; `equal_ranges` gives all features the same distribution. `copies` adds redundant copies of
the relevant features; without copies the features are independent, and methods that penalise redundancy have no
advantage.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mfbench.errors import UsageError
from mfbench.model.specs import Dataset
from mfbench_datasets.arguments import check_flag, check_real, check_whole
from mfbench_datasets.ground_truth.assembly import Regression, classify, normal, streams

_FIRST, _SECOND = "rfvm-simulation-1", "rfvm-simulation-2"
_STREAMS = 6  # relevant features, irrelevant features, response noise, copies, basis functions, order of columns
_SMALLEST = 1e-12  # lower bound of the logarithm's argument


def basis_function(number: int, f: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return one of the eight basis functions of the second simulation.

    .. math::

        40 f,\; 20 (1 - f^2),\; 23 f^3,\; 20 \sin(40 f - 5),\; 20 e^f,\; -\log_2 |f|,\; 20 \sqrt{1 - f},\;
        20 \cos(20 f - 7)

    Parameters
    ----------
    number : int
        From 1 to 8.
    f : ndarray
        Values from -0.5 to 0.5. The argument of the logarithm is at least 1e-12.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> basis_function(2, np.array([0.0, 0.5]))
    array([20., 15.])
    """
    values: NDArray[np.float64]
    match number:
        case 1:
            values = 40 * f
        case 2:
            values = 20 * (1 - f**2)
        case 3:
            values = 23 * f**3
        case 4:
            values = 20 * np.sin(40 * f - 5)
        case 5:
            values = 20 * np.exp(f)
        case 6:
            values = -np.log2(np.maximum(np.abs(f), _SMALLEST))
        case 7:
            values = 20 * np.sqrt(1 - f)
        case 8:
            values = 20 * np.cos(20 * f - 7)
        case _:
            raise UsageError(f"a basis function of dataset {_SECOND!r} must be a number from 1 to 8, got {number!r}")
    return values


def rfvm_regression_1(
    n_samples: int = 1000,
    n_noise: int = 96,
    noise_sd: float = 0.005,
    equal_ranges: bool = False,
    copies: int = 0,
    copy_noise: float = 0.0,
    seed: int = 0,
    name: str = _FIRST,
) -> Regression:
    r"""Return the first simulation as regression.

    .. math:: y = 9 f_1 + 20 (1 - f_2)^3 + 17 \sin(80 f_3 - 7) + \varepsilon

    where f1, f2, f3 are uniform on [0, 1] and the other features are uniform on [0, 20] and independent of y. The
    parameters are those of `rfvm_simulation_1`; the columns are in the published order, followed by the copies.

    Returns
    -------
    Regression

    Examples
    --------
    >>> raw = rfvm_regression_1(n_samples=100)
    >>> raw.X.shape, raw.relevant, raw.feature_names[:2]
    ((100, 99), (0, 1, 2), ('f1', 'f2'))
    """
    n = check_whole(name, "n_samples", n_samples, 2)
    p = check_whole(name, "n_noise", n_noise, 0)
    sd = check_real(name, "noise_sd", noise_sd, 0)
    top = 1 if check_flag(name, "equal_ranges", equal_ranges) else 20
    signal, noise, response, copying, *_ = streams(name, seed, _STREAMS)
    f = signal.random_sample(size=(n, 3))
    y = 9 * f[:, 0] + 20 * (1 - f[:, 1]) ** 3 + 17 * np.sin(80 * f[:, 2] - 7) + sd * normal(response, n)
    irrelevant = top * noise.random_sample(size=(n, p))
    names = tuple(f"f{j}" for j in range(1, 4 + p))
    return _with_copies(name, f, irrelevant, y, names, copies, copy_noise, copying)


def rfvm_regression_2(
    n_samples: int = 2000,
    n_relevant: int = 20,
    n_noise: int = 80,
    basis: Sequence[int] | None = None,
    noise_sd: float = 0.0,
    feature_noise_sd: float = 1.0,
    equal_ranges: bool = False,
    copies: int = 0,
    copy_noise: float = 0.0,
    seed: int = 0,
    name: str = _SECOND,
) -> Regression:
    r"""Return the second simulation as regression.

    .. math:: y = \sum_i F_{b(i)}(f_i) + \varepsilon

    where i runs over the relevant features, which are uniform on [-0.5, 0.5], and each has one of the eight functions
    of `basis_function`, drawn at random; the other features are uniform on [0, 20] plus Gaussian noise. The parameters
    are those of `rfvm_simulation_2`; the columns are in the published order, followed by the copies.

    Returns
    -------
    Regression
        The name of a relevant feature includes its basis function: ``f3-F8``.

    Examples
    --------
    >>> raw = rfvm_regression_2(n_samples=100, basis=(1, 8), n_relevant=2, n_noise=3)
    >>> raw.feature_names
    ('f1-F1', 'f2-F8', 'f3', 'f4', 'f5')
    """
    n = check_whole(name, "n_samples", n_samples, 2)
    m, p = check_whole(name, "n_relevant", n_relevant, 1), check_whole(name, "n_noise", n_noise, 0)
    sd = check_real(name, "noise_sd", noise_sd, 0)
    feature_sd = check_real(name, "feature_noise_sd", feature_noise_sd, 0)
    equal = check_flag(name, "equal_ranges", equal_ranges)
    signal, noise, response, copying, choice, _ = streams(name, seed, _STREAMS)
    if basis is None:
        numbers = [int(number) for number in choice.randint(1, 9, size=m)]
    elif not isinstance(basis, list | tuple) or len(basis) != m:
        raise UsageError(f"'basis' of dataset {name!r} must be a list of {m} numbers from 1 to 8, got {basis!r}")
    else:
        numbers = [check_whole(name, "basis", number, 1, 8) for number in basis]
    f = signal.random_sample(size=(n, m)) - 0.5
    y = sum((basis_function(number, f[:, i]) for i, number in enumerate(numbers)), sd * normal(response, n))
    irrelevant = noise.random_sample(size=(n, p))
    irrelevant = irrelevant - 0.5 if equal else 20 * irrelevant + feature_sd * normal(noise, n, p)
    names = (*(f"f{i}-F{number}" for i, number in enumerate(numbers, 1)), *(f"f{m + j}" for j in range(1, p + 1)))
    return _with_copies(name, f, irrelevant, y, names, copies, copy_noise, copying)


def rfvm_simulation_1(
    n_samples: int = 1000,
    n_noise: int = 96,
    noise_sd: float = 0.005,
    equal_ranges: bool = False,
    copies: int = 0,
    copy_noise: float = 0.0,
    shuffle: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Return the first RFVM simulation as classification: the response of `rfvm_regression_1` cut at its median.

    .. math:: y = 9 f_1 + 20 (1 - f_2)^3 + 17 \sin(80 f_3 - 7) + \varepsilon

    The sine has 12.7 periods, so a method needs about two bins or neighbourhoods per period to detect f3. The response
    is additive, so there are no interactions. Time and memory are proportional to n times the number of columns.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_noise : int, default=96
        Number of irrelevant features, uniform on [0, 20].
    noise_sd : float, default=0.005
        Standard deviation of the Gaussian noise on the response.
    equal_ranges : bool, default=False
        Whether the irrelevant features have the same range as the relevant ones, [0, 1].
    copies : int, default=0
        Number of redundant copies of each relevant feature, named ``f1-copy-1`` and so on. Copies count as relevant:
        the class depends on them as much as on their originals.
    copy_noise : float, default=0.0
        Standard deviation of the Gaussian noise on a copy, as a multiple of the feature's; 0 gives exact copies.
    shuffle : bool, default=True
        Whether the columns are in random order; False gives the published order f1, f2, …, followed by the copies.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset

    References
    ----------
    H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine. MLDM
    2007, LNCS 4571:144-159, section 4.1.

    Examples
    --------
    >>> dataset = rfvm_simulation_1(n_samples=100, n_noise=7, copies=1, shuffle=False)
    >>> dataset.relevant, dataset.feature_names[-1]
    ((0, 1, 2, 10, 11, 12), 'f3-copy-1')
    """
    shuffle = check_flag(_FIRST, "shuffle", shuffle)
    raw = rfvm_regression_1(n_samples, n_noise, noise_sd, equal_ranges, copies, copy_noise, seed)
    return classify(_FIRST, raw, streams(_FIRST, seed, _STREAMS)[-1] if shuffle else None)


def rfvm_simulation_2(
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
    r"""Return the second RFVM simulation as classification: the response of `rfvm_regression_2` cut at its median.

    .. math:: y = \sum_i F_{b(i)}(f_i) + \varepsilon

    The paper trains on the first 1000 of 2000 rows and repeats this with 20 draws (here: seeds). By construction the
    eight basis functions differ in strength: per feature, functions 1, 4 and 8 explain about 10 % or more of the
    variance of the response, function 5 about 2 %, function 7 less than 1 %, and functions 2, 3 and 6 almost nothing,
    so hardly any method detects them all. The response is additive, so there are no interactions. Time and memory are
    proportional to n times the number of columns.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of rows.
    n_relevant : int, default=20
        Number of features in the sum.
    n_noise : int, default=80
        Number of irrelevant features, uniform on [0, 20] plus Gaussian noise.
    basis : list of int or None, default=None
        Number of the basis function (1 to 8, see `basis_function`) of each relevant feature; None draws them.
    noise_sd : float, default=0.0
        Standard deviation of Gaussian noise on the response; the paper has none.
    feature_noise_sd : float, default=1.0
        Standard deviation of the Gaussian noise on the irrelevant features.
    equal_ranges : bool, default=False
        Whether the irrelevant features have the distribution of the relevant ones: uniform on [-0.5, 0.5], no noise.
    copies : int, default=0
        Number of redundant copies of each relevant feature; they count as relevant, see `rfvm_simulation_1`.
    copy_noise : float, default=0.0
        Standard deviation of the Gaussian noise on a copy, as a multiple of the feature's; 0 gives exact copies.
    shuffle : bool, default=True
        Whether the columns are in random order; False gives the published order f1, f2, …, followed by the copies.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        The name of a relevant feature includes its basis function: ``f3-F8``.

    References
    ----------
    H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine. MLDM
    2007, LNCS 4571:144-159, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = rfvm_simulation_2(n_samples=100)
    >>> dataset.X.shape, len(dataset.relevant), np.bincount(dataset.y)
    ((100, 100), 20, array([50, 50]))
    """
    shuffle = check_flag(_SECOND, "shuffle", shuffle)
    raw = rfvm_regression_2(
        n_samples, n_relevant, n_noise, basis, noise_sd, feature_noise_sd, equal_ranges, copies, copy_noise, seed
    )
    return classify(_SECOND, raw, streams(_SECOND, seed, _STREAMS)[-1] if shuffle else None)


def _with_copies(
    name: str,
    f: NDArray[np.float64],
    irrelevant: NDArray[np.float64],
    y: NDArray[np.float64],
    names: tuple[str, ...],
    copies: object,
    copy_noise: object,
    random: np.random.RandomState,
) -> Regression:
    """Join the columns: relevant features, irrelevant features, then the copies (the first of each, the second, …)."""
    count = check_whole(name, "copies", copies, 0)
    sd = check_real(name, "copy_noise", copy_noise, 0) / np.sqrt(12)  # relevant features are uniform with range 1
    n, m = f.shape
    blocks = [f + sd * normal(random, n, m) for _ in range(count)]
    X = np.hstack([f, irrelevant, *blocks])
    labels = (*names, *(f"{names[i]}-copy-{number}" for number in range(1, count + 1) for i in range(m)))
    relevant = (*range(m), *range(m + irrelevant.shape[1], X.shape[1]))
    return Regression(X, y, relevant, (), labels)
