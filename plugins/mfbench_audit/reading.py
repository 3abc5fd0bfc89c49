"""Tables of scores from other programs: recognised by their columns, and brought into one form."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.text import counted, listing
from mfbench.errors import UsageError, explained

COLUMNS = ["dataset", "method", "fold", "score"]
_DATASET = ("dataset", "dataset_name", "data_name", "data", "task", "task_id", "tid")
_METHOD = ("method", "model", "framework", "algorithm", "classifier", "learner", "estimator", "selector", "solver_name")
_FOLD = ("fold", "split", "idx_rep", "split_idx")
_REPEAT = ("repeat", "repetition", "seed")
_SCORE = ("score", "value", "metric_error", "objective_value", "test_score", "mean_test_score", "result")
_LOSSES = re.compile(
    r"(?i)(^|[_ -])(error|loss|logloss|log_loss|rmse|mse|mae|brier|deviance|objective)([_ -]|$)|_error$"
)
_SPLIT = re.compile(r"split(\d+)_test_(\w+)")
_METRICS = (
    "accuracy", "balanced_accuracy", "acc", "auc", "roc_auc", "f1", "kappa", "mcc", "rmse", "mae", "mse", "error",
    "loss", "log_loss", "logloss",
)  # fmt: skip


@dataclass(frozen=True)
class ScoreTable:
    """Scores of methods on datasets, possibly of several folds each."""

    frame: pd.DataFrame  # dataset, method, fold (numbered from 0; one fold if there are only means), score
    source: str  # what the table was taken for
    metric: str  # name of the score; empty if unknown
    greater_is_better: bool | None = None  # None if the table does not tell
    remarks: list[str] = field(default_factory=list)
    has_folds: bool = True  # whether the scores of a cell are those of folds that methods share


def read_scores(paths: Sequence[Path], metric: str | None = None) -> ScoreTable:
    """Read a table of scores, or several files that make one.

    Parameters
    ----------
    paths : sequence of Path
        CSV, TSV, JSON or Parquet files.
    metric : str or None, default=None
        Column of the score, or value of a column ``metric``, if there are several.

    Raises
    ------
    UsageError
        If a file cannot be read, its form is not recognised, a cell is there twice, or fewer than two methods remain.
    """
    tables = [_recognised(_read(path), path, metric) for path in paths]
    if len({table.source for table in tables}) > 1:
        raise UsageError(f"the files have different forms: {listing([table.source for table in tables])}")
    first, frame = tables[0], pd.concat([table.frame for table in tables], ignore_index=True)
    remarks = list(dict.fromkeys(remark for table in tables for remark in table.remarks))
    frame["score"] = _numbers(frame["score"])
    frame = frame.dropna(subset=["score"]).astype({"dataset": str, "method": str})
    if np.isinf(frame["score"]).any():
        raise UsageError("the table has infinite scores; leave these cells empty")
    if frame["method"].nunique() < 2:
        raise UsageError(
            f"{paths[0]} has scores of {counted(frame['method'].nunique(), 'method')}, and two are needed to compare; "
            f"its columns were read as {first.source}"
        )
    twice = frame[frame.duplicated(["dataset", "method", "fold"])]
    if len(twice):
        row = twice.iloc[0]
        raise UsageError(
            f"{counted(len(twice), 'cell')} of the table {'is' if len(twice) == 1 else 'are'} there more than once, "
            f"such as {row['method']} on {row['dataset']}; keep one of each, or add a column 'fold'"
        )
    return ScoreTable(frame, first.source, first.metric, first.greater_is_better, remarks, first.has_folds)


def _read(path: Path) -> pd.DataFrame:
    suffix = path.suffix.lower()
    with explained(UsageError, lambda reason: f"cannot read {path}: {reason}", OSError, ValueError, KeyError):
        if suffix == ".parquet":
            frame = pd.read_parquet(path)
        elif suffix == ".json":
            loaded = json.loads(path.read_text(encoding="utf-8"))
            frame = pd.DataFrame(loaded)
        else:
            try:
                frame = pd.read_csv(path, sep=None, engine="python", encoding="utf-8-sig")
            except (pd.errors.ParserError, csv.Error):
                raise UsageError(f"{path} is not a table: its lines have no common separator") from None
    if frame.empty:
        raise UsageError(f"{path} has no rows")
    return frame.rename(columns={name: str(name).strip() for name in frame.columns})


def _numbers(values: pd.Series) -> pd.Series:
    """Return numbers, from texts such as "93.1 %", "0,93" or "93.1 ± 0.4" too."""
    if values.dtype.kind in "fiu":
        return values.astype(float)
    texts = values.astype("string").str.split("±", regex=False).str[0].str.split("+/-", regex=False).str[0]
    texts = texts.str.strip().str.removesuffix("%").str.strip().str.replace(",", ".", regex=False)
    empty = values.isna() | texts.str.lower().isin(["", "-", "–", "—", "na", "n/a", "nan", "none", "null", "?"])
    numbers = pd.to_numeric(texts, errors="coerce")
    wrong = numbers.isna() & ~empty.fillna(True)
    if wrong.any():
        raise UsageError(
            f"{values[wrong].iloc[0]!r} is not a score; the cells of the table must be numbers, or empty if missing"
        )
    return numbers.astype(float)


def _recognised(frame: pd.DataFrame, path: Path, metric: str | None) -> ScoreTable:
    names = {name.lower().replace(" ", "_"): name for name in map(str, frame.columns)}
    for reader in (_cv_results, _openml, _benchopt, _sdufseval, _long, _wide):
        table = reader(frame, names, path, metric)
        if table is not None:
            return table
    raise UsageError(
        f"{path} is not a table of scores: give it the columns dataset, method and score (and fold), or one row per "
        "dataset and one column per method"
    )


Names = dict[str, str]


def _cv_results(frame: pd.DataFrame, names: Names, path: Path, metric: str | None) -> ScoreTable | None:
    """Read scikit-learn's ``cv_results_``: one row per candidate, one column per split."""
    splits = [(match, name) for name in names.values() if (match := _SPLIT.fullmatch(name))]
    if not splits:
        return None
    scorers = list(dict.fromkeys(match[2] for match, _ in splits))
    scorer = metric or scorers[0]
    if scorer not in scorers:
        raise UsageError(f"{path} has no score {metric!r}; it has {listing(scorers)}")
    params = (
        frame["params"].astype(str) if "params" in frame else pd.Series(range(len(frame))).map("candidate {}".format)
    )
    parts = [
        pd.DataFrame({"dataset": path.stem, "method": params, "fold": int(match[1]), "score": frame[name]})
        for match, name in splits
        if match[2] == scorer
    ]
    return ScoreTable(pd.concat(parts), "scikit-learn's cv_results_", "" if scorer == "score" else scorer, True)


