"""The section on leakage: what selecting on all rows adds to a score, and choosing the best of many methods."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from mfbench import Cell, Chart, Run, Section, Table
from mfbench.stats.paired import corrected_error

TITLE = "What leakage costs"
MARK = "!"
_WIDE = "more features than rows"
_LONG = "more rows than features"


def sections_of(run: Run) -> list[Section]:
    """Return the section of a run of the protocol ``leakage``; none for other runs."""
    if run.protocol.kind != "leakage":
        return []
    frame, choice = optimism_frame(run), choice_frame(run)
    data = {"leakage": lambda: frame, "choice": lambda: choice}
    if not len(frame):
        return [Section(TITLE, data=data)]
    chart = Chart(
        "leakage",
        "Optimism by dataset",
        "Score with features selected on all rows minus that with features selected on training rows, in percentage "
        "points; 95 % intervals.",
        spec=partial(_specify, frame),
        alt=partial(_describe, frame),
    )
    tables = [_by_method(frame), _by_dataset(frame), *([_choices(choice)] if len(choice) else [])]
    return [Section(TITLE, tables, [chart], _notes(), data, rows=lambda: [frame], leads=True)]


def optimism_frame(run: Run) -> pd.DataFrame:
    """Return one row per dataset and method with a selector: both scores, the optimism and its interval."""
    shapes = run.datasets.set_index("dataset")[["n_samples", "n_features"]]
    metric, ratio = run.metrics[0], run.protocol.test_train_ratio
    lines = []
    for (dataset, method), own in run.outcomes.groupby(["dataset", "method"], sort=False):
        good = own[own["status"] == "ok"]
        if not good["leaked"].notna().any():  # there is no selector, or no trial succeeded
            continue
        n, p = shapes.loc[str(dataset)].to_numpy(dtype=int).tolist()
        mean, low, high = corrected_interval(good["optimism"].to_numpy(float), run.protocol.folds, ratio)
        lines.append(
            {
                "dataset": dataset,
                "method": method,
                "rows": n,
                "features": p,
                "kind": _WIDE if p > n else _LONG,
                "honest": good[metric].mean(),
                "leaked": good["leaked"].mean(),
                "optimism": mean,
                "low": low,
                "high": high,
            }
        )
    return pd.DataFrame(lines)


def corrected_interval(values: NDArray[np.float64], folds: int, ratio: float) -> tuple[float, float, float]:
    """Return the mean over folds with Nadeau and Bengio's 95 % interval; J is the number of folds of one repeat."""
    count = len(values)
    mean = float(values.mean())
    if count < 2:
        return mean, float("nan"), float("nan")
    half = float(special.stdtrit(count - 1, 0.975) * corrected_error(values.var(ddof=1), min(count, folds), ratio))
    return mean, mean - half, mean + half


def choice_frame(run: Run) -> pd.DataFrame:
    """Return one row per dataset: the reported score of the best method, and that of choosing it without the fold.

    The second chooses, for each fold, the method that is best on the other folds of its repeat.
    """
    metric = run.metrics[0]
    sign = 1.0 if run.meta.scores[metric].greater_is_better else -1.0
    lines = []
    for dataset, own in run.outcomes.groupby("dataset", sort=False):
        table = own.pivot_table(index=["repeat", "fold"], columns="method", values=metric).dropna(axis=1)
        if table.shape[1] < 2 or table.groupby(level="repeat").size().min() < 2:
            continue
        reported = sign * float((sign * table.mean()).max())
        scores = []
        for _, part in table.groupby(level="repeat"):
            values = sign * part.to_numpy(dtype=float)
            others = (values.sum(axis=0) - values) / (len(values) - 1)
            scores.append(float(np.mean(values[np.arange(len(values)), others.argmax(axis=1)])))
        chosen = sign * float(np.mean(scores))
        lines.append([dataset, table.shape[1], reported, chosen, sign * (reported - chosen)])
    return pd.DataFrame(lines, columns=["dataset", "methods", "reported", "chosen_without_the_fold", "optimism"])


