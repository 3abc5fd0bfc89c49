"""UCI datasets that scikit-learn ships. Class codes follow the sorted class names, as for a user's own files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mfbench.model.specs import Dataset
from mfbench_datasets.citations import DIABETES, attribution


def iris() -> Dataset:
    """Return the iris data of Fisher (1936).

    Rows 35 and 38 differ from the UCI file, whose typing errors scikit-learn has corrected.

    Returns
    -------
    Dataset
        150 rows, 4 features in cm; 50 rows of each species.

    Examples
    --------
    >>> iris().class_names
    ('setosa', 'versicolor', 'virginica')
    """
    from sklearn.datasets import load_iris

    bunch = load_iris()
    return _dataset("iris", bunch, [str(name) for name in bunch.target_names])


def diabetes() -> Dataset:
    """Return the diabetes data of Efron and others (2004): the progression of the disease within a year.

    Returns
    -------
    Dataset
        442 rows, 10 features in their units; a number as the target.

    Examples
    --------
    >>> diabetes().task, float(diabetes().y.max())
    ('regression', 346.0)
    """
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    return Dataset(
        name="diabetes",
        X=np.ascontiguousarray(bunch.data, dtype=np.float64),
        y=bunch.target.astype(np.float64),
        class_names=(),
        feature_names=tuple(bunch.feature_names),
        categorical=np.zeros(bunch.data.shape[1], dtype=bool),
        task="regression",
        **DIABETES,
    )


def wine() -> Dataset:
    """Return the wine recognition data of Forina and others: 13 chemical measurements, three cultivars.

    Returns
    -------
    Dataset
        178 rows; classes 1, 2, 3 (UCI's names) with 59, 71, 48 rows.

    Examples
    --------
    >>> wine().X.shape
    (178, 13)
    """
    from sklearn.datasets import load_wine

    return _dataset("wine", load_wine(), ["1", "2", "3"])


def wine_igt() -> Dataset:
    """Return cultivars 1 and 2 of `wine`, its two largest classes: WIN in the IMMIGRATE papers.

    Returns
    -------
    Dataset
        130 rows; classes 1, 2 with 59, 71 rows.

    Examples
    --------
    >>> wine_igt().X.shape
    (130, 13)
    """
    whole = wine()
    kept = whole.y < 2
    return replace(
        whole,
        name="wine-igt",
        X=np.ascontiguousarray(whole.X[kept]),
        y=whole.y[kept],
        class_names=whole.class_names[:2],
        **attribution("wine-igt"),
    )


def wdbc() -> Dataset:
    """Return the Wisconsin diagnostic breast cancer data: shapes of cell nuclei.

    Returns
    -------
    Dataset
        569 rows; 30 features (mean, standard error and worst value of ten measurements); 357 benign (code 0), 212
        malignant (code 1).

    Examples
    --------
    >>> wdbc().class_names
    ('benign', 'malignant')
    """
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return _dataset("wdbc", bunch, [str(name) for name in bunch.target_names])


def optdigits() -> Dataset:
    """Return the test part of the handwritten digits of Alpaydin and Kaynak (1998).

    Each feature is the number of black pixels (0 to 16) in one 4 x 4 block of a 32 x 32 bitmap. Three blocks are empty
    in every image, so three features are constant.

    Returns
    -------
    Dataset
        1797 rows, 64 features, digits 0 to 9.

    Examples
    --------
    >>> optdigits().feature_names[:2]
    ('pixel_0_0', 'pixel_0_1')
    """
    from sklearn.datasets import load_digits

    return _dataset("optdigits", load_digits(), [str(digit) for digit in range(10)])


def _dataset(name: str, bunch: Any, labels: list[str]) -> Dataset:
    """Build a dataset from scikit-learn's bunch; renumber the codes so that the class names are sorted."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    new_code = np.argsort(order)
    X = np.array(bunch.data, dtype=np.float64)
    return Dataset(
        name=name,
        X=X,
        y=new_code[bunch.target].astype(np.int64),
        class_names=tuple(labels[old] for old in order),
        feature_names=tuple(str(feature).removesuffix(" (cm)") for feature in bunch.feature_names),
        categorical=np.zeros(X.shape[1], dtype=bool),
        **attribution(name),
    )
