"""SURF and its relatives from scikit-rebate, an optional package: ``pip install skrebate``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._selector import SupervisedSelector

ALGORITHMS = ("SURF", "SURFstar", "MultiSURF", "MultiSURFstar")


class RebateFilter(SupervisedSelector):
    r"""Relief whose neighbours are all rows within some distance, computed by scikit-rebate.

    SURF counts rows nearer than the mean distance of all pairs; MultiSURF those nearer than a row's own mean distance
    minus half its standard deviation. The starred variants also count far rows, with the opposite sign.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    algorithm : {"SURF", "SURFstar", "MultiSURF", "MultiSURFstar"}, default="MultiSURF"
        Variant of Relief.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        As scikit-rebate computes them.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ImportError
        If scikit-rebate is not installed.
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Notes
    -----
    Time O(n² p), memory O(n²), in Python: a few seconds for a thousand rows. scikit-rebate treats a column with at most
    ten distinct values as categorical. The starred variants are meant for interactions: far rows of another class count
    against a feature that separates the classes on its own, so they rank the two petal columns of iris last. Their
    importances may be far from 0 on average, so use the ranks rather than the signs.

    References
    ----------
    C. S. Greene, N. M. Penrod, J. Kiralis, J. H. Moore, "Spatially uniform ReliefF (SURF) for computationally-efficient
    filtering of gene-gene interactions", BioData Mining 2:5, 2009.

    R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore, "Benchmarking relief-based feature selection
    methods for bioinformatics data mining", Journal of Biomedical Informatics 85, 2018, pages 168-188.
    """

    def __init__(self, *, n_features_to_select: int | None = None, algorithm: str = "MultiSURF") -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.algorithm = algorithm

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}; got {self.algorithm!r}")
        try:
            import skrebate  # optional, and slow to import
        except ImportError as error:
            raise ImportError(f"{self.algorithm} needs scikit-rebate: pip install skrebate") from error
        # A copy, because scikit-rebate may write to its input.
        model = getattr(skrebate, self.algorithm)(n_features_to_select=X.shape[1], n_jobs=1).fit(X.copy(), y)
        importances = np.asarray(model.feature_importances_, dtype=np.float64)
        # scikit-rebate divides by the range, which is 0 for a constant column.
        return np.where(np.isfinite(importances), importances, 0.0)
