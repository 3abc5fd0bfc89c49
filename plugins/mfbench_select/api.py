"""``mfbench.select``: from a table to the answer; the command is a thin layer over it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench import Run
from mfbench.api import Outcome, run_request
from mfbench.api.request import DEFAULT_OUT, Request
from mfbench.base.files import write_text, write_whole
from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.host.expressions import parse
from mfbench.host.registry import Registry, load_registry
from mfbench.run.environment import available_cpus
from mfbench.run.forecast.order import seconds_of
from mfbench.run.runner import Observer
from mfbench.suite.costs import parse_complexity
from mfbench_select.answer import METRICS, Answer, answer_of, has_answer, summary_path
from mfbench_select.pairs import interacting_pairs
from mfbench_select.pipeline import code_of, estimator_of
from mfbench_select.report import lines_of
from mfbench_select.suite import FOLDS, LEARNERS, REPEATS, SELECTORS, Part, Pipeline, pairs_of, pipelines_of, suite_text
from mfbench_select.tables import TidyTable, tidy

BUDGET = "2m"
Pair = tuple[Part, Part]
_PLANNED = 0.6  # share of the budget that forecasts may fill
_STARTUP = 8.0  # seconds of planning, of starting workers and of the report
_TRIAL = 5e-3  # seconds of a trial besides its fits


class Selection:
    """The answer to which features of a table predict its target, how many are enough, and how well.

    Parameters
    ----------
    run : Run
        The run of all pipelines.
    table : TidyTable
        The table as the pipelines saw it.
    registry : Registry
        The plugins.

    Attributes
    ----------
    features : list of (str, float)
        Features in order, each with the share of folds in which the recommended pipeline selected it.
    score : Interval
        What to expect on new rows of the best pipeline, with a 95 % interval: `value`, `low`, `high`.
    answer : Answer
        Everything that was computed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selection = select(X, y, max_trials=200, out=getfixture("tmp_path"))
    >>> 0.85 < selection.score.value < 1.0
    True
    """

    def __init__(self, run: Run, table: TidyTable, registry: Registry) -> None:
        self.run, self.table, self._registry = run, table, registry

    @cached_property
    def answer(self) -> Answer:
        """Everything that was computed."""
        return answer_of(self.run)

    @property
    def features(self) -> list[tuple[str, float]]:
        """Features in order, each with the share of folds that selected it."""
        return self.answer.features

    @property
    def score(self) -> Any:
        """What to expect on new rows, with its interval."""
        return self.answer.score

    @property
    def recommended(self) -> Pipeline:
        """The pipeline to use: the one with enough features if there is one, else the best."""
        answer = self.answer
        if answer.enough is not None and (answer.enough in answer.equals or answer.enough == answer.chosen):
            return answer.enough
        return answer.chosen

    def pipeline(self) -> Any:
        """Return the recommended pipeline as an unfitted scikit-learn estimator for a frame of the features."""
        frame, regression = self.table.frame[self.table.features], self.table.is_regression
        return estimator_of(self.recommended, frame, self._registry, is_regression=regression)

    def code(self) -> str:
        """Return the Python that makes the recommended pipeline."""
        (dataset,) = self.run.datasets["dataset"]
        path = (Path(self.run.path).parent / str(dataset)).as_posix()
        return code_of(self.pipeline(), self.table.frame[self.table.features], path, self.table.target)

    def fitted(self) -> Any:
        """Return the recommended pipeline, fitted to the whole table."""
        return self.pipeline().fit(self.table.frame[self.table.features], self.table.frame[self.table.target])

    def __str__(self) -> str:
        lines = lines_of(self.answer)
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:{width}}  {text}" for name, text in lines)


@dataclass(frozen=True)
class Prepared:
    """A suite that is written but not run."""

    suite: Path
    pipelines: list[Pipeline]
    repeats: int
    left_out: int  # pipelines that did not fit into the budget
    least: list[Pipeline]  # those of the fastest selector and learner
    ends: float  # time of the monotonic clock at which the budget ends
    summary: dict[str, Any]  # what the report states about the table


def select(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    task: str | None = None,
    metric: str | None = None,
    budget: str | float | None = None,
    max_trials: int | None = None,
    category: Sequence[str] = (),
    groups: Any = None,
    name: str = "table",
    jobs: int = 0,
    seed: int = 0,
    out: Path | str = DEFAULT_OUT,
) -> Selection:
    """Find out which features of a table predict its target, how many are enough, and what score to expect.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_rows, n_columns)
        The table; with `target`, the target is one of its columns.
    y : array-like of shape (n_rows,) or None, default=None
        The target: classes or numbers.
    target : str or None, default=None
        The column to predict, instead of `y`.
    task : {"classification", "regression"} or None, default=None
        None decides by the target: numbers with more than ten different values are predicted as numbers.
    metric : {"accuracy", "balanced_accuracy", "r2"} or None, default=None
        None means accuracy for classes, R² for numbers.
    budget : str, float or None, default=None
        Wall time, as "2m" or in seconds; two minutes unless `max_trials` is given.
    max_trials : int or None, default=None
        Number of trials instead of a time, for the same answer on every machine.
    category : sequence of str, default=()
        Columns of numbers that are categories.
    groups : array-like of shape (n_rows,), str or None, default=None
        Rows of one group stay in one part: values, or the name of a column.
    name : str, default="table"
        Name of the run's folder.
    jobs : int, default=0
        Worker processes; 0 means one per processor.
    seed : int, default=0
        Seed of folds and methods.
    out : Path or str, default="reports"
        Folder of the runs.

    Returns
    -------
    Selection
        Printing it shows the answer in about ten lines.

    Raises
    ------
    MfbenchError
        If the table cannot be used; the message lists its problems.

    Notes
    -----
    Five times five folds of up to a hundred pipelines. The interval is that of the selected pipeline: bootstrap
    bias-corrected cross-validation with Wilson's limits at n / 1.45.

    References
    ----------
    I. Tsamardinos, E. Greasidou, G. Borboudakis, "Bootstrapping the out-of-sample predictions for efficient and
    accurate cross-validation", Machine Learning 107, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> print(select(X, y, max_trials=200, out=getfixture("tmp_path")))  # doctest: +ELLIPSIS
    table ...178 rows, 13 features, 3 classes...
    """
    frame = X.copy() if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    frame.columns = [str(column) if isinstance(column, str) else f"x{column}" for column in frame.columns]
    if (y is None) == (target is None):
        raise UsageError("give either y, or the name of the target column of X as 'target'")
    if target is None:
        target = "target" if "target" not in frame else "the target"
        if len(frame) != len(y):
            raise UsageError(f"X has {len(frame)} rows, and y {len(y)} values")
        frame[target] = np.asarray(y)
    columns = {}
    if groups is not None:
        if not isinstance(groups, str):
            frame["the groups"] = np.asarray(groups)
            groups = "the groups"
        columns["groups"] = groups
    table = tidy(frame, target, category=category, kept=tuple(columns.values()), task=task)
    prepared = prepare(
        table, name, out=out, metric=metric, budget=budget, max_trials=max_trials, jobs=jobs, seed=seed, columns=columns
    )
    outcome = run_prepared(prepared, out=out, budget=budget, max_trials=max_trials, jobs=jobs)
    if outcome.interrupt is not None:
        raise outcome.interrupt
    return Selection(outcome.run, table, load_registry())


def prepare(
    table: TidyTable,
    name: str,
    *,
    out: Path | str,
    metric: str | None = None,
    budget: str | float | None = None,
    max_trials: int | None = None,
    jobs: int = 0,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
) -> Prepared:
    """Write the table and the suite; pipelines that do not fit into the time or the number of trials are left out."""
    start = time.monotonic()
    metric = metric or ("r2" if table.is_regression else "accuracy")
    allowed = ("r2",) if table.is_regression else tuple(METRICS)
    if metric not in allowed:
        raise UsageError(f"the metric {metric!r} does not suit: use {' or '.join(allowed)}")
    columns = dict(columns or {})
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50].strip("-") or "table"
    folder = Path(out) / f"select-{stem}"
    with explained(MfbenchError, lambda reason: f"cannot write to {folder}: {reason}", OSError):
        write_whole(folder / f"{stem}.parquet", table.frame.to_parquet(index=False))
    n_features, summary = len(table.features), _summary(table, columns)
    pairs = pairs_of(is_regression=table.is_regression)
    everything = pipelines_of(n_features, pairs)
    if max_trials is not None:
        pipelines, repeats = _within_trials(n_features, pairs, max_trials)
    else:
        seconds = (_budget(budget) - _STARTUP - (time.monotonic() - start)) * _PLANNED
        pipelines, repeats = _within_time(table, pairs, seconds, jobs)
    text = suite_text(
        folder.name,
        name,
        f"{stem}.parquet",
        table.target,
        pipelines,
        is_regression=table.is_regression,
        metric=metric,
        repeats=repeats,
        seed=seed,
        columns=columns,
    )
    write_text(folder / "suite.toml", text)
    least, ends = pipelines_of(n_features, [_fastest(table)]), start + _budget(budget)
    left_out = len(everything) - len(pipelines)
    return Prepared(folder / "suite.toml", pipelines, repeats, left_out, least, ends, summary)


def _budget(budget: str | float | None) -> float:
    return seconds_of(BUDGET if budget is None else budget)


def _summary(table: TidyTable, columns: Mapping[str, str]) -> dict[str, Any]:
    """Return what the report states about the table."""
    frame, goal = table.frame[table.features], table.frame[table.target]
    summary: dict[str, Any] = {
        "taken": table.taken,
        "remarks": table.remarks,
        "missing": float(frame.isna().to_numpy().mean()),
        "has_pairs": frame.shape[1] > 1,
        "pairs": [vars(pair) for pair in interacting_pairs(frame, goal)],
    }
    if table.is_regression:
        summary["range"] = [float(goal.min()), float(goal.max())]
    if "groups" in columns:
        summary["groups"] = pd.factorize(table.frame[columns["groups"]])[0].tolist()
    return summary


def _within_trials(n_features: int, pairs: Sequence[Pair], most: int) -> tuple[list[Pipeline], int]:
    """Return the pipelines and repeats of at most so many trials: first fewer repeats, then fewer pairs."""
    for count in range(len(pairs), 0, -1):
        pipelines = pipelines_of(n_features, pairs[:count])
        repeats = min(REPEATS, most // (FOLDS * len(pipelines)))
        if repeats >= min(3, REPEATS) or (count == 1 and repeats >= 1):
            return pipelines, repeats
    least = FOLDS * len(pipelines_of(n_features, pairs[:1]))
    raise UsageError(f"--max-trials {most} is too few: one selector and learner, five folds once, need {least}")


def _within_time(table: TidyTable, pairs: Sequence[Pair], seconds: float, jobs: int) -> tuple[list[Pipeline], int]:
    """Return the pipelines and repeats that declared costs fit into a time; the fastest pair is always tried."""
    forecast, n_features, kept = _Forecast(table), len(table.features), [_fastest(table)]
    seconds *= jobs or available_cpus()
    for pair in pairs:
        if pair not in kept and forecast(pipelines_of(n_features, [*kept, pair])) <= seconds:
            kept.append(pair)
    pipelines = pipelines_of(n_features, kept)
    return pipelines, max(1, min(REPEATS, int(seconds / forecast(pipelines))))


def _fastest(table: TidyTable) -> Pair:
    return SELECTORS[0], LEARNERS[table.is_regression][0]


class _Forecast:
    """Predicts the seconds of one repeat on one worker, from the costs that plugins declare."""

    def __init__(self, table: TidyTable) -> None:
        self.n, self.p = len(table.frame) * (1.0 - 1.0 / FOLDS), len(table.features)
        self.k = 1 if table.is_regression else int(table.frame[table.target].nunique())
        registry, kind = load_registry(), "regressor" if table.is_regression else "classifier"
        parts = [("selector", part) for part in SELECTORS] + [(kind, part) for part in LEARNERS[table.is_regression]]
        self.formulas = {
            (role, part.code): parse_complexity(registry.entry(role, parse(part.expression).name).spec.complexity)
            for role, part in parts
        }
        self.kind = kind

    def __call__(self, pipelines: Sequence[Pipeline]) -> float:
        selectors = {one.selector for one in pipelines if one.selects}
        fits = sum(self.formulas["selector", code](self.n, self.p, self.k) for code in selectors)
        for one in pipelines:
            fits += _TRIAL + self.formulas[self.kind, one.learner](self.n, one.size, self.k)
        return FOLDS * fits


def run_prepared(
    prepared: Prepared,
    *,
    out: Path | str,
    budget: str | float | None,
    max_trials: int | None,
    jobs: int,
    fresh: bool = False,
    observer: Observer | None = None,
    downloads: AbstractContextManager[Any] = nullcontext(),  # noqa: B008 - nullcontext is reusable
) -> Outcome:
    """Run a suite that `prepare` has written.

    If the budget ends before any pipeline has been through all folds, the fewest that give an answer are completed.
    """
    limit = None if max_trials is not None else max(1.0, prepared.ends - time.monotonic())
    request = Request(str(prepared.suite), out=Path(out), budget=limit, jobs=jobs, fresh=fresh)
    outcome = run_request(request, observer, downloads)
    for sha256 in outcome.run.datasets["sha256"]:
        write_text(summary_path(prepared.suite.parent, sha256), json.dumps(prepared.summary, allow_nan=False))
    if outcome.interrupt is None and outcome.progress.pending and not has_answer(outcome.run):
        request = replace(request, budget=None, fresh=False, only=tuple(one.label for one in prepared.least))
        outcome = run_request(request, observer, downloads)
    return outcome
