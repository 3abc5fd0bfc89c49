"""A run: the contents of its folder, the settings of its comparisons, and all results derived from both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.errors import UnknownNameError, UsageError
from mfbench.run.store.metadata import RecordedProtocol
from mfbench.stats import detection, selection
from mfbench.stats.across_datasets import Overall, dummy_scores, performance_ratios
from mfbench.stats.calibration import design_of, rejections, worse_than_best
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.comparisons import Comparisons, Folds, common_folds, coverage, is_common, on_common_folds, rows_on
from mfbench.stats.curves import (
    AREAS,
    classifiers_of,
    curve_frame,
    curve_overview,
    curve_summary,
    mean_curves,
    ranking_figures,
)
from mfbench.stats.paired import POWER
from mfbench.stats.power import Power, others_of, power_analysis
from mfbench.stats.published import compare_counts, compare_with_published
from mfbench.stats.stored import Correctness, StoredRun, decision_frame, failed_trials, frame_of, prediction_frame
from mfbench.stats.summary import companion_scores, time_table, timing_exponents, timing_profile


class Run:
    """A run's results, and all comparisons of its methods.

    Runs are immutable: `replace` and `restricted` return new ones, which share the data already read from the folder.

    Parameters
    ----------
    path : Path or StoredRun
        The run folder, or its contents as already read.
    reference : str or None, default=None
        One of the run's methods; overrides the suite's reference.
    metric : str or None, default=None
        One of the run's metrics, used instead of the first in comparisons and reports.
    remarks : sequence of str or None, default=None
        Caveats for readers of the report about how the run was produced; None uses those recorded in the folder.
    bundle : Path or None, default=None
        Source bundle of the results; None for a run folder.
    claims : tuple of str, default=()
        Names of bundles that contributed unverified results to this run.
    outcomes : DataFrame or None, default=None
        The trials to compare; None means all.

    Attributes
    ----------
    meta : RunMetadata
        Suite, protocol, profile, methods and environment as recorded when the run last started.
    left_out : dict of str to str
        Datasets that could not be used, with the reason.
    unavailable : dict of str to Unavailable
        The subset that this machine could not obtain. This is not a failure: another run may have them.

    Raises
    ------
    RunError
        If the folder does not contain a readable run.
    """

    def __init__(
        self,
        path: Path | StoredRun,
        *,
        reference: str | None = None,
        metric: str | None = None,
        remarks: Sequence[str] | None = None,
        bundle: Path | None = None,
        claims: tuple[str, ...] = (),
        outcomes: pd.DataFrame | None = None,
    ) -> None:
        self._stored = path if isinstance(path, StoredRun) else StoredRun(path)
        self.path, self.meta = self._stored.path, self._stored.meta
        self.left_out, self.unavailable = self._stored.left_out, self._stored.unavailable
        self._reference, self._metric = reference, metric
        self.remarks = self._stored.remarks if remarks is None else remarks
        self.bundle, self.claims, self._outcomes = bundle, claims, outcomes

    def replace(self, **changes: Any) -> Self:
        """Return this run with another reference or metric, other remarks, or as read from a bundle.

        Parameters
        ----------
        **changes
            Parameters of the class: ``reference``, ``metric``, ``remarks``, ``bundle``, ``claims``.

        Raises
        ------
        UnknownNameError
            If the run has no such metric or method.
        """
        self._check("metric", changes.get("metric"), self.metrics)
        self._check("method", changes.get("reference"), self.methods)
        names = ("reference", "metric", "remarks", "bundle", "claims", "outcomes")
        return type(self)(self._stored, **({name: getattr(self, name) for name in names} | changes))

    def restricted(self, datasets: Collection[str]) -> Run:
        """Return this run as if it had only some of its datasets.

        Parameters
        ----------
        datasets : collection of str

        Returns
        -------
        Run
            Outcomes, scores and all comparisons are limited to these datasets; `trials` and everything read from the
            store are not.
        """
        outcomes = rows_on(self.outcomes, datasets)
        methods = outcomes["method"].unique().tolist()
        reference = self.reference if self.settings.reference in methods else next(iter(methods), None)
        part = self.replace(outcomes=outcomes, reference=reference)
        part._comparisons = self._comparisons.restricted(datasets)
        return part

    @property
    def reference(self) -> str | None:
        """The method that overrides the suite's reference, or None."""
        return self._reference

    @property
    def metric(self) -> str | None:
        """The metric used instead of the run's first, or None."""
        return self._metric

    @cached_property
    def settings(self) -> ComparisonSettings:
        """The settings of comparisons, from the suite's ``[report]``."""
        metric, reference = self.metric or self.metrics[0], self.reference or self.meta.report.reference
        reference = reference if reference in self.methods else next(iter(self.methods), None)
        own = tuple((label, splits.tested_ratio) for label, splits in self.meta.splits.items())
        chosen = self.meta.report.model_dump(include={"test", "alpha", "published_test", "rope", "missing"})
        chosen |= {"ratio": self.protocol.test_train_ratio, "own_ratios": own}
        chosen["weighted"], chosen["spreads"] = tuple(self.meta.with_weights), selection.spreads(self._stored.datasets)
        chosen["families"] = selection.families(self._stored.datasets)
        if not self.detects:
            chosen["rows"] = tuple((each["label"], each["n_samples"]) for each in self._stored.datasets)
        grouped = tuple(label for label, splits in self.meta.splits.items() if splits.grouped)
        return ComparisonSettings(metric, self.meta.scores, reference, grouped=grouped, **chosen)

    def __repr__(self) -> str:
        return f"Run({str(self.bundle or self.path)!r})"

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per planned trial: coordinates, status (None: not run yet), times, scores as columns, arrays."""
        return frame_of(self._stored.all_columns, self.measured)

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """The plain columns of `trials`, all that the statistics need, in a tenth of the memory."""
        return frame_of(self._stored.columns, self.measured) if self._outcomes is None else self._outcomes

    @cached_property
    def common_folds(self) -> dict[str, Folds]:
        """The folds on which methods are compared, for each dataset with pending trials."""
        return common_folds(self.outcomes)

    @cached_property
    def coverage(self) -> pd.DataFrame:
        """One row per dataset with pending trials: folds planned and compared, methods not reached."""
        return coverage(self.outcomes, self.common_folds)

    @cached_property
    def _comparisons(self) -> Comparisons:
        return Comparisons(self.compared)

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The rows of `outcomes` used in comparisons: all, or only those on `common_folds`."""
        return on_common_folds(self.outcomes, self.common_folds)

    @cached_property
    def decisions(self) -> Correctness:
        """Function of dataset and method labels; tells which test rows of each fold were classified correctly."""
        return self._stored.correctness

    @cached_property
    def datasets(self) -> pd.DataFrame:
        """One row per dataset: label, shape, trivial accuracy, class names and counts, content hash, source.

        ``trivial_accuracy`` is the score of a constant prediction: the share of the largest class or, for
        ``one_vs_rest_accuracy``, the mean over classes of max(p, 1 - p) with the class share p.
        """
        return selection.dataset_frame(self._stored.datasets, self.settings.score)

    @cached_property
    def largest_classes(self) -> dict[str, float]:
        """Share of the largest class in the rows of each dataset that has classes."""
        return selection.largest_classes(self._stored.datasets)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """One row per trial of a method with a ``curve``, number of features and metric: score and seconds."""
        return curve_frame(self._stored.rows_with(("curve",)) if self._stored.has_curves else ())

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """One row per trial and pair of features that its method weighs: weight, share of the norm, p-value, rank."""
        return detection.interaction_frame(self._stored.rows_having("interactions"), self._stored.datasets)

    @cached_property
    def true_interactions(self) -> pd.DataFrame:
        """One row per dataset with true interactions and method that weighs pairs: share, p-value, rank."""
        has_truth = any(dataset["interactions"] for dataset in self._stored.datasets)
        return detection.true_interactions(self.interactions if has_truth else detection.interaction_frame([], []))

    @property
    def selected(self) -> pd.DataFrame:
        """One row per dataset and method: number of features used per fold, and their stability across folds."""
        return self._selections[0]

    @property
    def detects(self) -> bool:
        """Whether the run measured selectors against the ground truth, without predictions."""
        return not self.meta.design.predicts

    @cached_property
    def detection(self) -> pd.DataFrame:
        """One row per dataset, method and figure of ``ground-truth``: mean over rounds with its interval."""
        if not self.detects:
            return pd.DataFrame(columns=detection.COLUMNS)
        trials = on_common_folds(self.trials, self.common_folds)
        return detection.detection_frame(trials, self._stored.feature_numbers, self.meta.scores, self.meta.report.alpha)

    def relevant(self, dataset: str) -> list[int]:
        """Return the column numbers of a dataset's relevant features; empty without ground truth."""
        return list(self._stored.dataset(dataset)["relevant"] or ())

    @property
    def collections(self) -> dict[str, list[str]]:
        """The datasets of this run in each collection (such as the datasets of a paper), by collection name."""
        return selection.collections_of(self._stored.datasets)

    def feature_names(self, dataset: str) -> list[str]:
        """Return the names of a dataset's features."""
        return [str(name) for name in self._stored.dataset(dataset)["feature_names"]]

    @property
    def selection_counts(self) -> selection.Counts:
        """For each dataset and method: how often each feature was selected, and in how many successful trials."""
        return self._selections[1]

    @property
    def chosen_parameters(self) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
        """Dataset, method and chosen parameters of each trial with tuning."""
        rows = self._stored.rows_having("chosen")
        return (((row["dataset"], row["method"]), row["chosen"]) for row in rows if row["chosen"])

    @cached_property
    def _selections(self) -> tuple[pd.DataFrame, selection.Counts]:
        rows = self._stored.rows_with(("status", "n_selected", "selected"))
        return selection.selected_features(rows, self._stored.feature_numbers)

    @property
    def metrics(self) -> list[str]:
        """The protocol's metrics; the first one is decisive."""
        return list(self.meta.protocol.metrics)

    @property
    def measured(self) -> list[str]:
        """The scores of a trial: for ``ground-truth`` all detection scores, whichever the suite names."""
        return list(self.meta.scores) if self.detects else self.metrics

    @property
    def protocol(self) -> RecordedProtocol:
        """The protocol that split the rows."""
        return self.meta.design

    @property
    def tuned(self) -> dict[str, str]:
        """The tuned methods, and how their parameters are selected: "nested" or "per-dataset"."""
        return dict(self.meta.selection)

    @property
    def methods(self) -> dict[str, str]:
        """The description of each method label, in the suite's order."""
        return dict(self.meta.methods)

    @cached_property
    def folds_per_dataset(self) -> int:
        """The largest number of folds per dataset on which methods are compared."""
        counts = self.compared.groupby(["dataset", "method"], sort=False).size()
        return int(counts.max()) if len(counts) else 0

    @cached_property
    def sizes(self) -> pd.DataFrame:
        """One row per dataset, repeat and fold: numbers of training, validation and test rows, and of features."""
        return selection.size_frame((each["label"], self._stored.splits(each)) for each in self._stored.datasets)

    def test_rows(self, dataset: str) -> dict[tuple[int, int], NDArray[np.int64]]:
        """Return the test rows of a dataset by (repeat, fold); empty for rounds of generated data."""
        return {fold: split.test for fold, split in self._stored.splits(self._stored.dataset(dataset)).items()}

    @cached_property
    def timing(self) -> pd.DataFrame:
        """For ``timing``, one row per dataset and method: seconds at the largest size, exponents of growth."""
        return timing_exponents(timing_profile(self.outcomes, self.sizes))

    def predictions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        self._check("method", method, self.methods)
        return prediction_frame(self._stored.dataset(dataset), self._stored.tested_folds(dataset, method))

    def binary_decisions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every binary decision: columns repeat, fold, row, class, truth, decision.

        With two classes there is one decision per test row: whether it belongs to the second class. With more there is
        one per test row and class: the recorded decision if each class was a separate problem, otherwise whether the
        predicted label is that class. `truth` and `decision` are 0 or 1.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        self._check("method", method, self.methods)
        return decision_frame(self._stored.dataset(dataset), self._stored.tested_folds(dataset, method))

    @property
    def n_pending(self) -> int:
        """Number of planned trials without a result."""
        return int(self.outcomes["status"].isna().sum())

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The failed trials: coordinates, status, error."""
        return failed_trials(self.outcomes)

    @property
    def scores(self) -> pd.DataFrame:
        """One row per dataset and method: mean, sd, number of folds planned and completed, of the first metric."""
        return self._comparisons.scores(self.settings, self._decisions)

    @cached_property
    def companions(self) -> pd.DataFrame:
        """Scores by further metrics, if the first is accuracy and one class has more than 65 % of the rows."""
        return companion_scores(self.compared, self.settings, self.measured, self.largest_classes)

    @cached_property
    def published(self) -> pd.DataFrame:
        """One row per published figure with a matching cell in this run: ours, published, difference, verdict."""
        metrics = {name: table.metric for name, table in self.meta.published.tables.items()}
        return compare_with_published(self.outcomes, self.meta.published.figures, metrics, self._stored.datasets)

    @cached_property
    def published_counts(self) -> pd.DataFrame:
        """One row per printed count of wins, ties and losses: the papers' and ours under the papers' rule."""
        recorded, present = self.meta.published, set(self.outcomes["method"])
        # A paper's counts are shown beside any default metric, but not beside one chosen by the reader.
        tables = {name for name, table in recorded.tables.items() if self.metric in (None, table.metric)}
        counts = [c for c in recorded.counts if c.table in tables and {c.reference, c.method} <= present]
        return compare_counts(counts, recorded.figures, lambda reference: self.wins_ties_losses(reference=reference))

    def compare_rounds(self, reference: str | None = None) -> pd.DataFrame:
        """Return the reference against each method, dataset and figure of ``ground-truth``, paired by round.

        Parameters
        ----------
        reference : str or None, default=None
            A method; None means the suite's.
        """
        reference = self.settings.reference if reference is None else reference
        if not self.detects or reference is None:
            return pd.DataFrame(columns=detection.PAIRED_COLUMNS)
        self._check("method", reference, self.methods)
        trials = on_common_folds(self.trials, self.common_folds)
        return detection.compare_rounds(trials, reference, self.meta.scores, self.settings.alpha)

    def summary(self, **changes: Any) -> pd.DataFrame:
        """Return one row per method: mean score, average rank, wins/ties/losses of the reference, time, failures.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
            ``missing``.
        """
        settings = self._changed(changes)
        return self._comparisons.summary(settings, self._decisions, self._dummies(settings)).copy()

    def wins_ties_losses(self, **changes: Any) -> pd.DataFrame:
        """Return how often the reference wins, ties and loses against each method, dataset by dataset.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
            ``missing``.
        """
        return self._comparisons.verdicts(self._changed(changes), self._decisions).copy()

    def overall(self, **changes: Any) -> Overall:
        """Return all datasets together: ranks, Friedman, Nemenyi, Wilcoxon with Holm, Bayesian signed ranks.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``alpha``, ``metric``, ``rope``, ``missing``.
        """
        settings = self._changed(changes)
        return self._comparisons.overall(settings, self._decisions, self._dummies(settings), self.meta.seed)

    def power(
        self, difference: float, *, power: float = POWER, methods: Sequence[str] | None = None, **changes: Any
    ) -> Power:
        """Return the differences that the run can detect, and the repeats, rows and datasets that a given one needs.

        Parameters
        ----------
        difference : float
            The difference to detect, in metric units: 0.01 is one percentage point of accuracy. For a metric in units
            of the target, it is a share of the target's standard deviation.
        power : float, default=0.8
            The probability of detecting it.
        methods : sequence of str or None, default=None
            Methods to compare with the reference; None means all others.
        **changes
            Override `settings`: ``reference``, ``alpha``, ``metric``.

        Raises
        ------
        UsageError
            If a name or a number is not valid, or no comparison has a spread to plan from.
        """
        settings = self._changed(changes)
        for name in (settings.reference, *(methods or ())):
            self._check("method", str(name), self.methods)
        compared = others_of(list(self.methods), settings.reference, methods)
        rows, overall = {d["label"]: d["n_samples"] for d in self._stored.datasets}, self.overall(**changes)
        return power_analysis(self.compared, overall, settings, compared, rows, difference, power, self._decisions)

    @cached_property
    def time_ratios(self) -> pd.DataFrame:
        """Time of each method relative to the fastest on each dataset: tuning, selecting, fitting and predicting.

        Infinite where a trial failed. Datasets with pending trials are omitted.
        """
        return performance_ratios(time_table(self.compared))

    @cached_property
    def curve_means(self) -> pd.DataFrame:
        """One row per dataset, method, metric and number of features: mean score with its interval, mean seconds."""
        return mean_curves(self._compared_curves, self.settings)

    @cached_property
    def curve_rankings(self) -> pd.DataFrame:
        """One row per dataset, method and number of features: stability and, with known truth, precision and recall."""
        cells = self.curve_means.groupby(["dataset", "method"], sort=False)["size"]
        grouped = self.meta.feature_groups  # there a size counts groups, while weights are those of features
        sizes = {(str(label), str(method)): own.unique() for (label, method), own in cells if label not in grouped}
        rows = self._stored.rows_with(("status", "weights")) if sizes else []
        common = (row for row in rows if is_common(row, self.common_folds))
        return ranking_figures(common, sizes, {label: self.relevant(label) for label, _ in sizes}, self.meta.weighted)

    @cached_property
    def curve_summary(self) -> pd.DataFrame:
        """One row per dataset and method with a curve: areas, sufficient sizes, and figures at these sizes."""
        # A method whose trials all failed has no stored curve.
        curved = {*self.meta.curves, *self.curves["method"]}
        classifiers = classifiers_of(self.methods, self.meta.classifiers, curved)
        curves, areas = self._compared_curves, self._compared_areas
        return curve_summary(curves, areas, self.curve_rankings, classifiers, self.curve_settings)

    @cached_property
    def curve_overview(self) -> pd.DataFrame:
        """One row per method with a curve: areas, ranks and sizes over all datasets, classifier by classifier."""
        settings = self.curve_settings
        dummies = self._dummies(settings) if len(self.curve_summary) else {}
        return curve_overview(self.curve_summary, self._compared_areas, settings, dummies)

    @cached_property
    def curve_settings(self) -> ComparisonSettings:
        """`settings` with the first measured curve metric, which areas and sizes refer to."""
        return self.settings if self._curve_metric is None else self.settings.replace(metric=self._curve_metric)

    @cached_property
    def _curve_metric(self) -> str | None:
        measured = set(self.curves["metric"].unique())
        return next((metric for metric in self.metrics if metric in measured), None)

    @cached_property
    def _compared_curves(self) -> pd.DataFrame:
        curves = self._compared(self.curves.rename(columns={"replicate": "repeat"}))
        return curves.rename(columns={"repeat": "replicate"})

    @cached_property
    def _compared_areas(self) -> pd.DataFrame:
        return self._compared(frame_of(self._stored.columns, AREAS))

    def _compared(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = on_common_folds(frame, self.common_folds)
        return rows_on(frame, self.outcomes["dataset"].unique()) if len(frame) else frame

    @property
    def equal_methods(self) -> list[list[str]]:
        """Lists of two or more methods of this run that the suite declares equal by construction."""
        lists = [[method for method in equal if method in self.methods] for equal in self.meta.report.equal]
        return [methods for methods in lists if len(methods) > 1]

    @property
    def equal_pairs(self) -> list[list[str]]:
        """The first two methods of each list of `equal_methods`."""
        return [methods[:2] for methods in self.equal_methods]

    @cached_property
    def rejections(self) -> pd.DataFrame:
        """How often each rule rejects for `equal_pairs`, by design of the data, also where reports give no verdict."""
        settings = self.settings.replace(own_ratios=tuple((key, own.ratio) for key, own in self.meta.splits.items()))
        return rejections(self.compared, settings, self.equal_pairs, self._designs, self._decisions)

    @cached_property
    def worse_than_best(self) -> pd.DataFrame:
        """How often one of `equal_methods` is called significantly worse than the best."""
        return worse_than_best(self.compared, self.settings, self.equal_methods, self._designs)

    @property
    def _designs(self) -> dict[str, str]:
        return {str(label): design_of(str(label)) for label in self.outcomes["dataset"].unique()}

    def _decisions(self, dataset: str, method: str) -> list[NDArray[np.bool_]]:
        folds = self.common_folds.get(dataset)
        return self.decisions(dataset, method) if folds is None else self.decisions(dataset, method, folds)

    def _dummies(self, settings: ComparisonSettings) -> dict[str, float]:
        # A dummy scores the same at every number of features, so its score is also its area.
        metric = (self._curve_metric if settings.metric in AREAS else None) or settings.metric
        if settings.missing != "impute-dummy":
            return {}
        if self.detects:
            raise UsageError(f"missing = 'impute-dummy' needs a score of predictions, and {metric} is not one")
        return dummy_scores(self._stored.datasets, metric, self.meta.task.name)

    def _changed(self, changes: dict[str, Any]) -> ComparisonSettings:
        self._check("metric", changes.get("metric", self.metrics[0]), self.metrics)
        return self.settings.replace(**changes)

    def _check(self, kind: str, name: str | None, names: Collection[str]) -> None:
        if name is not None and name not in names:
            raise UnknownNameError(kind, name, names, owner="this run")