def _by_method(frame: pd.DataFrame) -> Table:
    rows = []
    for (method, kind), own in frame.groupby(["method", "kind"], sort=False):
        mean, low, high = _over_datasets(own["optimism"].to_numpy(float))
        interval = f"[{100 * low:+.1f}, {100 * high:+.1f}]".replace("-", "−") if np.isfinite(low) else "–"
        rows.append(
            [
                Cell(str(method)),
                Cell(str(kind)),
                Cell(str(len(own))),
                Cell(f"{100 * own['honest'].mean():.1f}"),
                Cell(f"{100 * own['leaked'].mean():.1f}"),
                _marked(f"{100 * mean:+.1f}", low > 0),
                Cell(interval),
            ]
        )
    heads = ["method", "datasets with", "number", "selected inside", "selected outside", "optimism", "interval"]
    return Table(heads, rows, "Mean over datasets", wrap=1)


def _over_datasets(values: NDArray[np.float64]) -> tuple[float, float, float]:
    mean = float(values.mean())
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    half = float(special.stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half


def _by_dataset(frame: pd.DataFrame) -> Table:
    methods = list(dict.fromkeys(frame["method"]))
    cells = {(row["dataset"], row["method"]): row for row in frame.to_dict("records")}
    rows = []
    for dataset, own in frame.groupby("dataset", sort=False):
        n, p = own[["rows", "features"]].iloc[0]
        rows.append([Cell(str(dataset)), Cell(f"{n} × {p}"), *(_optimism(cells.get((dataset, m))) for m in methods)])
    return Table(["dataset", "size", *methods], rows, "Optimism on each dataset, in percentage points")


def _optimism(row: dict[Any, Any] | None) -> Cell:
    if row is None:
        return Cell("–", "missing")
    half = 100 * (row["high"] - row["low"]) / 2
    interval = f" ± {half:.1f}" if np.isfinite(half) else ""
    return _marked(f"{100 * row['optimism']:+.1f}{interval}", row["low"] > 0)


def _marked(text: str, is_significant: bool) -> Cell:
    text = text.replace("-", "−")
    return Cell(f"{text} {MARK}", "marked") if is_significant else Cell(text)


def _choices(choice: pd.DataFrame) -> Table:
    rows = [
        [
            Cell(str(row["dataset"])),
            Cell(str(row["methods"])),
            Cell(f"{100 * row['reported']:.1f}"),
            Cell(f"{100 * row['chosen_without_the_fold']:.1f}"),
            Cell(f"{100 * row['optimism']:+.1f}"),
        ]
        for row in choice.to_dict("records")
    ]
    rows.append([Cell("mean"), Cell(""), Cell(""), Cell(""), Cell(f"{100 * choice['optimism'].mean():+.1f}")])
    heads = ["dataset", "methods", "best, as reported", "chosen without the fold", "optimism"]
    return Table(heads, rows, "Choosing the best of many methods by the reported folds", footer_rows=1)


def _notes() -> list[str]:
    return [
        "Leaking by intention: 'leaked' and 'optimism' are scores of methods that have seen the test rows, and belong "
        "in no comparison. Only this protocol has them, so no other run can reuse or be merged with them.",
        "Optimism: score of a method whose selector, and its tuning, see all rows before they are split, minus that "
        "of the same method with everything inside the training part. Intervals over folds are corrected for the rows "
        f"that training parts share; those of means over datasets are Student's. {MARK}: the interval is above 0.",
        "Choosing: the best mean over all folds, against the mean score on each fold of the method that is best on the "
        "other folds of its repeat.",
    ]


def _specify(frame: pd.DataFrame) -> Any:
    """Return a strip of datasets for each method, by their shape."""
    import altair as alt

    shown = frame.assign(**{name: 100 * frame[name] for name in ("optimism", "low", "high")})
    base = alt.Chart(shown).encode(y=alt.Y("dataset:N", title=None, sort=None))
    zero = alt.Chart(pd.DataFrame({"x": [0]})).mark_rule(color="#999999").encode(x="x:Q")
    bars = base.mark_rule(opacity=0.4).encode(x=alt.X("low:Q", title="optimism, percentage points"), x2="high:Q")
    points = base.mark_circle(size=36, opacity=0.9).encode(
        x="optimism:Q",
        color=alt.Color("method:N", title=None),
        tooltip=["method:N", "dataset:N", alt.Tooltip("optimism:Q", format="+.1f")],
    )
    return (zero + bars + points).properties(width=560, height=alt.Step(18))


def _describe(frame: pd.DataFrame) -> str:
    parts = [
        f"{kind}: {100 * own['optimism'].mean():+.1f} points on average, at most {100 * own['optimism'].max():+.1f}"
        for kind, own in frame.groupby("kind", sort=False)
    ]
    return f"Optimism of selecting on all rows, datasets with {'; datasets with '.join(parts)}."