def _openml(frame: pd.DataFrame, names: Names, path: Path, metric: str | None) -> ScoreTable | None:
    """Read evaluations of OpenML runs, as ``openml.evaluations.list_evaluations`` returns them."""
    if not {"flow_name", "data_name", "function", "value"} <= set(names):
        return None
    functions = list(dict.fromkeys(frame["function"].astype(str)))
    chosen = metric or functions[0]
    if chosen not in functions:
        raise UsageError(f"{path} has no function {metric!r}; it has {listing(functions)}")
    own = frame[frame["function"].astype(str) == chosen]
    setup = own["setup_id"].astype(str) if "setup_id" in own else pd.Series("", index=own.index)
    methods = own["flow_name"].astype(str)
    several = setup.groupby(methods).transform("nunique") > 1
    methods = methods.where(~several, methods + " " + setup)
    last = ~pd.DataFrame({"d": own["data_name"], "m": methods}).duplicated(keep="last")
    remarks = [] if last.all() else [f"{counted(int((~last).sum()), 'run')} of a flow that has a later one left out."]
    own, methods = own[last], methods[last]
    values = own["values"].map(_list) if "values" in own else pd.Series([None] * len(own), index=own.index)
    rows: list[list[Any]] = []
    with_folds = bool(values.map(lambda each: each is not None).all())
    for data, method, value, folds in zip(own["data_name"], methods, own["value"], values, strict=True):
        for fold, score in enumerate(folds if with_folds else [value]):
            rows.append([data, method, fold, score])
    made = pd.DataFrame(rows, columns=COLUMNS)
    return ScoreTable(made, "evaluations of OpenML runs", chosen, not _LOSSES.search(chosen), remarks, with_folds)


def _list(value: Any) -> list[float] | None:
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            return None
    return list(value) if isinstance(value, list | tuple | np.ndarray) and len(value) else None


def _benchopt(frame: pd.DataFrame, names: Names, path: Path, metric: str | None) -> ScoreTable | None:
    """Read benchopt's results: the last value on each solver's curve; repetitions share no folds."""
    data = names.get("data_name") or names.get("dataset_name")
    if "solver_name" not in names or data is None:
        return None
    column = (
        metric or names.get("objective_value") or next((n for n in names.values() if n.startswith("objective_")), None)
    )
    if column is None or column not in frame:
        raise UsageError(f"{path} has no column {column!r}")
    keys = [data, "solver_name"] + [names[name] for name in ("idx_rep",) if name in names]
    ends = frame.sort_values("stop_val", kind="stable") if "stop_val" in frame else frame
    ends = ends.groupby(keys, sort=False).tail(1)
    means = ends.groupby([data, "solver_name"], sort=False)[column].mean().reset_index()
    made = pd.DataFrame({"dataset": means[data], "method": means["solver_name"], "fold": 0, "score": means[column]})
    remarks = ["Each score is the mean over repetitions of the last value of a solver's curve."]
    return ScoreTable(made, "results of benchopt", column, False, remarks, False)


