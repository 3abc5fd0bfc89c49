"""Boolean concepts: every point and label follows from a rule, so nothing is random.

The files in circulation join a training sample and the whole table (CorrAL 32 + 128 rows, M-of-N 300 + 1024, Parity 5+5
100 + 1024, the multiplexer 64 + 64). Here each point occurs once, and CorrAL's correlated feature has exactly its
published frequency.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from mfbench.model.specs import Dataset
from mfbench_datasets.ground_truth.assembly import BITS, Pairs, assemble


def corral() -> Dataset:
    r"""Return CorrAL: class 1 if :math:`(A_0 \wedge A_1) \vee (B_0 \wedge B_1)`.

    Of the other two features, one is irrelevant and one agrees with the class in 75 % of the rows without being part of
    the rule; it misleads methods that look at one feature at a time.

    Each of the 32 points (A0, A1, B0, B1, Irrelevant) has four rows: Correlated equals the class in three of them and
    is its opposite in the fourth. The table is therefore the exact distribution, with 64 distinct rows, and in
    cross-validation most test rows also occur in training. The interactions are the two conjunctions.

    Returns
    -------
    Dataset
        128 rows, 6 bits; 72 rows of class 0, 56 of class 1.

    References
    ----------
    G. H. John, R. Kohavi, K. Pfleger: Irrelevant features and the subset selection problem. ICML 1994, 121-129.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = corral()
    >>> dataset.relevant, np.bincount(dataset.y)
    ((0, 1, 2, 3), array([72, 56]))
    >>> float(np.mean(dataset.X[:, 5] == dataset.y))
    0.75
    """
    points = np.repeat(_points(5), 4, axis=0)
    y = (points[:, 0] & points[:, 1]) | (points[:, 2] & points[:, 3])
    opposite = np.arange(len(points)) % 4 == 3
    X = np.column_stack([points, y ^ opposite])
    return _bits("corral", X, y, ("A0", "A1", "B0", "B1", "Irrelevant", "Correlated"), range(4), ((0, 1), (2, 3)))


def mofn_3_7_10() -> Dataset:
    """Return M-of-N 3-7-10: class 1 if at least three of the bits 2 to 8 are 1; bits 0, 1 and 9 are irrelevant.

    The rule is symmetric in the seven bits, so all of their pairs are interactions.

    Returns
    -------
    Dataset
        1024 rows, 10 bits; 232 rows of class 0, 792 of class 1.

    References
    ----------
    R. Kohavi, G. H. John: Wrappers for feature subset selection. Artificial Intelligence 97(1-2):273-324, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = mofn_3_7_10()
    >>> dataset.relevant, np.bincount(dataset.y)
    ((2, 3, 4, 5, 6, 7, 8), array([232, 792]))
    """
    points, relevant = _points(10), range(2, 9)
    y = (points[:, 2:9].sum(axis=1) >= 3).astype(np.int64)
    names = tuple(f"Bit-{j}" for j in range(10))
    return _bits("mofn-3-7-10", points, y, names, relevant, tuple(combinations(relevant, 2)))


def mux6() -> Dataset:
    """Return the 6-bit multiplexer: the class is the data bit that the two address bits select.

    The first address bit is the more significant one. An address bit interacts with the other address bit and with each
    data bit; two data bits never interact.

    Returns
    -------
    Dataset
        64 rows, 6 bits; 32 rows of each class. All features are relevant.

    References
    ----------
    S. W. Wilson: Classifier systems and the animat problem. Machine Learning 2(3):199-228, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = mux6()
    >>> np.bincount(dataset.y), len(dataset.interactions)
    (array([32, 32]), 9)
    """
    points = _points(6)
    y = points[np.arange(64), 2 + 2 * points[:, 0] + points[:, 1]]
    names = ("Address bit 1", "Address bit 2", "Bit 0", "Bit 1", "Bit 2", "Bit 3")
    pairs = tuple(pair for pair in combinations(range(6), 2) if pair[0] < 2)
    return _bits("mux6", points, y, names, range(6), pairs)


def parity5_plus_5() -> Dataset:
    """Return Parity 5+5: class 1 if an odd number of the bits 2, 3, 4, 6 and 8 (counted from 1) are 1.

    No proper subset of the five bits carries information about the class. All of their pairs are interactions.

    Returns
    -------
    Dataset
        1024 rows, 10 bits; 512 rows of each class.

    References
    ----------
    R. Kohavi, G. H. John: Wrappers for feature subset selection. Artificial Intelligence 97(1-2):273-324, 1997.

    Examples
    --------
    >>> parity5_plus_5().relevant
    (1, 2, 3, 5, 7)
    """
    points, relevant = _points(10), (1, 2, 3, 5, 7)
    y = points[:, relevant].sum(axis=1) % 2
    names = tuple(f"Bit {j}" for j in range(1, 11))
    return _bits("parity5-plus-5", points, y, names, relevant, tuple(combinations(relevant, 2)))


def _points(n_bits: int) -> NDArray[np.int64]:
    """Return all points, the last bit varying fastest."""
    return np.array(list(product((0, 1), repeat=n_bits)), dtype=np.int64)


def _bits(
    name: str,
    X: NDArray[np.int64],
    y: NDArray[np.int64],
    names: tuple[str, ...],
    relevant: range | tuple[int, ...],
    pairs: Pairs,
) -> Dataset:
    return assemble(name, X.astype(np.float64), y, names, relevant, pairs, categories=BITS)
