"""Sections of the reports of single protocols: detection of relevant features, and time to fit."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench import Cell, Section, Table
from mfbench.report.cells import DASH, number_cell, rows_by_dataset, table_of, time_cell
from mfbench.run.store.metadata import RunMetadata
from mfbench.stats.detection import STABILITY
from mfbench.stats.results import Run
from mfbench.stats.summary import FLOOR, timing_profile
from mfbench_protocols.charts import rounds_chart, scaling_chart, weights_chart

DETECTION = "Detection of relevant features"
HEADINGS = {
    "area": "area",
    "detection": "detection",
    "false_alarm": "false alarms",
    "fdp": "false discoveries",
    "precision": "precision",
    "f1": "F1",
    "pair_detection": "pairs",
    STABILITY: "stability",
}
# Figures that can be judged on their own, larger being better. The detection rate cannot: false alarms raise it.
JUDGED = ("area", "f1", "pair_detection", STABILITY)
SELECTED_BY = {"positive": "weight", "relevant": "rank", "all": "all"}


def sections_of(run: Run) -> list[Section]:
    """Return the sections of these protocols; without content in runs of others."""
    return [*detection(run), timing(run)]


def detection(run: Run) -> list[Section]:
    """Return the sections on relevant features: the means over datasets, and each dataset."""
    frame = run.detection
    data = {"detection": lambda: frame, "compare_rounds": run.compare_rounds}
    if run.protocol.kind != "ground-truth" or not len(frame):
        return [Section(DETECTION, data=data)]
    methods = {
        method: SELECTED_BY.get(str(run.meta.rules[method]), f"top {run.meta.rules[method]}") for method in run.methods
    }
    tables = [_dataset_table(own, methods) for _, own in frame.groupby("dataset", sort=False)]
    charts = []
    successful = run.trials[run.trials["status"] == "ok"]
    for number, (dataset, own) in enumerate(successful.groupby("dataset", sort=False), 1):
        name = str(dataset)
        charts += [rounds_chart(number, name, own), weights_chart(number, name, own, run.relevant(name))]
    rows = partial(_csv_rows, frame, run.compare_rounds)
    return [
        Section(DETECTION, [_overview(frame, methods)], [], _notes(run.meta), data, rows=rows, leads=True),
        Section("Detection on each dataset", tables, charts, leads=True),
    ]


def _overview(frame: pd.DataFrame, methods: Mapping[str, str]) -> Table:
    """Return the mean of each figure over datasets, by method."""
    columns = []
    for figure in HEADINGS:
        means = frame[frame["figure"] == figure].pivot(index="dataset", columns="method", values="mean")
        # The mean covers the datasets on which any method has the figure; a method needs it on all of them.
        means = means.reindex(columns=list(methods)).dropna(how="all")
        columns.append(_column(figure, means.mean(skipna=False).to_numpy(dtype=float)))
    rows = zip(methods, methods.values(), *columns, strict=True)
    return table_of(["method", "selected by", *HEADINGS.values()], rows, "Mean over datasets")


def _dataset_table(frame: pd.DataFrame, methods: Mapping[str, str]) -> Table:
    """Return the figures of one dataset, by method, with their intervals."""
    headings, columns = [], []
    for figure in HEADINGS:
        own = frame[frame["figure"] == figure].set_index("method").reindex(list(methods))
        if own["mean"].notna().any():
            headings.append(HEADINGS[figure])
            columns.append(_column(figure, own["mean"].to_numpy(dtype=float), own.to_dict("records")))
    title = f"{frame['dataset'].iloc[0]}: mean ± half-width of the interval"
    return table_of(["method", *headings], zip(methods, *columns, strict=True), title)


def _column(figure: str, means: NDArray[np.float64], rows: Sequence[Mapping[Any, Any]] = ()) -> list[Cell]:
    """Return a cell per method, with its interval if `rows` are given; the best is marked if it can be judged."""
    finite = means[np.isfinite(means)]
    best = finite.max() if len(finite) and figure in JUDGED else np.nan
    texts = [f"{mean:.2f}".replace("-0.00", "0.00") for mean in means]
    if rows:
        texts = [text + _interval(figure, row) for text, row in zip(texts, rows, strict=True)]
    return [
        Cell(text, "best" if mean == best else "plain") if np.isfinite(mean) else DASH
        for text, mean in zip(texts, means, strict=True)
    ]


def _interval(figure: str, row: Mapping[Any, Any]) -> str:
    half = max(row["mean"] - row["low"], row["high"] - row["mean"])
    text = f" ± {half:.2f}" if np.isfinite(half) else ""
    if row["rounds"] < row["planned"] and figure != "pair_detection":
        text += f" ({row['rounds']:.0f}/{row['planned']:.0f})"
    return text


def _notes(meta: RunMetadata) -> list[str]:
    level = 100 * (1 - meta.report.alpha)
    rules, real = meta.rules, dict.fromkeys(label.partition("(")[0] for label in meta.real_valued)
    weight = [method for method, rule in rules.items() if rule == "positive"]
    rank = [method for method, rule in rules.items() if rule == "relevant"]
    numbers = [method for method in meta.methods if method in meta.takes_numbers]
    classes = [method for method in meta.methods if method not in numbers]
    received = [f"{', '.join(numbers)} received the numbers"] if numbers else []
    received += [f"{', '.join(classes)} received two classes, cut at the median"] if classes else []
    notes = {
        f"Selected by weight ({', '.join(weight)}): features whose weight exceeds {meta.protocol.threshold:g} times "
        "the largest absolute weight of the round, possibly none.": weight,
        f"Selected by rank ({', '.join(rank)}): these methods only rank features and use the number of relevant "
        "features. Their detection rate, false-alarm rate, precision and F1 are not comparable with those of "
        "methods that decide for themselves; the area is.": rank,
        f"Real-valued response ({', '.join(real)}): {'; '.join(received)}.": real,
    }
    return [
        *(note for note, applies in notes.items() if applies),
        f"±: half-width of the {level:g} % interval of the mean over {meta.protocol.rounds} independent rounds "
        "(Student's; Nogueira's asymptotic interval for stability). A half-width of 0 means that all rounds agree.",
        "False discoveries: share of the selected features that are irrelevant. Area: area under the curve of "
        "detection rate against false-alarm rate. Pairs: share of the true pairs among equally many pairs of the "
        "largest weights, for methods that weigh pairs.",
        "–: undefined; in the table of means, undefined on at least one dataset. Stability is undefined if no round "
        "selects a feature.",
    ]


def _csv_rows(frame: pd.DataFrame, compare: Callable[[], pd.DataFrame]) -> list[pd.DataFrame]:
    comparison = compare().drop(columns="rounds").rename(columns={"low": "difference_low", "high": "difference_high"})
    return [frame.merge(comparison, on=["dataset", "method", "figure"], how="left")]


TIMING = "Time to fit"
COLUMNS = {
    "seconds": "Time to fit at the largest size",
    "rows_exponent": "Exponent of the time to fit in the number of rows",
    "features_exponent": "Exponent of the time to fit in the number of features",
}


def timing(run: Run) -> Section:
    """Return the section on times to fit."""
    if run.protocol.kind != "timing" or not len(run.outcomes):
        return Section(TIMING, data={"timing": list})
    exponents, sizes, methods = run.timing, run.sizes, list(run.methods)
    first = {}
    for dataset in run.outcomes["dataset"].unique():
        own = sizes[sizes["dataset"] == dataset]
        first[dataset] = [dataset, f"{own['n_train'].max()} × {own['n_features'].max()}"]
    note = (
        "Time to fit: wall time of selector and classifier on one thread, the smallest of "
        f"{run.meta.protocol.repeats} subsamples of a size. Exponent: slope of a line fitted to the logarithms "
        f"of sizes and times, using times of at least {1000 * FLOOR:g} ms; – if fewer than two sizes have such a time. "
        "A power law fitted to a few sizes describes only those sizes. Other processes on the machine lengthen times: "
        "use --jobs 1 for reliable times."
    )
    tables = []
    for column, title in COLUMNS.items():
        cell = partial(_cell, column)
        tables.append(table_of(["dataset", "size", *methods], rows_by_dataset(exponents, first, methods, cell), title))
    chart = scaling_chart(timing_profile(run.outcomes, sizes), exponents)
    charts = [] if chart is None else [chart]
    return Section(TIMING, tables, charts, [note], data={"timing": lambda: exponents}, leads=True)


def _cell(column: str, row: Mapping[Any, Any]) -> Cell:
    return time_cell(row[column]) if column == "seconds" else number_cell(row[column], ".2f")
