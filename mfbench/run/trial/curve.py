"""A method at several numbers of features: one fit of its selector, then the learner at each size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import trapezoid

from mfbench.host.registry import Registry
from mfbench.model.evaluation import CURVE_METRICS
from mfbench.model.trials import Curve, Predictions, Trial, TrialResult
from mfbench.run.trial.folds import Fold, warn_of_end
from mfbench.run.trial.guard import at_size, guarded
from mfbench.run.trial.metrics import Metric, resolve_metrics
from mfbench.run.trial.problem import Best, TrialProblem, solve_one_vs_rest
from mfbench.run.trial.steps import GridPoint, Maker, grid_points, readable
from mfbench.run.workers.job import Arrays, Job, read_arrays
from mfbench.suite.methods import TOP, ResolvedMethod, curve_sizes
from mfbench.suite.protocols import Split, derive_seed
from mfbench.suite.tasks import strata_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SUMMED = ("fit_wall", "fit_cpu", "predict_wall", "predict_cpu")
_OF_LARGEST = ("predictions", "selected", "n_selected", "weights", "interactions", "select_wall", "select_cpu")


class CurveProblem(TrialProblem):
    """A method with a curve on a fold."""

    # Each size behaves like the same method with `top` set to it: the subsets follow this rule, so they are nested, and
    # the learner's parameters are tuned per size. The selector's parameters are tuned once: they maximize the mean of
    # the inner scores of the best learners over the sizes.

    def into(self, result: TrialResult, *, with_scores: bool = False) -> Predictions | None:
        """Fill a result; `mfbench.model.trials.TrialResult.curve` lists what refers to the largest size."""
        assert self.method.curve is not None  # guaranteed by the caller
        n_units = self.fold.columns.n_units
        sizes = curve_sizes(self.method.curve, n_units)
        tuned = [Best(0.0, {(TOP, TOP): size}, None) for size in sizes]
        if self.method.grid:
            with self._tuning(result):
                tuned = self._tune_sizes(sizes)
        parts: list[TrialResult] = []
        predictions: Predictions | None = None
        for size, best in zip(sizes, tuned, strict=True):
            parts.append(TrialResult(key=result.key))
            with at_size(size, n_units):
                predictions = self._measure(best.point, parts[-1], best.fitted, with_scores)
            selection = self.steps.selection(self.fold, best.point)
            weights = self.fold.columns.by_unit(selection.weights)
            in_set = int((weights > 0).sum())
            if selection.is_set and in_set <= size < sizes[-1]:
                assert self.method.selector is not None
                warn_of_end(weights, f"selector {self.method.selector.title!r}")
                break
        if selection.is_set:  # the curve ends at the size of the set
            sizes, tuned = (*sizes[: len(parts) - 1], max(1, min(size, in_set))), tuned[: len(parts)]
        self._combine(sizes, parts, tuned, result)
        return predictions

    def _tune_sizes(self, sizes: tuple[int, ...]) -> list[Best]:
        """Return the best grid point of each size; all share the same selector parameters."""
        of_selector = tuple(entry for entry in self.method.grid if entry[0] == "selector")
        of_learner = tuple(entry for entry in self.method.grid if entry[0] not in ("selector", TOP))

        def best_at(size: int, selector: GridPoint) -> Best:
            points = ({**selector, **point, (TOP, TOP): size} for point in grid_points(of_learner))
            with at_size(size, self.fold.columns.n_units):
                return self._best(points, self.fold.inner) if self._can_tune else Best(0.0, next(points), None)

        def best_at_each(selector: GridPoint) -> tuple[float, list[Best]]:
            tuned = [best_at(size, selector) for size in sizes]
            return round(float(np.mean([best.score for best in tuned])), 12), tuned

        chosen: tuple[float, list[Best]] | None = None
        for _, scored in self._each_point(grid_points(of_selector), best_at_each):
            if chosen is None or scored[0] > chosen[0]:
                chosen = scored
            if not self._can_tune:
                break
        assert chosen is not None
        return chosen[1]

    def _combine(
        self, sizes: tuple[int, ...], parts: list[TrialResult], tuned: list[Best], result: TrialResult
    ) -> None:
        for name in _SUMMED:
            setattr(result, name, sum(getattr(part, name) for part in parts))
        for name in _OF_LARGEST:
            setattr(result, name, getattr(parts[-1], name))
        chosen = [readable({key: value for key, value in best.point.items() if key[0] != TOP}) for best in tuned]
        result.chosen = chosen[-1]
        reused = [part.fit_wall for part, best in zip(parts, tuned, strict=True) if best.fitted is not None]
        if reused:  # fitted during tuning and reported as final fits, so their time must not count twice
            result.tune_wall = max(0.0, result.tune_wall - result.select_wall - sum(reused))
        result.curve = Curve(
            sizes=np.array(sizes, dtype=np.int64),
            metrics=tuple(metric.name for metric in self.metrics),
            scores=np.array([[part.scores[metric.name] for part in parts] for metric in self.metrics]),
            seconds=np.array([part.fit_wall for part in parts]),
            chosen=tuple(chosen) if self.method.grid else (),
        )
        of_first = result.curve.scores[0]
        result.scores = {
            **parts[-1].scores,
            "area": area_under(np.log(result.curve.sizes), of_first),
            "area_linear": area_under(result.curve.sizes.astype(np.float64), of_first),
        }


def area_under(positions: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """Return the area under a curve by the trapezoid rule, divided by the range of the axis, i.e. a mean score."""
    if len(positions) == 1:
        return float(scores[0])
    return float(trapezoid(scores, positions) / (positions[-1] - positions[0]))


class TrialRunner(ABC):
    """Runs the trials of a protocol: prepares the data of a fold and runs methods on them."""

    def __init__(self, job: Job, registry: Registry) -> None:
        self.job = job
        self.registry = registry

    @abstractmethod
    def make_fold(self, trial: Trial) -> Fold:
        """Return the data of a trial's fold, which depend on dataset, repeat and fold, but not on the method."""

    @abstractmethod
    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Run a method on the data from `make_fold`; a failure of the method becomes the result's status."""

    def fold_seed(self, trial: Trial) -> int:
        """Return the seed of a fold, the same for all methods."""
        return derive_seed(self.job.protocol.seed, trial.dataset, trial.repeat, trial.fold)


