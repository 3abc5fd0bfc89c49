"""A stored run as it was recorded: its trials and datasets as pandas frames, before any comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mfbench.errors import UnknownNameError
from mfbench.run.merge.compatibility import remarks_on_environments
from mfbench.run.reuse import remarks_on_reuse
from mfbench.run.shards import remark_on_share
from mfbench.run.store.integrity import remark_on_damage
from mfbench.run.store.recorded_code import remark_on_keys
from mfbench.run.store.seals import RESULT_COLUMNS
from mfbench.stats.common_folds import Folds, common_folds, coverage, on_common_folds
from mfbench.stats.curves.frame import curve_frame
from mfbench.stats.detection import COLUMNS, detection_frame
from mfbench.stats.interactions import interaction_frame, true_interactions
from mfbench.stats.outcomes import COORDINATES, Correctness, frame_of
from mfbench.stats.predictions import decision_frame, prediction_frame
from mfbench.stats.sizes import dataset_frame, size_frame
from mfbench.stats.stability import selected_features, selection_counts
from mfbench.stats.stored import StoredRun
from mfbench.stats.timing import timing_exponents, timing_profile
from mfbench.suite.forms import KINDS
from mfbench.suite.protocols import EvaluationProtocol, make_protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray


class RecordedRun:
    """What a run folder holds, as frames.

    Parameters
    ----------
    path : Path
        The run folder.

    Attributes
    ----------
    path : Path
    reference : str or None
        Overrides the suite's reference if set.
    metric : str or None
        One of the run's metrics, which takes the place of the first in comparisons and reports if set.
    remarks : sequence of str
        What a reader of the report must know about how the run came about; a sentence each.
    bundle : Path or None
        The bundle that the results were read from; None for a run folder.
    claims : tuple of str
        Names of the bundles that claim results of this run, which nobody has verified here.
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
        self.metric: str | None = None
        self.bundle: Path | None = None
        self.claims: tuple[str, ...] = ()
        self._stored = StoredRun(path)
        self.meta = self._stored.meta
        stored = self._stored.columns
        results = [key for key, status in zip(stored["key"], stored["status"], strict=True) if status is not None]
        self.remarks: Sequence[str] = [
            *remark_on_keys(self.meta.code, bool(results)),
            *self._origin(sum(key is not None for key in stored["key"])),
            *remarks_on_reuse(self.meta.reused, results),
            *remark_on_damage(self._stored.damaged),
        ]
        self.left_out = self._stored.left_out
        self.unavailable = self._stored.unavailable

    def _origin(self, n_planned: int) -> list[str]:
        """Return what a reader must know about a part of a run, and about merged runs."""
        share, others = self.meta.share, self.meta.other_environments
        part = [] if share is None else [remark_on_share(share, self.path, n_planned)]
        return [*part, *(remarks_on_environments([self.meta.environment, *others]) if others else ())]

    def __repr__(self) -> str:
        return f"Run({str(self.bundle or self.path)!r})"

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
    def common_folds(self) -> dict[str, Folds]:
        """The folds on which methods are compared, for each dataset with trials that have not run."""
        return common_folds(self.outcomes)

    @property
    def coverage(self) -> pd.DataFrame:
        """One row per dataset with trials that have not run: folds planned and compared, methods not reached."""
        return coverage(self.outcomes, self.common_folds)

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The rows of `outcomes` that comparisons are made of: all, or those on `common_folds`."""
        return on_common_folds(self.outcomes, self.common_folds)

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
        return dataset_frame(self._stored.datasets, self.metric or self.metrics[0])

    @property
    def largest_classes(self) -> dict[str, float]:
        """Share of the largest class in the rows of each dataset."""
        return {d["label"]: float(np.bincount(d["truth"]).max() / len(d["truth"])) for d in self._stored.datasets}

    @cached_property
    def curves(self) -> pd.DataFrame:
        """One row per trial of a method with a ``curve``, number of features and metric: score and seconds."""
        return curve_frame(self._stored.rows_with(("curve",)) if self._stored.has_curves else ())

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """One row per trial and pair of features that its method weighs: weight, share of the norm, p-value, rank."""
        return interaction_frame(self._stored.rows_having("interactions"), self._stored.datasets)

    @cached_property
    def true_interactions(self) -> pd.DataFrame:
        """One row per dataset with true interactions and method that weighs pairs: share, p-value, rank."""
        has_truth = any(dataset["interactions"] for dataset in self._stored.datasets)
        return true_interactions(self.interactions if has_truth else interaction_frame([], []))

    @property
    def selected(self) -> pd.DataFrame:
        """One row per dataset and method: number of features that its folds use, and how well the folds agree."""
        return self._selections[0]

    @property
    def detects(self) -> bool:
        """Whether the run measured selectors against ground truth and predicted nothing."""
        return not KINDS[self.meta.protocol.kind].predicts

    @cached_property
    def detection(self) -> pd.DataFrame:
        """One row per dataset, method and figure of ``ground-truth``: mean over rounds with its interval."""
        if not self.detects:
            return pd.DataFrame(columns=COLUMNS)
        trials = on_common_folds(self.trials, self.common_folds)
        return detection_frame(trials, self._feature_numbers, self.meta.report.alpha)

    def relevant(self, dataset: str) -> list[int]:
        """Return the column numbers of a dataset's relevant features; empty without ground truth."""
        return list(self._stored.dataset(dataset)["relevant"] or ())

    @property
    def collections(self) -> dict[str, list[str]]:
        """The datasets of this run that belong to each collection, such as those of a paper, by its name."""
        members: dict[str, list[str]] = {}
        for dataset in self._stored.datasets:
            for name in dataset["collections"] or {}:
                members.setdefault(str(name), []).append(dataset["label"])
        return members

    def feature_names(self, dataset: str) -> list[str]:
        """Return the names of a dataset's features."""
        return [str(name) for name in self._stored.dataset(dataset)["feature_names"]]

    @property
    def selection_counts(self) -> dict[tuple[str, str], tuple[NDArray[np.int64], int]]:
        """For each dataset and method: how often each feature was selected, and in how many successful trials."""
        return self._selections[1]

    @property
    def chosen_parameters(self) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
        """Dataset and method of each trial whose parameters were tuned, with the parameters that it chose."""
        for row in self._stored.rows_having("chosen"):
            if row["chosen"]:
                yield (row["dataset"], row["method"]), row["chosen"]

    @property
    def _feature_numbers(self) -> dict[str, int]:
        return {d["label"]: d["n_features"] for d in self._stored.datasets}

    @cached_property
    def _selections(self) -> tuple[pd.DataFrame, dict[tuple[str, str], tuple[NDArray[np.int64], int]]]:
        # The rows of a large run take much memory, so they are read once and not kept.
        rows = self._stored.rows_with(("status", "n_selected", "selected"))
        return selected_features(rows, self._feature_numbers), selection_counts(rows, self._feature_numbers)

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
    def folds_per_dataset(self) -> int:
        """The largest number of folds on which methods are compared on a dataset."""
        counts = self.compared.groupby(["dataset", "method"], sort=False).size()
        return int(counts.max()) if len(counts) else 0

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
