"""A trial of the protocol ``ground-truth``: fit a selector on a round's data, and tell which features it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.data.prepare import Columns, Scale
from mfbench.models import Dataset
from mfbench.run.trial.detection_scores import detection_scores, found_features, pair_detection
from mfbench.run.trial.folds import Fold, Selection
from mfbench.run.trial.interactions import read_interactions
from mfbench.run.trial.measure import Stopwatch
from mfbench.run.trial.prediction import guarded
from mfbench.run.trial.steps import Maker, Steps, by_original_feature, seeded
from mfbench.suite.resolve import ResolvedMethod
from mfbench.suite.seeds import derive_seed
from mfbench.trials import Interactions, Trial, TrialResult

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RoundFold(Fold):
    """The data of a round: every row trains.

    Parameters
    ----------
    data : Dataset
        Columns in the order that selectors see.
    order : ndarray of shape (n_features,)
        The canonical feature behind each column.
    scale : {"standard", "range", "none"}
        Scaling of numeric columns.
    seed : int
        Seed of the fits; equal for all methods.
    threshold : float
        A weight above this share of the largest absolute weight counts as found.
    """

    def __init__(self, data: Dataset, order: NDArray[np.intp], scale: Scale, seed: int, threshold: float) -> None:
        everything, nothing = np.arange(data.n_samples), np.empty(0, dtype=np.intp)
        pairs = data.interactions or ()
        super().__init__(data.X, data.y, Columns.of(data), everything, nothing, scale, 0, seed, pairs)
        self.response, self.order, self.threshold = data.response, order, threshold
        self.relevant = data.relevant or ()

    def target(self, *, numbers: bool) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the response where it is wanted and there is one, else class codes."""
        return self.y if self.response is None or not numbers else self.response


def run_round(trial: Trial, method: ResolvedMethod, fold: RoundFold, make: Maker) -> TrialResult:
    """Run one method on the data of one round.

    Parameters
    ----------
    trial : Trial
        Coordinates and seed.
    method : ResolvedMethod
        With a selector, or a classifier whose weights are read.
    fold : RoundFold
        Data; a selector fit found there is used, a new one is left there.
    make : callable
        Builds estimators.

    Returns
    -------
    TrialResult
        Weights, features found and pairs in canonical order; the scores of `mfbench.run.trial.detection_scores`.
    """

    def work(result: TrialResult) -> None:
        if method.selector is None:
            said = _weigh_by_classifier(method, fold, make)
        else:
            said = Steps(method, trial.seed, make).selection(fold, {})
        found = found_features(said.weights, method.top, fold.threshold, len(fold.relevant))
        result.scores = detection_scores(found, said.weights, fold.relevant)
        if said.interactions is not None and fold.true_pairs:
            result.scores["pair_detection"] = pair_detection(said.interactions, fold.true_pairs)
        result.select_wall, result.select_cpu = said.wall, said.cpu
        result.n_selected = len(found)
        result.selected = np.sort(fold.order[found]).astype(np.int64)
        result.weights = np.empty_like(said.weights)
        result.weights[fold.order] = said.weights
        result.interactions = None if said.interactions is None else _in_canonical_order(said.interactions, fold.order)

    return guarded(trial, work)


def _weigh_by_classifier(method: ResolvedMethod, fold: RoundFold, make: Maker) -> Selection:
    assert method.classifier is not None
    expression = method.classifier.expression
    seed = derive_seed(fold.seed, "classifier", expression.canonical())
    classifier = seeded(make(expression, "classifier"), seed, expression.params)
    X = fold.encoded.train.copy()
    with Stopwatch() as watch:
        classifier.fit(X, fold.y_train)
    columns = classifier_weights(classifier, X.shape[1], expression.name)
    pairs = read_interactions(classifier, fold.encoded.groups, fold.X.shape[1], fold.true_pairs)
    weights = by_original_feature(columns, fold.encoded.groups, fold.X.shape[1])
    return Selection(weights, columns, watch.wall, watch.cpu, interactions=pairs)


def classifier_weights(classifier: Any, n_columns: int, name: str) -> NDArray[np.float64]:
    """Return how a fitted classifier weighs each column.

    Parameters
    ----------
    classifier : object
        With ``feature_importances_``, or with ``coef_``, of which the largest absolute value over the classes counts.
    n_columns : int
    name : str
        For messages.

    Returns
    -------
    ndarray of shape (n_columns,)

    Raises
    ------
    ValueError
        If it has neither, or they are not finite numbers of that shape.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> classifier_weights(SimpleNamespace(coef_=[[1, -2, 0], [0, 1, 0]]), 3, "own")
    array([1., 2., 0.])
    """
    if hasattr(classifier, "feature_importances_"):
        weights = np.asarray(classifier.feature_importances_, dtype=np.float64)
    elif hasattr(classifier, "coef_"):
        weights = np.abs(np.atleast_2d(np.asarray(classifier.coef_, dtype=np.float64))).max(axis=0)
    else:
        raise ValueError(f"classifier {name!r} has neither feature_importances_ nor coef_, so that it finds nothing")
    if weights.shape != (n_columns,) or not np.isfinite(weights).all():
        raise ValueError(f"classifier {name!r} has weights of shape {weights.shape}, expected {n_columns} numbers")
    return weights


def _in_canonical_order(said: Interactions, order: NDArray[np.intp]) -> Interactions:
    pairs = np.sort(order[said.pairs], axis=1).astype(np.int64) if len(said.pairs) else said.pairs
    return Interactions(pairs, said.values, said.ranks, said.p_values, said.norm, said.n_pairs)