class PredictionRunner(TrialRunner):
    """Runs trials on folds cut from a dataset."""

    # It caches the arrays and splits of the most recent dataset, since trials are ordered by dataset.

    def __init__(self, job: Job, registry: Registry) -> None:
        super().__init__(job, registry)
        self._arrays: dict[str, Arrays] = {}
        self._splits: dict[tuple[str, int], list[Split]] = {}

    @cached_property
    def _metrics(self) -> list[Metric]:
        names = (name for name in self.job.settings.metrics if name not in CURVE_METRICS)
        return resolve_metrics(names, self.registry)

    def make_fold(self, trial: Trial) -> Fold:
        """Return the rows, and optionally a subset of the features, of a trial's fold."""
        if trial.dataset not in self._arrays:
            self._arrays = {trial.dataset: read_arrays(self.job, trial.dataset)}
        X, y, weights = self._arrays[trial.dataset]
        strata = strata_of(self.job.task, y)
        structure = self.job.structures.get(trial.dataset)
        if (trial.dataset, trial.repeat) not in self._splits:
            splits = self.job.protocol.splits(trial.dataset, strata, trial.repeat, structure)
            self._splits = {(trial.dataset, trial.repeat): splits}
        split = self._splits[trial.dataset, trial.repeat][trial.fold]
        columns, true_pairs = self.job.datasets[trial.dataset], self.job.true_pairs.get(trial.dataset, ())
        features = split.features(X.shape[1])
        if features is not None:  # the true pairs are dropped too: the remaining features are renumbered
            X, columns, true_pairs = X[:, features], columns.subset(features), ()
        return Fold(
            X,
            y,
            columns,
            split.train,
            split.test,
            self.job.settings.scale,
            self.job.protocol.inner_folds,
            self.fold_seed(trial),
            true_pairs,
            split.tuning,
            structure,
            weights=weights,
            strata=strata,
        )

    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Run a method on a fold; see `run_trial`."""
        result = run_trial(
            trial, method, fold, self._metrics, self.registry.make, decisions=self.job.protocol.decisions
        )
        if fold.X.shape[1] < len(self.job.datasets[trial.dataset].categorical):
            # A subset of the features is renumbered, which readers of the store cannot know.
            result.selected, result.weights, result.interactions = None, None, None
        return result


def run_trial(
    trial: Trial,
    method: ResolvedMethod,
    fold: Fold,
    metrics: Sequence[Metric],
    make: Maker,
    *,
    decisions: str = "multi-class",
) -> TrialResult:
    """Run one trial in this process."""

    def work(result: TrialResult) -> None:
        if method.curve is not None:
            CurveProblem(method, trial.seed, fold, metrics, make).into(result)
        elif decisions == "one-vs-rest" and fold.n_classes > 2:
            solve_one_vs_rest(method, trial.seed, fold, metrics, make, result)
        else:
            TrialProblem(method, trial.seed, fold, metrics, make).into(result)

    return guarded(trial, work)
