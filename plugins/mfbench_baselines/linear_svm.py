"""scikit-learn's linear support vector machine, which ends on every input."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.svm import LinearSVC
from sklearn.utils.validation import validate_data

LARGEST = 1e75


class LinearSVM(LinearSVC):
    r"""scikit-learn's `LinearSVC`, but values whose squares overflow are an error.

    liblinear does not return from such values: every step of its Newton solver is then infinite. Everything else,
    parameters and attributes included, is as in `sklearn.svm.LinearSVC`.

    Raises
    ------
    ValueError
        By `fit`, if a value of X is larger than :math:`10^{75}` in magnitude.

    Notes
    -----
    O(n_samples · n_features) per step of the solver. R.-E. Fan et al., LIBLINEAR: A library for large linear
    classification, Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> LinearSVM(dual=False).fit(np.array([[0.0], [1.0]]), [0, 1]).predict([[0.9]])
    array([1])
    >>> LinearSVM().fit(np.array([[0.0], [1e150]]), [0, 1])
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+150, whose squares overflow: scale the features first
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine; see `sklearn.svm.LinearSVC.fit`."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False)
        largest = float(abs(X).max())
        if largest > LARGEST:
            raise ValueError(f"X has values up to {largest:.3g}, whose squares overflow: scale the features first")
        super().fit(X, y, sample_weight)
        return self