_SDUFSEVAL = re.compile(r"(?P<method>.+?)_(?P<metric>ACC|AUC|CLSACC|NMI)_.*(SI\d+|USI\d+).*")


def _sdufseval(frame: pd.DataFrame, names: Names, path: Path, metric: str | None) -> ScoreTable | None:
    """Read sdufseval's files, one per method: rows of datasets, and columns of shares of the features."""
    match = _SDUFSEVAL.fullmatch(path.stem)
    if match is None or "Dataset" not in frame:
        return None
    own = frame.set_index("Dataset").apply(pd.to_numeric, errors="coerce").mean(axis=1)
    means = own.groupby(level=0, sort=False).mean()
    made = pd.DataFrame({"dataset": means.index, "method": match["method"], "fold": 0, "score": means.to_numpy()})
    remarks = [
        "Each score is the mean over the sizes of the file.",
        "sdufseval selects features on all rows before it splits them, so these scores are optimistic.",
    ]
    return ScoreTable(made, "results of sdufseval", match["metric"], True, remarks, False)


def _long(frame: pd.DataFrame, names: Names, path: Path, metric: str | None) -> ScoreTable | None:
    """Read one row per dataset, method and possibly fold; TabArena's results among them."""
    method = next((names[name] for name in _METHOD if name in names), None)
    if method is None:
        return None
    data = next((names[name] for name in _DATASET if name in names), None)
    keys = {name for name in (*_FOLD, *_REPEAT, *_DATASET, *_METHOD) if name in names}
    own, label = frame, ""
    listed = frame[names["metric"]].astype(str) if "metric" in names else pd.Series(dtype=str)
    if metric in set(listed):
        own, label, metric = frame[listed == metric], str(metric), None
    elif data is not None and (listed.groupby(frame[data]).nunique() > 1).any():
        raise UsageError(f"{path} has several metrics: name one of {listing(sorted(set(listed)))} with --metric")
    score = metric or next((names[name] for name in (*_SCORE, *_METRICS) if name in names and name not in keys), None)
    if score is None or score not in own:
        numbers = [n for n in own if n not in {names[key] for key in keys} and own[n].dtype.kind in "fiu"]
        raise UsageError(
            f"{path}: which column is the score? Name it with --metric; numbers are in "
            f"{listing(numbers) if numbers else 'none'}"
        )
    folds = [names[name] for name in (*_REPEAT, *_FOLD) if name in names]
    made = pd.DataFrame(
        {"dataset": path.stem if data is None else own[data], "method": own[method], "score": own[score]}
    )
    order = own[folds].apply(tuple, axis=1) if folds else pd.Series([()] * len(own), index=own.index)
    made["fold"] = pd.factorize(order, sort=True)[0]
    if not label and "metric" in names and own[names["metric"]].nunique() == 1:
        label = str(own[names["metric"]].iloc[0])
    is_error = score == names.get("metric_error") or bool(_LOSSES.search(score))
    greater = False if is_error else None if score.lower() in ("score", "value", "result") and not label else True
    if not is_error and label:
        greater = not _LOSSES.search(label)
    source = "results of TabArena" if "metric_error" in names else "one row per score"
    plain = "" if score.lower() in ("score", "value", "result") else score
    name = f"{label} (error)" if label and is_error and not _LOSSES.search(label) else label or plain
    return ScoreTable(made[COLUMNS], source, name, greater, [], bool(folds))


def _wide(frame: pd.DataFrame, names: Names, path: Path, metric: str | None) -> ScoreTable | None:
    """Read one row per dataset, and one column per method."""
    first, *others = frame.columns
    keys = [first] + [name for name in others if str(name).lower() in (*_FOLD, *_REPEAT)]
    columns = [name for name in others if name not in keys]
    if not columns or frame[first].dtype.kind == "f":
        return None
    # Tables in print often end with means or ranks.
    totals = frame[first].astype(str).str.strip().str.lower()
    is_total = totals.str.fullmatch(r"(average|mean|avg\.?|overall)( rank)?s?|average rank|ranks?|w/?t/?l|wins?.*")
    remarks = [f"Rows left out: {listing(list(frame.loc[is_total, first].astype(str)))}."] if is_total.any() else []
    own = frame[~is_total]
    melted = own.melt(keys, columns, "method", "score")
    places = melted[keys[1:]].apply(tuple, axis=1) if len(keys) > 1 else pd.Series([()] * len(melted))
    made = pd.DataFrame({"dataset": melted[first], "method": melted["method"], "score": melted["score"]})
    made["fold"] = pd.factorize(places, sort=True)[0]
    greater = False if _LOSSES.search(path.stem) else None
    return ScoreTable(
        made[COLUMNS], "one row per dataset and one column per method", "", greater, remarks, len(keys) > 1
    )
