"""A stored run as pandas frames."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.detection import COLUMNS, PAIRED_COLUMNS, compare_rounds, detection_frame
from mfbench.analysis.interactions import interaction_frame, true_interactions
from mfbench.analysis.published import compare_with_published
from mfbench.analysis.selection import pick_candidates
from mfbench.analysis.summary import Settings, compare_with_reference, summarise, tabulate
from mfbench.errors import RunError, UnknownNameError
from mfbench.run.metrics import SCORES
from mfbench.run.store import RESULT_COLUMNS, Store
from mfbench.suite.forms import KINDS
from mfbench.suite.protocols import EvaluationProtocol, make_protocol


class Run:
    """A run's results, read from its folder.

    Parameters
    ----------
    path : Path
        The run folder.

    Attributes
    ----------
    path : Path
    meta : dict
        Suite, protocol, profile, methods and environment as recorded when the run last started.
    left_out : dict of str to str
        Datasets that could not be used, with the reason.
    not_at_hand : list of str
        Those of them that were nowhere to be found, which is no failure: another run may have them.

    Raises
    ------
    RunError
        If the folder holds no readable run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with Store(path, read_only=True) as store:
            self.meta = store.meta()
            self.left_out = store.left_out()
            self.not_at_hand = store.not_at_hand()
            self._datasets = store.datasets()
            rows = list(store.rows())
        if "protocol" not in self.meta:
            raise RunError(f"{path} holds a run that never started completely; give its command again")
        first = self.metrics[0]
        self._rows = pick_candidates(rows, first, greater_is_better=SCORES[first].greater_is_better)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row per planned trial: coordinates, status (None: not run yet), times, scores as columns, arrays."""
        apart = ("scores", "interactions")
        rows = [{**{k: v for k, v in row.items() if k not in apart}, **row["scores"]} for row in self._rows]
        columns = ["dataset", "method", "repeat", "fold", "key", "seed", *RESULT_COLUMNS]
        frame = (
            pd.DataFrame(rows)
            if rows
            else pd.DataFrame(columns=[name for name in columns if name not in (*apart, "candidates")])
        )
        for metric in self.metrics:
            if metric not in frame:
                frame[metric] = np.nan
        return frame

    @cached_property
    def datasets(self) -> pd.DataFrame:
        """One row per dataset: label, shape, class names and counts, content hash, source."""
        rows = [
            {
                "dataset": d["label"],
                "n_samples": d["n_samples"],
                "n_features": d["n_features"],
                "classes": dict(zip(d["class_names"], np.bincount(d["truth"]).tolist(), strict=False)),
                "sha256": d["sha256"],
                "source": d["source"],
            }
            for d in self._datasets
        ]
        return pd.DataFrame(rows)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per dataset and method: mean, sd, number of folds planned and completed, of the first metric."""
        return tabulate(self.trials, self.settings)

    @cached_property
    def published(self) -> pd.DataFrame:
        """One row per published figure that is about a cell of this run: ours, published, difference, verdict."""
        metrics = {name: table["metric"] for name, table in self.meta["published"]["tables"].items()}
        return compare_with_published(self.trials, self.meta["published"]["figures"], metrics, self.settings.ratio)

    @cached_property
    def interactions(self) -> pd.DataFrame:
        """One row per trial and pair of features that its method spoke of: weight, share of the norm, p-value, rank."""
        return interaction_frame(self._rows, self._datasets)

    @cached_property
    def true_interactions(self) -> pd.DataFrame:
        """One row per dataset with known interactions and method that speaks of pairs: share, p-value, rank."""
        return true_interactions(self.interactions)

    @property
    def detects(self) -> bool:
        """Whether selectors were measured against known relevant features, and nothing was predicted."""
        return not KINDS[self.meta["protocol"]["kind"]].predicts

    @cached_property
    def detection(self) -> pd.DataFrame:
        """One row per dataset, method and figure of ``ground-truth``: mean over rounds with its interval."""
        if not self.detects:
            return pd.DataFrame(columns=COLUMNS)
        sizes = {d["label"]: d["n_features"] for d in self._datasets}
        return detection_frame(self.trials, sizes, self.meta["suite"]["report"]["alpha"])

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
        return list(self.meta["protocol"]["metrics"])

    @property
    def protocol(self) -> EvaluationProtocol:
        """How rows were split."""
        return make_protocol(self.meta["protocol"], self.meta["suite"]["suite"]["seed"])

    @property
    def tuned(self) -> dict[str, str]:
        """Methods that tune, each with who chooses: "nested" or "per-dataset"."""
        return dict(self.meta["selection"])

    @property
    def methods(self) -> dict[str, str]:
        """What each label stands for, in the suite's order."""
        return dict(self.meta["methods"])

    @property
    def settings(self) -> Settings:
        """How results are compared, from the suite's ``[report]``."""
        report = self.meta["suite"]["report"]
        metric = self.metrics[0]
        reference = report["reference"]
        if reference not in self.methods:
            reference = next(iter(self.methods), None)
        return Settings(
            metric=metric,
            greater_is_better=SCORES[metric].greater_is_better,
            reference=reference,
            test=report["test"],
            alpha=report["alpha"],
            ratio=self.protocol.test_train_ratio,
        )

    def summary(self, **changes: Any) -> pd.DataFrame:
        """Return one row per method: mean score, average rank, wins/ties/losses of the reference, time, failures.

        Parameters
        ----------
        **changes
            Go over `settings`: ``reference``, ``test``, ``alpha``, ``metric``.
        """
        return summarise(self.trials, self._changed(changes))

    def wins_ties_losses(self, **changes: Any) -> pd.DataFrame:
        """Return how often the reference wins, ties and loses against each method, dataset by dataset.

        Parameters
        ----------
        **changes
            Go over `settings`: ``reference``, ``test``, ``alpha``, ``metric``.
        """
        return compare_with_reference(self.trials, self._changed(changes))

    def _changed(self, changes: dict[str, Any]) -> Settings:
        if changes.get("metric", self.metrics[0]) not in self.metrics:
            raise UnknownNameError("metric of this run", changes["metric"], self.metrics)
        return self.settings.replace(**changes)

    def predictions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        if method not in self.methods:
            raise UnknownNameError("method of this run", method, self.methods)
        known = next((d for d in self._datasets if d["label"] == dataset), None)
        if known is None:
            raise UnknownNameError("dataset of this run", dataset, [d["label"] for d in self._datasets])
        with Store(self.path, read_only=True) as store:
            splits = store.splits(known["sha256"], f"{self.meta['protocol_key']}:{dataset}")
        frames = []
        for row in self._rows:
            if (row["dataset"], row["method"]) == (dataset, method) and row["predictions"] is not None:
                test = splits[row["repeat"], row["fold"]].test
                frames.append(
                    pd.DataFrame(
                        {
                            "repeat": row["repeat"],
                            "fold": row["fold"],
                            "row": test,
                            "truth": known["truth"][test],
                            "prediction": row["predictions"],
                        }
                    )
                )
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    @property
    def n_pending(self) -> int:
        """Number of planned trials without a result."""
        return int(self.trials["status"].isna().sum())

    @property
    def failures(self) -> pd.DataFrame:
        """Trials that did not end well: coordinates, status, error."""
        trials = self.trials
        failed = trials[trials["status"].notna() & (trials["status"] != "ok")]
        return failed[["dataset", "method", "repeat", "fold", "status", "error_type", "error_message"]].reset_index(
            drop=True
        )
