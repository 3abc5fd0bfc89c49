"""A stored run as pandas frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
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
from mfbench.analysis.one_dataset.calibration import design_of, rejections
from mfbench.analysis.outcomes import COLUMNS as PLAIN
from mfbench.analysis.outcomes import PLACE, Correctness, frame_of
from mfbench.analysis.predictions import TestedFold, decision_frame, prediction_frame
from mfbench.analysis.published import compare_with_published
from mfbench.analysis.selection import pick_candidates
from mfbench.analysis.settings import ComparisonSettings
from mfbench.analysis.sizes import dataset_frame, size_frame
from mfbench.analysis.stability import selected_features
from mfbench.analysis.summary import compare_with_reference, complete_table, summarise, tabulate, time_table
from mfbench.analysis.timing import timing_exponents, timing_profile
from mfbench.errors import RunError, UnknownNameError, UsageError
from mfbench.run.store import RESULT_COLUMNS, Store, StoredSplit
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
        Goes over the suite's reference, if set.
    meta : RunMetadata
        Suite, protocol, profile, methods and environment as recorded when the run last started.
    left_out : dict of str to str
        Datasets that could not be used, with the reason.
    unavailable : dict of str to Unavailable
        Those of them that were nowhere to be found, which is no failure: another run may have them.

    Raises
    ------
    RunError
        If the folder holds no readable run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reference: str | None = None
        with Store(path, read_only=True) as store:
            self.meta = store.meta()
            self.left_out = store.left_out()
            self.unavailable = store.unavailable()
            self._datasets = store.datasets()
            self._chosen, self._table = self._read(store)
        self._summaries: dict[ComparisonSettings, pd.DataFrame] = {}
        self._comparisons: dict[ComparisonSettings, Overall] = {}

    def _read(self, store: Store) -> tuple[list[dict[str, Any]], dict[str, list[Any]]]:
        """Return the rows whose results are those of a chosen grid point, and all rows as columns, without arrays.

        Weights, selections and predictions are by far the most of a store, and most reports need none of them.
        """
        if not store.has_candidates():
            return [], store.table(PLAIN)
        rows = self._picked(store.rows((*PLAIN, "candidates")))
        chosen = [row for row in rows if "predictions" in row]
        return chosen, {name: [row[name] for row in rows] for name in (*PLACE, "key", *PLAIN)}

    def _picked(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        first = self.metrics[0]
        return pick_candidates(rows, first, greater_is_better=SCORES[first].greater_is_better)

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        """Every planned trial with all that is stored of it."""
        with self._reopened() as store:
            return self._picked(store.rows())

    @contextmanager
    def _reopened(self) -> Iterator[Store]:
        """Open the store for what is read late; after another start of the suite it may tell of other trials."""
        with Store(self.path, read_only=True) as store:
            if store.table(())["key"] != self._table["key"]:
                raise RunError(f"the trials in {self.path} were planned anew after this run was loaded; load it again")
            yield store

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per planned trial: coordinates, status (None: not run yet), times, scores as columns, arrays."""
        names = [name for name in (*PLACE, "key", "seed", *RESULT_COLUMNS) if name != "candidates"]
        return frame_of({name: [row[name] for row in self._rows] for name in names}, self._measured)

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """The plain columns of `trials`: all that statistics need, in a tenth of the memory."""
        return frame_of(self._table, self._measured)

    @cached_property
    def decisions(self) -> Correctness:
        """Call it with the labels of a dataset and a method: which test rows of each fold were right."""
        with self._reopened() as store:
            return Correctness(store, self._datasets, self.meta.protocol_key, self._chosen)

    @cached_property
    def datasets(self) -> pd.DataFrame:
        """One row per dataset: label, shape, trivial accuracy, class names and counts, content hash, source.

        ``trivial_accuracy`` is what always giving the same answer scores on the whole dataset: the share of the largest
        class or, where the run's first metric is ``one_vs_rest_accuracy``, the mean over classes of the larger of a
        class's share and the rest's.
        """
        return dataset_frame(self._datasets, self.metrics[0])

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per dataset and method: mean, sd, number of folds planned and completed, of the first metric."""
        return tabulate(self.outcomes, self.settings, self._decisions)

    @property
    def largest_classes(self) -> dict[str, float]:
        """Share of the largest class in the rows of each dataset."""
        return {d["label"]: float(np.bincount(d["truth"]).max() / len(d["truth"])) for d in self._datasets}

    @cached_property
    def companions(self) -> pd.DataFrame:
        """Other scores than the first metric, where that is accuracy and one class has more than 65 % of the rows."""
        return companion_scores(self.outcomes, self.settings, self._measured, self.largest_classes)

    @cached_property
    def published(self) -> pd.DataFrame:
        """One row per published figure that is about a cell of this run: ours, published, difference, verdict."""
        metrics = {name: table.metric for name, table in self.meta.published.tables.items()}
        return compare_with_published(self.outcomes, self.meta.published.figures, metrics, self.settings.ratio)

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """One row per trial and pair of features that its method spoke of: weight, share of the norm, p-value, rank."""
        with self._reopened() as store:
            # Only what was chosen by all folds has to be read with everything else.
            rows = self._rows if store.has_candidates() else store.rows(("interactions",))
            return interaction_frame(rows, self._datasets)

    @cached_property
    def true_interactions(self) -> pd.DataFrame:
        """One row per dataset with known interactions and method that speaks of pairs: share, p-value, rank."""
        known = any(dataset["interactions"] for dataset in self._datasets)
        return true_interactions(self.interactions if known else interaction_frame([], []))

    @cached_property
    def selected(self) -> pd.DataFrame:
        """One row per dataset and method: how many features its folds used, and how much they agree on which."""
        sizes = {d["label"]: d["n_features"] for d in self._datasets}
        with self._reopened() as store:
            rows = self._rows if store.has_candidates() else store.rows(("status", "n_selected", "selected"))
            return selected_features(rows, sizes)

    @property
    def detects(self) -> bool:
        """Whether selectors were measured against known relevant features, and nothing was predicted."""
        return not KINDS[self.meta.protocol.kind].predicts

    @cached_property
    def detection(self) -> pd.DataFrame:
        """One row per dataset, method and figure of ``ground-truth``: mean over rounds with its interval."""
        if not self.detects:
            return pd.DataFrame(columns=COLUMNS)
        sizes = {d["label"]: d["n_features"] for d in self._datasets}
        return detection_frame(self.trials, sizes, self.meta.report.alpha)

    def relevant(self, dataset: str) -> list[int]:
        """Return the numbers of the features known to be relevant in a dataset; empty if nothing is known."""
        known = next((d for d in self._datasets if d["label"] == dataset), None)
        if known is None:
            raise UnknownNameError("dataset of this run", dataset, [d["label"] for d in self._datasets])
        return list(known["relevant"] or ())

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
        if reference not in self.methods:
            raise UnknownNameError("method of this run", reference, self.methods)
        return compare_rounds(self.trials, reference, alpha=self.settings.alpha)

    @property
    def metrics(self) -> list[str]:
        """The protocol's metrics; the first one decides."""
        return list(self.meta.protocol.metrics)

    @property
    def _measured(self) -> list[str]:
        """What trials were scored by: of ground-truth all figures, whichever the suite names."""
        return list(KINDS[self.meta.protocol.kind].metrics) if self.detects else self.metrics

    @property
    def protocol(self) -> EvaluationProtocol:
        """How rows were split."""
        return make_protocol(self.meta.protocol.model_dump(), self.meta.seed)

    @property
    def tuned(self) -> dict[str, str]:
        """Methods that tune, each with who chooses: "nested" or "per-dataset"."""
        return dict(self.meta.selection)

    @property
    def methods(self) -> dict[str, str]:
        """What each label stands for, in the suite's order."""
        return dict(self.meta.methods)

    @property
    def settings(self) -> ComparisonSettings:
        """How results are compared, from the suite's ``[report]``."""
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
            Go over `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
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
            Go over `settings`: ``reference``, ``test``, ``published_test``, ``alpha``, ``metric``, ``rope``,
            ``missing``.
        """
        return compare_with_reference(self.outcomes, self._changed(changes), self._decisions)

    def overall(self, **changes: Any) -> Overall:
        """Return all datasets together: ranks, Friedman, Nemenyi, Wilcoxon with Holm, Bayesian signed ranks.

        Parameters
        ----------
        **changes
            Go over `settings`: ``reference``, ``alpha``, ``metric``, ``rope``, ``missing``.
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

    @cached_property
    def time_ratios(self) -> pd.DataFrame:
        """Time of each method over the fastest on each dataset: tuning, selecting, fitting and predicting.

        Infinite where a trial did not end well; a dataset with trials that have not run is left out.
        """
        return performance_ratios(time_table(self.outcomes))

    @property
    def equal_pairs(self) -> list[list[str]]:
        """Pairs of methods of this run that the suite says are equal by construction."""
        return [list(pair) for pair in self.meta.report.equal if set(pair) <= set(self.methods)]

    @cached_property
    def rejections(self) -> pd.DataFrame:
        """How often each rule tells those pairs apart, over the datasets that are draws of one design."""
        groups = {str(label): design_of(str(label)) for label in self.outcomes["dataset"].unique()}
        return rejections(self.outcomes, self.settings, self.equal_pairs, groups, self._decisions)

    @property
    def folds_per_dataset(self) -> int:
        """Test sets that a method meets on each dataset; the largest number of them."""
        counts = self.outcomes.groupby(["dataset", "method"], sort=False).size()
        return int(counts.max()) if len(counts) else 0

    def _decisions(self, dataset: str, method: str) -> list[NDArray[np.bool_]]:
        return self.decisions(dataset, method)

    def _dummies(self, settings: ComparisonSettings) -> dict[str, float]:
        if settings.missing != "impute-dummy":
            return {}
        if settings.metric not in METRICS:
            raise UsageError(f"missing = 'impute-dummy' needs a score of predictions; {settings.metric} is none")
        return {d["label"]: dummy_score(d["truth"], settings.metric) for d in self._datasets}

    def _changed(self, changes: dict[str, Any]) -> ComparisonSettings:
        if changes.get("metric", self.metrics[0]) not in self.metrics:
            raise UnknownNameError("metric of this run", changes["metric"], self.metrics)
        return self.settings.replace(**changes)

    @cached_property
    def sizes(self) -> pd.DataFrame:
        """One row per dataset, repeat and fold: how many rows train, choose and are tested, and how many features."""
        return size_frame((known["label"], self._splits(known)) for known in self._datasets)

    @cached_property
    def timing(self) -> pd.DataFrame:
        """One row per dataset and method: seconds to fit at the largest size, exponents in rows and in features.

        They mean something for the protocol ``timing`` alone.
        """
        return timing_exponents(timing_profile(self.outcomes, self.sizes))

    def _splits(self, known: dict[str, Any]) -> dict[tuple[int, int], StoredSplit]:
        with Store(self.path, read_only=True) as store:
            return store.splits(known["sha256"], f"{self.meta.protocol_key}:{known['label']}")

    def predictions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        return prediction_frame(*self._tested(dataset, method))

    def binary_decisions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every binary decision: columns repeat, fold, row, class, truth, decision.

        With two classes there is one decision for each test row, whether it is of the second class. With more there is
        one for each test row and class: what was decided where each class was a problem of its own, or else whether the
        predicted label is that class. `truth` and `decision` are 0 or 1.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        return decision_frame(*self._tested(dataset, method))

    def _tested(self, dataset: str, method: str) -> tuple[dict[str, Any], list[TestedFold]]:
        """Return a dataset, and each fold of it that a method predicted."""
        if method not in self.methods:
            raise UnknownNameError("method of this run", method, self.methods)
        known = next((d for d in self._datasets if d["label"] == dataset), None)
        if known is None:
            raise UnknownNameError("dataset of this run", dataset, [d["label"] for d in self._datasets])
        splits = self._splits(known)
        rows = [row for row in self._rows if (row["dataset"], row["method"]) == (dataset, method)]
        return known, [
            TestedFold(row["repeat"], row["fold"], splits[row["repeat"], row["fold"]].test, row)
            for row in rows
            if row["predictions"] is not None
        ]

    @property
    def n_pending(self) -> int:
        """Number of planned trials without a result."""
        return int(self.outcomes["status"].isna().sum())

    @property
    def failures(self) -> pd.DataFrame:
        """Trials that did not end well: coordinates, status, error."""
        trials = self.outcomes
        failed = trials[trials["status"].notna() & (trials["status"] != "ok")]
        return failed[["dataset", "method", "repeat", "fold", "status", "error_type", "error_message"]].reset_index(
            drop=True
        )
