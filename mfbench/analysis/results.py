"""A stored run as pandas frames."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.interactions import interaction_frame, true_interactions
from mfbench.analysis.published import compare_with_published
from mfbench.analysis.selection import pick_candidates
from mfbench.analysis.summary import Settings, compare_with_reference, summarise, tabulate
from mfbench.analysis.timing import timing_exponents, timing_profile
from mfbench.errors import RunError, UnknownNameError
from mfbench.run.metrics import METRICS
from mfbench.run.store import RESULT_COLUMNS, Store, StoredSplit
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
        self._rows = pick_candidates(rows, first, greater_is_better=METRICS[first].greater_is_better)

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
        """One row per dataset: label, shape, trivial accuracy, class names and counts, content hash, source.

        ``trivial_accuracy`` is what always giving the same answer scores on the whole dataset: the share of the largest
        class or, where the run's first metric is ``one_vs_rest_accuracy``, the mean over classes of the larger of a
        class's share and the rest's.
        """
        rows = [
            {
                "dataset": d["label"],
                "n_samples": d["n_samples"],
                "n_features": d["n_features"],
                "trivial_accuracy": _trivial(np.bincount(d["truth"], minlength=len(d["class_names"])), self.metrics[0]),
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
            greater_is_better=METRICS[metric].greater_is_better,
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

    @cached_property
    def sizes(self) -> pd.DataFrame:
        """One row per dataset, repeat and fold: how many rows train, choose and are tested, and how many features."""
        rows = [
            {
                "dataset": known["label"],
                "repeat": repeat,
                "fold": fold,
                "n_train": split.n_train,
                "n_validation": 0 if split.validation is None else len(split.validation),
                "n_test": len(split.test),
                "n_features": split.n_features,
            }
            for known in self._datasets
            for (repeat, fold), split in sorted(self._splits(known).items())
        ]
        columns = ["dataset", "repeat", "fold", "n_train", "n_validation", "n_test", "n_features"]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def timing(self) -> pd.DataFrame:
        """One row per dataset and method: seconds to fit at the largest size, exponents in rows and in features.

        They mean something for the protocol ``timing`` alone.
        """
        return timing_exponents(timing_profile(self.trials, self.sizes))

    def _splits(self, known: dict[str, Any]) -> dict[tuple[int, int], StoredSplit]:
        with Store(self.path, read_only=True) as store:
            return store.splits(known["sha256"], f"{self.meta['protocol_key']}:{known['label']}")

    def predictions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every test row's truth and prediction: columns repeat, fold, row, truth, prediction.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        known, found = self._tested(dataset, method)
        frames = [
            pd.DataFrame({**place, "row": test, "truth": known["truth"][test], "prediction": row["predictions"]})
            for place, test, row in found
        ]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def decisions(self, dataset: str, method: str) -> pd.DataFrame:
        """Return every binary decision: columns repeat, fold, row, class, truth, decision.

        With two classes there is one decision for each test row, whether it is of the second class. With more there is
        one for each test row and class: what was decided where each class was a problem of its own, or else whether the
        predicted label is that class. `truth` and `decision` are 0 or 1.

        Parameters
        ----------
        dataset, method : str
            Labels.
        """
        known, found = self._tested(dataset, method)
        classes = np.arange(len(known["class_names"]))
        if len(classes) == 2:
            classes = classes[1:]
        frames = []
        for place, test, row in found:
            decided = row["decisions"]
            if decided is None:
                decided = (row["predictions"][:, None] == classes).astype(int)
            truth = (known["truth"][test][:, None] == classes).astype(int)
            frames.append(
                pd.DataFrame(
                    {
                        **place,
                        "row": np.repeat(test, len(classes)),
                        "class": np.tile(classes, len(test)),
                        "truth": truth.ravel(),
                        "decision": decided.ravel(),
                    }
                )
            )
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def _tested(self, dataset: str, method: str) -> tuple[dict[str, Any], list[tuple[dict[str, int], Any, Any]]]:
        """Return a dataset, and the place, test rows and result of each fold that a method predicted."""
        if method not in self.methods:
            raise UnknownNameError("method of this run", method, self.methods)
        known = next((d for d in self._datasets if d["label"] == dataset), None)
        if known is None:
            raise UnknownNameError("dataset of this run", dataset, [d["label"] for d in self._datasets])
        splits = self._splits(known)
        rows = [row for row in self._rows if (row["dataset"], row["method"]) == (dataset, method)]
        return known, [
            ({"repeat": row["repeat"], "fold": row["fold"]}, splits[row["repeat"], row["fold"]].test, row)
            for row in rows
            if row["predictions"] is not None
        ]

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


def _trivial(counts: Any, metric: str) -> float:
    shares = counts / counts.sum()
    if metric != "one_vs_rest_accuracy":
        return float(shares.max())
    return float(np.maximum(shares, 1.0 - shares).mean())
