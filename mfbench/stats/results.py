"""A stored run as pandas frames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.errors import UnknownNameError, UsageError
from mfbench.run.trial.metrics import METRICS, SCORES
from mfbench.stats.across_datasets.missing import dummy_score
from mfbench.stats.across_datasets.overall import Overall
from mfbench.stats.across_datasets.profiles import performance_ratios
from mfbench.stats.common_folds import is_common, on_common_folds
from mfbench.stats.companions import companion_scores
from mfbench.stats.curves.means import mean_curves
from mfbench.stats.curves.rankings import ranking_figures
from mfbench.stats.curves.summary import AREAS, classifier_of, curve_overview, curve_summary
from mfbench.stats.detection import PAIRED_COLUMNS, compare_rounds
from mfbench.stats.one_dataset.calibration import design_of, rejections, worse_than_best
from mfbench.stats.one_dataset.power import POWER
from mfbench.stats.outcomes import frame_of
from mfbench.stats.power import Power, power_analysis
from mfbench.stats.published import compare_counts, compare_with_published
from mfbench.stats.recorded import RecordedRun
from mfbench.stats.settings import ComparisonSettings
from mfbench.stats.summary import Made, compare_with_reference, complete_table, summarise, tabulate, time_table
from mfbench.suite.forms import CURVE_METRICS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RESTRICTABLE = (
    "path",
    "bundle",
    "claims",
    "reference",
    "metric",
    "remarks",
    "_stored",
    "meta",
    "left_out",
    "unavailable",
)


class Run(RecordedRun):
    """A run's results, read from its folder, and all comparisons of its methods.

    Parameters
    ----------
    path : Path
        The run folder.

    Raises
    ------
    RunError
        If the folder holds no readable run.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._verdicts: dict[ComparisonSettings, pd.DataFrame] = {}
        self._summaries: dict[ComparisonSettings, pd.DataFrame] = {}
        self._comparisons: dict[ComparisonSettings, Overall] = {}
        self._made: Made = {}

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per dataset and method: mean, sd, number of folds planned and completed, of the first metric."""
        return tabulate(self.compared, self.settings, self._decisions)

    @cached_property
    def companions(self) -> pd.DataFrame:
        """Other scores than the first metric, where that is accuracy and one class has more than 65 % of the rows."""
        return companion_scores(self.compared, self.settings, self.measured, self.largest_classes)

    @cached_property
    def published(self) -> pd.DataFrame:
        """One row per published figure that is about a cell of this run: ours, published, difference, verdict."""
        metrics = {name: table.metric for name, table in self.meta.published.tables.items()}
        return compare_with_published(self.outcomes, self.meta.published.figures, metrics, self.settings.ratio)

    @cached_property
    def published_counts(self) -> pd.DataFrame:
        """One row per printed count of wins, ties and losses: the papers' and ours by the papers' rule."""
        recorded, present = self.meta.published, set(self.outcomes["method"])
        # Whatever the first metric is, the counts of a paper stand beside it; they are not of one that a reader chose.
        tables = {name for name, table in recorded.tables.items() if self.metric in (None, table.metric)}
        counts = [c for c in recorded.counts if c.table in tables and {c.reference, c.method} <= present]
        return compare_counts(counts, recorded.figures, lambda reference: self.wins_ties_losses(reference=reference))

    def compare_rounds(self, reference: str | None = None) -> pd.DataFrame:
        """Return the reference against each method, dataset and figure of ``ground-truth``, paired by round.

        Parameters
        ----------
        reference : str or None, default=None
            A method; None takes the suite's.
        """
        reference = self.settings.reference if reference is None else reference
        if not self.detects or reference is None:
            return pd.DataFrame(columns=PAIRED_COLUMNS)
        self._check_method(reference)
        return compare_rounds(on_common_folds(self.trials, self.common_folds), reference, alpha=self.settings.alpha)

    def restricted(self, datasets: Collection[str]) -> Run:
        """Return this run as if it had only some of its datasets.

        Parameters
        ----------
        datasets : collection of str

        Returns
        -------
        Run
            Outcomes, scores and all comparisons are those of the datasets; `trials` and what is read from the store
            are not restricted.
        """
        part = Run.__new__(Run)
        part.__dict__ |= {name: self.__dict__[name] for name in _RESTRICTABLE}
        part.__dict__["outcomes"] = _rows_on(self.outcomes, datasets)
        # A verdict on a dataset does not depend on the other datasets.
        part.__dict__["scores"] = _rows_on(self.scores, datasets)
        part._verdicts = {settings: _rows_on(frame, datasets) for settings, frame in self._verdicts.items()}
        part._summaries, part._comparisons, part._made = {}, {}, self._made
        if part.settings.reference not in set(part.outcomes["method"]):
            part.reference = next(iter(part.outcomes["method"]), None)
        return part

    @property
    def settings(self) -> ComparisonSettings:
        """The settings of comparisons, from the suite's ``[report]``."""
        report = self.meta.report
        metric = self.metric or self.metrics[0]
        reference = self.reference or report.reference
        if reference not in self.methods:
            reference = next(iter(self.methods), None)
        return ComparisonSettings(
            metric=metric,
            greater_is_better=SCORES[metric].greater_is_better,
            reference=reference,
            test=report.test,
            alpha=report.alpha,
            ratio=self.protocol.test_train_ratio,
            published_test=report.published_test,
            rope=report.rope,
            missing=report.missing,
        )

    def summary(self, **changes: Any) -> pd.DataFrame:
        """Return one row per method: mean score, average rank, wins/ties/losses of the reference, time, failures.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
            ``missing``.
        """
        settings = self._changed(changes)
        if settings not in self._summaries:
            dummies = self._dummies(settings)
            verdicts = self._verdicts_by(settings) if len(self.outcomes) else None
            self._summaries[settings] = summarise(self.compared, settings, self._decisions, dummies, verdicts)
        return self._summaries[settings].copy()

    def wins_ties_losses(self, **changes: Any) -> pd.DataFrame:
        """Return how often the reference wins, ties and loses against each method, dataset by dataset.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
            ``missing``.
        """
        return self._verdicts_by(self._changed(changes)).copy()

    def overall(self, **changes: Any) -> Overall:
        """Return all datasets together: ranks, Friedman, Nemenyi, Wilcoxon with Holm, Bayesian signed ranks.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``alpha``, ``metric``, ``rope``, ``missing``.
        """
        settings = self._changed(changes)
        if settings not in self._comparisons:
            scores = self.scores if settings == self.settings else tabulate(self.compared, settings, self._decisions)
            completed = complete_table(scores, self.compared, settings, self._dummies(settings))
            greater, reference = settings.greater_is_better, settings.reference
            self._comparisons[settings] = Overall(
                completed, greater, reference, settings.alpha, settings.rope, self.meta.seed
            )
        return self._comparisons[settings]

    def power(
        self, difference: float, *, power: float = POWER, methods: Sequence[str] | None = None, **changes: Any
    ) -> Power:
        """Return what the run can see, and the repeats, rows and datasets that a difference of a given size needs.

        Parameters
        ----------
        difference : float
            The size to find, in the unit of the metric: 0.01 is one percentage point of accuracy.
        power : float, default=0.8
            The probability with which to find it.
        methods : sequence of str or None, default=None
            Methods that the reference is compared with; None means all others.
        **changes
            Override `settings`: ``reference``, ``alpha``, ``metric``.

        Raises
        ------
        UsageError
            If a name or a number is not valid, or no comparison has a spread to plan from.
        """
        settings = self._changed(changes)
        for name in (settings.reference, *(methods or ())):
            self._check_method(str(name))
        others = [name for name in self.methods if name != settings.reference]
        if methods is not None and settings.reference in methods:
            raise UsageError(f"{settings.reference} is the reference; name a method to compare it with")
        compared = others if methods is None else list(dict.fromkeys(methods))
        rows = {d["label"]: d["n_samples"] for d in self._stored.datasets}
        overall = self.overall(**changes)
        return power_analysis(self.compared, overall, settings, compared, rows, difference, power, self._decisions)

    @cached_property
    def time_ratios(self) -> pd.DataFrame:
        """Time of each method relative to the fastest on each dataset: tuning, selecting, fitting and predicting.

        Infinite where a trial failed. A dataset with trials that have not run yet is left out.
        """
        return performance_ratios(time_table(self.compared))

    @cached_property
    def curve_means(self) -> pd.DataFrame:
        """One row per dataset, method, metric and number of features: mean score with its interval, mean seconds."""
        return mean_curves(self._compared_curves, self.settings.ratio, self.settings.alpha)

    @cached_property
    def curve_rankings(self) -> pd.DataFrame:
        """One row per dataset, method and number of features: stability and, with known truth, precision and recall."""
        cells = self.curve_means.groupby(["dataset", "method"], sort=False)["size"]
        sizes = {(str(dataset), str(method)): own.unique() for (dataset, method), own in cells}
        rows = self._stored.rows_with(("status", "weights")) if sizes else []
        relevant = {dataset: self.relevant(dataset) for dataset in dict.fromkeys(dataset for dataset, _ in sizes)}
        common = (row for row in rows if is_common(row, self.common_folds))
        return ranking_figures(common, sizes, relevant, self.meta.weighted)

    @cached_property
    def curve_summary(self) -> pd.DataFrame:
        """One row per dataset and method with a curve: areas, sizes that are enough, and figures at that size."""
        # A method whose trials all failed has no curve that is stored.
        curved = {*self.meta.curves, *self.curves["method"]}
        recorded = self.meta.classifiers
        classifiers = {
            label: recorded.get(label) or classifier_of(text) for label, text in self.methods.items() if label in curved
        }
        return curve_summary(
            self._compared_curves, self._compared_areas, self.curve_rankings, classifiers, self.curve_settings
        )

    @cached_property
    def curve_overview(self) -> pd.DataFrame:
        """One row per method with a curve: areas, ranks and sizes over all datasets, classifier by classifier."""
        settings = self.curve_settings
        dummies = self._dummies(settings) if len(self.curve_summary) else {}
        return curve_overview(self.curve_summary, self._compared_areas, settings, dummies)

    @property
    def curve_settings(self) -> ComparisonSettings:
        """`settings` with the metric of the curves that areas and sizes are about: the first one that is measured."""
        return self.settings if self._curve_metric is None else self.settings.replace(metric=self._curve_metric)

    @cached_property
    def _curve_metric(self) -> str | None:
        measured = set(self.curves["metric"].unique())
        return next((metric for metric in self.metrics if metric in measured), None)

    @property
    def _compared_curves(self) -> pd.DataFrame:
        coordinates = {"replicate": "repeat"}
        compared = on_common_folds(self.curves.rename(columns=coordinates), self.common_folds)
        compared = compared.rename(columns={new: old for old, new in coordinates.items()})
        return self._on_compared_datasets(compared)

    @property
    def _compared_areas(self) -> pd.DataFrame:
        areas = on_common_folds(frame_of(self._stored.columns, AREAS), self.common_folds)
        return self._on_compared_datasets(areas)

    def _on_compared_datasets(self, frame: pd.DataFrame) -> pd.DataFrame:
        return _rows_on(frame, self.outcomes["dataset"].unique()) if len(frame) else frame

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
        """How often each rule rejects for the pairs of `equal_pairs`, over datasets drawn from one design."""
        return rejections(self.compared, self.settings, self.equal_pairs, self._designs, self._decisions)

    @cached_property
    def worse_than_best(self) -> pd.DataFrame:
        """How often one of several methods of `equal_methods` is called significantly worse than the best of them."""
        return worse_than_best(self.compared, self.settings, self.equal_methods, self._designs)

    @property
    def _designs(self) -> dict[str, str]:
        return {str(label): design_of(str(label)) for label in self.outcomes["dataset"].unique()}

    def _verdicts_by(self, settings: ComparisonSettings) -> pd.DataFrame:
        if settings not in self._verdicts:
            self._verdicts[settings] = compare_with_reference(self.compared, settings, self._decisions, self._made)
        return self._verdicts[settings]

    def _decisions(self, dataset: str, method: str) -> list[NDArray[np.bool_]]:
        folds = self.common_folds.get(dataset)
        return self.decisions(dataset, method) if folds is None else self.decisions(dataset, method, folds)

    def _dummies(self, settings: ComparisonSettings) -> dict[str, float]:
        if settings.missing != "impute-dummy":
            return {}
        # A dummy has the same score at every number of features, so that this is its area as well.
        metric = self._curve_metric if settings.metric in CURVE_METRICS else settings.metric
        if metric not in METRICS:
            raise UsageError(f"missing = 'impute-dummy' needs a score of predictions, and {settings.metric} is not one")
        return {d["label"]: dummy_score(d["truth"], metric) for d in self._stored.datasets}

    def _changed(self, changes: dict[str, Any]) -> ComparisonSettings:
        if changes.get("metric", self.metrics[0]) not in self.metrics:
            raise UnknownNameError("metric", changes["metric"], self.metrics, owner="this run")
        return self.settings.replace(**changes)


def _rows_on(frame: pd.DataFrame, datasets: Collection[str]) -> pd.DataFrame:
    return frame[frame["dataset"].isin(list(datasets))].reset_index(drop=True)
