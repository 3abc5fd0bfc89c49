"""A stored run as pandas frames."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.analysis.across_datasets.missing import dummy_score
from mfbench.analysis.across_datasets.overall import Overall
from mfbench.analysis.across_datasets.profiles import performance_ratios
from mfbench.analysis.companions import companion_scores
from mfbench.analysis.detection import COLUMNS, PAIRED_COLUMNS, compare_rounds, detection_frame
from mfbench.analysis.interactions import interaction_frame, true_interactions
from mfbench.analysis.one_dataset.calibration import design_of, rejections, worse_than_best
from mfbench.analysis.one_dataset.power import POWER
from mfbench.analysis.outcomes import COORDINATES, Correctness, frame_of
from mfbench.analysis.power import Power, power_analysis
from mfbench.analysis.predictions import decision_frame, prediction_frame
from mfbench.analysis.published import compare_counts, compare_with_published
from mfbench.analysis.settings import ComparisonSettings
from mfbench.analysis.sizes import dataset_frame, size_frame
from mfbench.analysis.stability import selected_features
from mfbench.analysis.stored import StoredRun
from mfbench.analysis.summary import compare_with_reference, complete_table, summarise, tabulate, time_table
from mfbench.analysis.timing import timing_exponents, timing_profile
from mfbench.errors import UnknownNameError, UsageError
from mfbench.run.store import RESULT_COLUMNS
from mfbench.run.trial.metrics import METRICS, SCORES
from mfbench.suite.forms import KINDS
from mfbench.suite.protocols import EvaluationProtocol, make_protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Run:
    """A run's results, read from its folder.

    Parameters
    ----------
    path : Path
        The run folder.

    Attributes
    ----------
    path : Path
    reference : str or None
        Overrides the suite's reference if set.
    meta : RunMetadata
        Suite, protocol, profile, methods and environment as recorded when the run last started.
    left_out : dict of str to str
        Datasets that could not be used, with the reason.
    unavailable : dict of str to Unavailable
        Those of them that could not be obtained on this machine. That is not a failure: another run may have them.

    Raises
    ------
    RunError
        If the folder holds no readable run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reference: str | None = None
        self._stored = StoredRun(path)
        self.meta = self._stored.meta
        self.left_out = self._stored.left_out
        self.unavailable = self._stored.unavailable
        self._summaries: dict[ComparisonSettings, pd.DataFrame] = {}
        self._comparisons: dict[ComparisonSettings, Overall] = {}

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per planned trial: coordinates, status (None: not run yet), times, scores as columns, arrays."""
        names = [name for name in (*COORDINATES, "key", "seed", *RESULT_COLUMNS) if name != "candidates"]
        return frame_of({name: [row[name] for row in self._stored.rows] for name in names}, self.measured)

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """The plain columns of `trials`: all that statistics need, in a tenth of the memory."""
        return frame_of(self._stored.columns, self.measured)

    @cached_property
    def decisions(self) -> Correctness:
        """Call it with the labels of a dataset and a method for the test rows of each fold that were right."""
        return self._stored.correctness()

    @cached_property
    def datasets(self) -> pd.DataFrame:
        """One row per dataset: label, shape, trivial accuracy, class names and counts, content hash, source.

        ``trivial_accuracy`` is what always giving the same answer scores on the whole dataset: the share of the largest
        class or, where the run's first metric is ``one_vs_rest_accuracy``, the mean over classes of the larger of a
        class's share and the rest's.
        """
        return dataset_frame(self._stored.datasets, self.metrics[0])

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per dataset and method: mean, sd, number of folds planned and completed, of the first metric."""
        return tabulate(self.outcomes, self.settings, self._decisions)

    @property
    def largest_classes(self) -> dict[str, float]:
        """Share of the largest class in the rows of each dataset."""
        return {d["label"]: float(np.bincount(d["truth"]).max() / len(d["truth"])) for d in self._stored.datasets}

    @cached_property
    def companions(self) -> pd.DataFrame:
        """Other scores than the first metric, where that is accuracy and one class has more than 65 % of the rows."""
        return companion_scores(self.outcomes, self.settings, self.measured, self.largest_classes)

    @cached_property
    def published(self) -> pd.DataFrame:
        """One row per published figure that is about a cell of this run: ours, published, difference, verdict."""
        metrics = {name: table.metric for name, table in self.meta.published.tables.items()}
        return compare_with_published(self.outcomes, self.meta.published.figures, metrics, self.settings.ratio)

    @cached_property
    def published_counts(self) -> pd.DataFrame:
        """One row per printed count of wins, ties and losses: the papers' and ours by the papers' rule."""
        recorded, present = self.meta.published, set(self.outcomes["method"])
        counts = [count for count in recorded.counts if {count.reference, count.method} <= present]
        return compare_counts(counts, recorded.figures, lambda reference: self.wins_ties_losses(reference=reference))

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """One row per trial and pair of features that its method weighs: weight, share of the norm, p-value, rank."""
        return interaction_frame(self._stored.rows_with(("interactions",)), self._stored.datasets)

    @cached_property
    def true_interactions(self) -> pd.DataFrame:
        """One row per dataset with true interactions and method that weighs pairs: share, p-value, rank."""
        has_truth = any(dataset["interactions"] for dataset in self._stored.datasets)
        return true_interactions(self.interactions if has_truth else interaction_frame([], []))

    @cached_property
    def selected(self) -> pd.DataFrame:
        """One row per dataset and method: number of features that its folds use, and how well the folds agree."""
        sizes = {d["label"]: d["n_features"] for d in self._stored.datasets}
        return selected_features(self._stored.rows_with(("status", "n_selected", "selected")), sizes)

    @property
    def detects(self) -> bool:
        """Whether the run measured selectors against ground truth and predicted nothing."""
        return not KINDS[self.meta.protocol.kind].predicts

    @cached_property
    def detection(self) -> pd.DataFrame:
        """One row per dataset, method and figure of ``ground-truth``: mean over rounds with its interval."""
        if not self.detects:
            return pd.DataFrame(columns=COLUMNS)
        sizes = {d["label"]: d["n_features"] for d in self._stored.datasets}
        return detection_frame(self.trials, sizes, self.meta.report.alpha)

    def relevant(self, dataset: str) -> list[int]:
        """Return the column numbers of a dataset's relevant features; empty without ground truth."""
        return list(self._stored.dataset(dataset)["relevant"] or ())

    @property
    def collections(self) -> dict[str, list[str]]:
        """The datasets of this run that belong to each collection, such as those of a paper, by its name."""
        found: dict[str, list[str]] = {}
        for dataset in self._stored.datasets:
            for name in dataset["collections"] or {}:
                found.setdefault(str(name), []).append(dataset["label"])
        return found

    def feature_names(self, dataset: str) -> list[str]:
        """Return the names of a dataset's features."""
        return [str(name) for name in self._stored.dataset(dataset)["feature_names"]]

    def selections(self, dataset: str, methods: Sequence[str]) -> pd.DataFrame:
        """Return method and selected features (column numbers) of each successful trial on a dataset."""
        frame = self._selections.get(dataset, pd.DataFrame(columns=["method", "selected"]))
        return frame[frame["method"].isin(list(methods))].reset_index(drop=True)

    @cached_property
    def _selections(self) -> dict[str, pd.DataFrame]:
        rows: dict[str, list[tuple[str, Any]]] = {}
        for row in self._stored.rows_with(("status", "selected")):
            if row["selected"] is not None:
                rows.setdefault(row["dataset"], []).append((row["method"], row["selected"]))
        return {dataset: pd.DataFrame(own, columns=["method", "selected"]) for dataset, own in rows.items()}

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
        return compare_rounds(self.trials, reference, alpha=self.settings.alpha)

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
        part = Run(self.path)
        part.reference = self.reference
        part.__dict__["outcomes"] = self.outcomes[self.outcomes["dataset"].isin(list(datasets))].reset_index(drop=True)
        return part

    @property
    def metrics(self) -> list[str]:
        """The protocol's metrics; the first one decides."""
        return list(self.meta.protocol.metrics)

    @property
    def measured(self) -> list[str]:
        """The scores of a trial: all detection scores for ``ground-truth``, whichever the suite names."""
        return list(KINDS[self.meta.protocol.kind].metrics) if self.detects else self.metrics

    @property
    def protocol(self) -> EvaluationProtocol:
        """The protocol that split the rows."""
        return make_protocol(self.meta.protocol.model_dump(), self.meta.seed)

    @property
    def tuned(self) -> dict[str, str]:
        """Methods that are tuned, and how their parameters are selected: "nested" or "per-dataset"."""
        return dict(self.meta.selection)

    @property
    def methods(self) -> dict[str, str]:
        """What each label stands for, in the suite's order."""
        return dict(self.meta.methods)

    @property
    def settings(self) -> ComparisonSettings:
        """The settings of comparisons, from the suite's ``[report]``."""
        report = self.meta.report
        metric = self.metrics[0]
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
            self._summaries[settings] = summarise(self.outcomes, settings, self._decisions, dummies)
        return self._summaries[settings].copy()

    def wins_ties_losses(self, **changes: Any) -> pd.DataFrame:
        """Return how often the reference wins, ties and loses against each method, dataset by dataset.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
            ``missing``.
        """
        return compare_with_reference(self.outcomes, self._changed(changes), self._decisions)

    def overall(self, **changes: Any) -> Overall:
        """Return all datasets together: ranks, Friedman, Nemenyi, Wilcoxon with Holm, Bayesian signed ranks.

        Parameters
        ----------
        **changes
            Override `settings`: ``reference``, ``alpha``, ``metric``, ``rope``, ``missing``.
        """
        settings = self._changed(changes)
        if settings not in self._comparisons:
            scores = self.scores if settings == self.settings else tabulate(self.outcomes, settings, self._decisions)
            completed = complete_table(scores, self.outcomes, settings, self._dummies(settings))
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
        return power_analysis(self.outcomes, overall, settings, compared, rows, difference, power, self._decisions)

    @cached_property
    def time_ratios(self) -> pd.DataFrame:
        """Time of each method relative to the fastest on each dataset: tuning, selecting, fitting and predicting.

        Infinite where a trial failed. A dataset with trials that have not run yet is left out.
        """
        return performance_ratios(time_table(self.outcomes))

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
        return rejections(self.outcomes, self.settings, self.equal_pairs, self._designs, self._decisions)

    @cached_property
    def worse_than_best(self) -> pd.DataFrame:
        """How often one of several methods of `equal_methods` is called significantly worse than the best of them."""
        return worse_than_best(self.outcomes, self.settings, self.equal_methods, self._designs)

    @property
    def _designs(self) -> dict[str, str]:
        return {str(label): design_of(str(label)) for label in self.outcomes["dataset"].unique()}

    @property
    def folds_per_dataset(self) -> int:
        """The largest number of folds that a method has on a dataset."""
        counts = self.outcomes.groupby(["dataset", "method"], sort=False).size()
        return int(counts.max()) if len(counts) else 0

    def _decisions(self, dataset: str, method: str) -> list[NDArray[np.bool_]]:
        return self.decisions(dataset, method)

    def _dummies(self, settings: ComparisonSettings) -> dict[str, float]:
        if settings.missing != "impute-dummy":
            return {}
        if settings.metric not in METRICS:
            raise UsageError(f"missing = 'impute-dummy' needs a score of predictions, and {settings.metric} is not one")
        return {d["label"]: dummy_score(d["truth"], settings.metric) for d in self._stored.datasets}

    def _changed(self, changes: dict[str, Any]) -> ComparisonSettings:
        if changes.get("metric", self.metrics[0]) not in self.metrics:
            raise UnknownNameError("metric", changes["metric"], self.metrics, owner="this run")
        return self.settings.replace(**changes)

    @cached_property
    def sizes(self) -> pd.DataFrame:
        """One row per dataset, repeat and fold: numbers of training, validation and test rows, and of features."""
        return size_frame((dataset["label"], self._stored.splits(dataset)) for dataset in self._stored.datasets)

    def test_rows(self, dataset: str) -> dict[tuple[int, int], NDArray[np.int64]]:
        """Return the test rows of a dataset by (repeat, fold); empty for rounds of generated data.

        Parameters
        ----------
        dataset : str
            A label.
        """
        return {fold: split.test for fold, split in self._stored.splits(self._stored.dataset(dataset)).items()}

    @cached_property
    def timing(self) -> pd.DataFrame:
        """One row per dataset and method: seconds to fit at the largest size, exponents in rows and in features.

        Meaningful for the protocol ``timing`` only.
        """
        return timing_exponents(timing_profile(self.outcomes, self.sizes))

    def predictions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        self._check_method(method)
        return prediction_frame(self._stored.dataset(dataset), self._stored.tested_folds(dataset, method))

    def binary_decisions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every binary decision: columns repeat, fold, row, class, truth, decision.

        With two classes there is one decision per test row: whether it belongs to the second class. With more there is
        one per test row and class: the decision that was made if each class was a problem of its own, otherwise whether
        the predicted label is that class. `truth` and `decision` are 0 or 1.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        self._check_method(method)
        return decision_frame(self._stored.dataset(dataset), self._stored.tested_folds(dataset, method))

    def _check_method(self, method: str) -> None:
        if method not in self.methods:
            raise UnknownNameError("method", method, self.methods, owner="this run")

    @property
    def n_pending(self) -> int:
        """Number of planned trials without a result."""
        return int(self.outcomes["status"].isna().sum())

    @property
    def failures(self) -> pd.DataFrame:
        """The failed trials: coordinates, status, error."""
        trials = self.outcomes
        failed = trials[trials["status"].notna() & (trials["status"] != "ok")]
        return failed[["dataset", "method", "repeat", "fold", "status", "error_type", "error_message"]].reset_index(
            drop=True
        )
