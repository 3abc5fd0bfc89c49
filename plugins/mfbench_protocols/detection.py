"""A trial of the protocol ``ground-truth``: fit a selector on a round's data and score its selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from mfbench.data.prepare import Columns, Scale, largest_of, restrict_classes
from mfbench.data.rounds import draw_round
from mfbench.errors import SuiteError
from mfbench.host.factories import takes_numbers
from mfbench.host.registry import Registry
from mfbench.model.specs import Dataset
from mfbench.model.trials import Interactions, Trial, TrialResult
from mfbench.run.trial.curve import TrialRunner
from mfbench.run.trial.folds import Fold, Selection, check_finite, within_set
from mfbench.run.trial.guard import guarded
from mfbench.run.trial.steps import Maker, Steps, fit_on, made, read_interactions
from mfbench.suite.loading import SuiteLocation
from mfbench.suite.methods import ResolvedMethod, count_of
from mfbench.suite.protocols import derive_seed
from mfbench.suite.resolve import resolve_steps
from mfbench.suite.schema import Method, ProtocolSettings
from mfbench_protocols.splits import GroundTruth

if TYPE_CHECKING:
    from numpy.typing import NDArray


def resolve_detector(
    method: Method, location: SuiteLocation, registry: Registry, protocol: ProtocolSettings, home: str
) -> ResolvedMethod:
    """Resolve a method whose features are compared with the truth: a selector, or a classifier with feature weights."""
    if len(method.steps) != 1:
        raise SuiteError(
            f"{location}: a method of the protocol {protocol.kind!r} is either a selector, or a learner that weighs "
            "features"
        )
    key = next((key for key in ("tune", "search", "selection") if getattr(method, key) is not None), None)
    if key is not None:
        raise SuiteError(
            f"{location}.{key}: the protocol {protocol.kind!r} does not tune; set the parameters in the selector"
        )
    if method.curve is not None:
        raise SuiteError(f"{location.key('curve')}: the protocol {protocol.kind!r} has no curves; leave it out")
    if method.weights is not None:
        raise SuiteError(f"{location}.weights: 'weights' is for prediction, not for the protocol {protocol.kind!r}")
    if method.top == "all-weighted":
        raise SuiteError(
            f"{location.key('top')}: 'all-weighted' is for prediction, not for the protocol {protocol.kind!r}"
        )
    (step,) = resolve_steps(method, location, registry, home).values()
    if method.selector is None:
        return ResolvedMethod(method.label, None, step, method.top)
    numbers = takes_numbers(registry.entry("selector", step.expression.name), step.expression.params)
    return ResolvedMethod(method.label, replace(step, numbers=numbers), None, method.top)


def select_features(
    weights: NDArray[np.float64], top: str | int | float, threshold: float, n_relevant: int
) -> NDArray[np.int64]:
    """Return the features that a rule selects, in ascending order; possibly empty."""
    if top == "all":
        return np.arange(len(weights), dtype=np.int64)
    if top == "positive":
        largest = np.abs(weights[np.isfinite(weights)]).max(initial=0.0)
        return np.flatnonzero(weights > threshold * largest).astype(np.int64)
    count = n_relevant if top == "relevant" else count_of(top, len(weights))
    return np.sort(np.argsort(-weights, kind="stable")[:count]).astype(np.int64)


def detection_scores(
    selected: NDArray[np.int64], weights: NDArray[np.float64], relevant: Sequence[int]
) -> dict[str, float]:
    """Return scores of the agreement between selected and relevant features."""
    # With selected features S, relevant features R and p features in total, the detection rate is |S \cap R| / |R|, the
    # false-alarm rate |S \setminus R| / (p - |R|), the false discovery proportion |S \setminus R| / \max(1, |S|), the
    # precision |S \cap R| / \max(1, |S|), and F1 is 2 |S \cap R| / (|S| + |R|). The area is `curve_area`.
    n_features, n_relevant = len(weights), len(relevant)
    hits = int(np.isin(selected, np.asarray(relevant)).sum())
    alarms = len(selected) - hits
    irrelevant = n_features - n_relevant
    return {
        "detection": hits / n_relevant if n_relevant else np.nan,
        "false_alarm": alarms / irrelevant if irrelevant else np.nan,
        "fdp": alarms / max(1, len(selected)),
        "precision": hits / max(1, len(selected)),
        "f1": 2.0 * hits / (len(selected) + n_relevant) if n_relevant else np.nan,
        "area": curve_area(weights, relevant),
    }


def curve_area(weights: NDArray[np.float64], relevant: Sequence[int]) -> float:
    """Return the area under the curve of detection rate over false-alarm rate (the ROC curve of the weights)."""
    # Features of equal weight enter together, along a straight line (the trapezoid rule). So the area is the
    # probability that a relevant feature weighs more than an irrelevant one, with ties counting one half: 0.5 for equal
    # weights.
    #
    # O(p log p) time by the rank-sum form of J. A. Hanley, B. J. McNeil, Radiology 143(1):29-36, 1982.
    n_relevant, n_features = len(relevant), len(weights)
    if n_relevant in (0, n_features):
        return float("nan")
    ranks = rankdata(weights)
    above = ranks[np.asarray(relevant)].sum() - n_relevant * (n_relevant + 1) / 2
    return float(above / (n_relevant * (n_features - n_relevant)))


def pair_detection(interactions: Interactions, true: Sequence[tuple[int, int]]) -> float:
    """Return the share of the t true pairs that are among the t pairs with the largest absolute weights."""
    # Ties count against the method: a true pair is detected if at most t pairs, including itself, weigh as much or
    # more.
    ranks = zip(interactions.pairs, interactions.ranks, strict=True)
    rank_of = {(int(i), int(j)): int(rank) for (i, j), rank in ranks}
    hits = sum(rank_of[min(pair), max(pair)] <= len(true) for pair in true)
    return hits / len(true)


class RoundFold(Fold):
    """The data of a round; all rows are training rows."""

    def __init__(self, data: Dataset, order: NDArray[np.intp], scale: Scale, seed: int, threshold: float) -> None:
        everything, nothing = np.arange(data.n_samples), np.empty(0, dtype=np.intp)
        pairs = data.interactions or ()
        super().__init__(data.X, data.y, Columns.of(data), everything, nothing, scale, 0, seed, pairs)
        self.response, self.order, self.threshold = data.response, order, threshold
        self.relevant = data.relevant or ()

    def target(self, *, numbers: bool) -> NDArray[Any]:
        """Return the response if the selector accepts numbers and a response exists, else the targets."""
        return self.y if self.response is None or not numbers else self.response


class DetectionRunner(TrialRunner):
    """Runs trials on generated data, a new dataset for each round."""

    def make_fold(self, trial: Trial) -> RoundFold:
        """Generate the data of a round. Its trials are neighbours, so that few workers generate it twice."""
        protocol, scale = self.job.protocol, self.job.settings.scale
        assert isinstance(protocol, GroundTruth)
        seed = protocol.round_seed(trial.dataset, trial.repeat)
        generated = draw_round(self.job.references[trial.dataset], self.registry, seed)
        data = restrict_classes(generated.data, self.job.classes[trial.dataset])
        return RoundFold(data, generated.order, scale, self.fold_seed(trial), protocol.threshold)

    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Run a method on the data of a round; see `run_round`."""
        assert isinstance(fold, RoundFold)
        return run_round(trial, method, fold, self.registry.make)


