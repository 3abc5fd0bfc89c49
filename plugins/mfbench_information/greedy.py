"""Greedy selection by information about the classes and redundancy between features: JMI, CMIM and their relatives."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_information._counts import Counter
from mfbench_information._levels import BINNINGS, classes_of, levels_of
from mfbench_learners.selectors import GreedySelector

_Floats = NDArray[np.float64]


class _Step(NamedTuple):
    """What a feature that was just selected says about all features."""

    relevance: _Floats  # I(x_j; y)
    own: float  # I(x_k; y) of the selected one
    joint: _Floats  # I(x_j, x_k; y)
    entropy: _Floats  # H(x_j, x_k, y)
    redundancy: _Floats  # I(x_j; x_k)

    @property
    def gain(self) -> _Floats:
        """I(x_j; x_k | y) − I(x_j; x_k), by the chain rule."""
        return self.joint - self.relevance - self.own

    @property
    def share(self) -> _Floats:
        """I(x_j, x_k; y) / H(x_j, x_k, y)."""
        return np.divide(self.joint, self.entropy, out=np.zeros_like(self.joint), where=self.entropy > 0)


class _Criterion(NamedTuple):
    """A score: what it is before any feature is selected, and how the term of a selected feature changes it."""

    start: float | None  # None: the relevance
    combine: Callable[[_Floats, _Floats], _Floats]
    term: Callable[[_Step, float], _Floats]


CRITERIA: dict[str, _Criterion] = {
    "jmi": _Criterion(0.0, np.add, lambda step, beta: step.joint),
    "disr": _Criterion(0.0, np.add, lambda step, beta: step.share),
    "jmim": _Criterion(np.inf, np.minimum, lambda step, beta: step.joint),
    "njmim": _Criterion(np.inf, np.minimum, lambda step, beta: step.share),
    "cmim": _Criterion(None, np.minimum, lambda step, beta: step.joint - step.own),
    "cife": _Criterion(None, np.add, lambda step, beta: step.gain),
    "icap": _Criterion(None, np.add, lambda step, beta: np.minimum(step.gain, 0.0)),
    "mifs": _Criterion(None, np.add, lambda step, beta: -beta * step.redundancy),
}


class GreedyInformation(GreedySelector):
    r"""Select features one by one, by what each adds to those selected before.

    Columns are cut into levels, and information *I* and entropy *H* are those of the observed frequencies, in bits. The
    first feature has the largest :math:`I(x_j; y)`. The next has the largest score among those not yet in the set *S*:

    =========  =====================================================================================================
    criterion  score
    =========  =====================================================================================================
    "jmi"      :math:`\sum_{k \in S} I(x_j, x_k; y)`, joint mutual information [1]_
    "disr"     :math:`\sum_{k \in S} I(x_j, x_k; y) / H(x_j, x_k, y)`, double input symmetrical relevance [2]_
    "jmim"     :math:`\min_{k \in S} I(x_j, x_k; y)` [3]_
    "njmim"    :math:`\min_{k \in S} I(x_j, x_k; y) / H(x_j, x_k, y)` [3]_
    "cmim"     :math:`\min(I(x_j; y), \min_{k \in S} I(x_j; y \mid x_k))`, conditional mutual information [4]_
    "cife"     :math:`I(x_j; y) - \sum_{k \in S} (I(x_j; x_k) - I(x_j; x_k \mid y))` [5]_
    "icap"     :math:`I(x_j; y) - \sum_{k \in S} \max(0, I(x_j; x_k) - I(x_j; x_k \mid y))` [6]_
    "mifs"     :math:`I(x_j; y) - \beta \sum_{k \in S} I(x_j; x_k)` [7]_
    =========  =====================================================================================================

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the first selected first; None keeps all selected features.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole. Numbers are cut into `bins` classes of
        equal frequency.
    criterion : str, default="jmi"
        One of the table.
    n_ranked : int, default=50
        Maximum number of features to select.
    beta : float, default=1.0
        Weight of redundancy; "mifs" alone has one.
    binning : {"frequency", "width", "mdl"}, default="frequency"
        Bins of equal frequency, where a value that fills one is on its own; of equal width; or cuts by the minimum
        description length of the classes [8]_.
    bins : int, default=5
        Number of bins, from 2 to 256. A column of at most as many values keeps them; with "mdl", one of two values.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        1 for the first selected feature, decreasing evenly; 0 for features not selected.
    order_ : ndarray of shape (n_taken,)
        The selected features, in order.
    scores_ : ndarray of shape (n_taken,)
        The score of each when it was selected; the first has :math:`I(x_j; y)`.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Notes
    -----
    A selected feature takes O(n p + p b² k) time, for *b* bins and *k* classes; memory is O(n p) bytes. All criteria
    need the same two entropies of each pair, because :math:`I(x_j; x_k \mid y) = I(x_j, x_k; y) - I(x_j; y) -
    I(x_k; y) + I(x_j; x_k)`. Features of a single level are never selected. Ties, to twelve digits, go to the feature
    that comes first.

    References
    ----------
    G. Brown, A. Pocock, M.-J. Zhao, M. Luján, "Conditional likelihood maximisation: a unifying framework for
    information theoretic feature selection", Journal of Machine Learning Research 13, 2012, compares most of them.

    .. [1] H. H. Yang, J. Moody, "Data visualization and feature selection: new algorithms for nongaussian data", NIPS
       12, 1999.
    .. [2] P. E. Meyer, G. Bontempi, "On the use of variable complementarity for feature selection in cancer
       classification", EvoWorkshops 2006.
    .. [3] M. Bennasar, Y. Hicks, R. Setchi, "Feature selection using joint mutual information maximisation", Expert
       Systems with Applications 42(22), 2015.
    .. [4] F. Fleuret, "Fast binary feature selection with conditional mutual information", Journal of Machine Learning
       Research 5, 2004.
    .. [5] D. Lin, X. Tang, "Conditional infomax learning: an integrated framework for feature extraction and fusion",
       ECCV 2006.
    .. [6] A. Jakulin, "Machine learning based on attribute interactions", thesis, University of Ljubljana, 2005.
    .. [7] R. Battiti, "Using mutual information for selecting features in supervised neural net learning", IEEE
       Transactions on Neural Networks 5(4), 1994.
    .. [8] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued attributes for classification
       learning", IJCAI 1993.

    Examples
    --------
    The classes are the exclusive or of the first two columns, and the third is a weak copy of the classes.

    >>> from mfbench_information.greedy import GreedyInformation
    >>> X = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    >>> y = [0, 1, 1, 0, 0, 1, 1, 0]
    >>> GreedyInformation(criterion="jmi").fit(X, y).order_.tolist()
    [2, 0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedySelector._parameter_constraints,
        "criterion": [StrOptions(set(CRITERIA))],
        "n_ranked": [Interval(Integral, 1, None, closed="left")],
        "beta": [Interval(Real, 0, None, closed="left")],
        "binning": [StrOptions(set(BINNINGS))],
        "bins": [Interval(Integral, 2, 256, closed="both")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        criterion: str = "jmi",
        n_ranked: int = 50,
        beta: float = 1.0,
        binning: str = "frequency",
        bins: int = 5,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.criterion = criterion
        self.n_ranked = n_ranked
        self.beta = beta
        self.binning = binning
        self.bins = bins
        self.n_jobs = n_jobs

    def _order(self, X: NDArray[np.float64], y: NDArray[Any]) -> list[int]:
        classes = classes_of(y, self.bins)
        codes, sizes = levels_of(X, classes, self.binning, self.bins)
        counter = Counter(codes, sizes, classes, min(effective_n_jobs(self.n_jobs), X.shape[1]))
        criterion, relevance = CRITERIA[self.criterion], counter.relevance
        open_ = sizes > 1
        taken: list[int] = []
        scores: list[float] = []
        score = relevance
        total = relevance if criterion.start is None else np.full(len(sizes), criterion.start)
        while len(taken) < self.n_ranked and open_.any():
            best = int(np.argmax(np.where(open_, np.round(score, 12), -np.inf)))
            taken.append(best)
            scores.append(float(score[best]))
            open_[best] = False
            step = _Step(relevance, float(relevance[best]), *counter.with_feature(best))
            score = total = criterion.combine(total, criterion.term(step, self.beta))
        self.scores_ = np.array(scores)
        return taken