def run_round(trial: Trial, method: ResolvedMethod, fold: RoundFold, make: Maker) -> TrialResult:
    """Run one method on the data of one round."""

    def work(result: TrialResult) -> None:
        if method.selector is None:
            selection = _weigh_by_learner(method, fold, make)
        else:
            selection = Steps(method, trial.seed, make).selection(fold, {})
        weights, pairs = selection.weights, selection.interactions
        selected = select_features(weights, method.top, fold.threshold, len(fold.relevant))
        if selection.is_set and method.selector is not None:
            selected = within_set(weights, selected, f"selector {method.selector.title!r}")
        result.scores = detection_scores(selected, weights, fold.relevant)
        if pairs is not None and fold.true_pairs:
            result.scores["pair_detection"] = pair_detection(pairs, fold.true_pairs)
        result.select_wall, result.select_cpu = selection.wall, selection.cpu
        result.n_selected = len(selected)
        result.selected = np.sort(fold.order[selected]).astype(np.int64)
        result.weights = np.empty_like(weights)
        result.weights[fold.order] = weights
        result.interactions = None if pairs is None else _in_canonical_order(pairs, fold.order)

    return guarded(trial, work)


def _weigh_by_learner(method: ResolvedMethod, fold: RoundFold, make: Maker) -> Selection:
    step = method.learner
    assert step is not None
    seed = derive_seed(fold.seed, step.kind, step.expression.canonical())
    X, groups, n_features = fold.encoded.train, fold.encoded.groups, fold.X.shape[1]
    fitted = fit_on(X, fold.y_train, made(make, step, seed))
    learner, watch = fitted.estimator, fitted.watch
    by_column = learner_weights(learner, X.shape[1], f"{step.kind} {step.title!r}")
    check_finite(by_column, f"{step.kind} {step.title!r}", groups, fold.columns)
    pairs = read_interactions(learner, groups, n_features, fold.true_pairs)
    by_feature = largest_of(by_column, groups, n_features)
    return Selection(by_feature, by_column, watch.wall, watch.cpu, interactions=pairs)


def learner_weights(learner: Any, n_columns: int, owner: str) -> NDArray[np.float64]:
    """Return the weights of a fitted learner's columns."""
    if hasattr(learner, "feature_importances_"):
        weights = np.asarray(learner.feature_importances_, dtype=np.float64)
    elif hasattr(learner, "coef_"):
        weights = np.abs(np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))).max(axis=0)
    else:
        raise ValueError(f"{owner} has neither feature_importances_ nor coef_, so it does not weigh features")
    if weights.shape != (n_columns,):
        raise ValueError(f"{owner} has weights of shape {weights.shape}, expected {n_columns} numbers")
    return weights


def _in_canonical_order(interactions: Interactions, order: NDArray[np.intp]) -> Interactions:
    pairs = (
        np.sort(order[interactions.pairs], axis=1).astype(np.int64) if len(interactions.pairs) else interactions.pairs
    )
    return replace(interactions, pairs=pairs)
