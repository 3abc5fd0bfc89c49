"""Detection: how many relevant and irrelevant features the selectors select."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.model.sections import Cell, Chart, Section, Table
from mfbench.report.cells import DASH, rows_by_dataset, table_of
from mfbench.report.charts.comparison import matrix_chart
from mfbench.report.charts.detection import interaction_noise_chart, rounds_chart, selection_chart, weights_chart
from mfbench.report.charts.drawing import MOST_DATASETS, first_charts
from mfbench.run.store.metadata import RunMetadata
from mfbench.stats.detection import FIGURES, STABILITY
from mfbench.stats.results import Run

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


def detection(run: Run) -> Section:
    """Return the section on relevant features; empty for runs that predict classes."""
    title = "Detection of relevant features"
    frame = run.detection
    data = {"detection": lambda: frame, "compare_rounds": run.compare_rounds}
    if not run.detects:
        return Section(title, data=data)
    methods = {
        method: SELECTED_BY.get(str(run.meta.rules[method]), f"top {run.meta.rules[method]}") for method in run.methods
    }
    tables, charts = [], []
    if len(frame):
        tables = [
            _overview(frame, methods),
            *(_dataset_table(own, methods) for _, own in frame.groupby("dataset", sort=False)),
        ]
        successful = run.trials[run.trials["status"] == "ok"]
        for number, (dataset, own) in enumerate(successful.groupby("dataset", sort=False), 1):
            name = str(dataset)
            charts += [rounds_chart(number, name, own), weights_chart(number, name, own, run.relevant(name))]
    return Section(
        title,
        tables,
        charts,
        _notes(run.meta) if tables else [],
        data,
        rows=lambda: _csv_rows(frame, run.compare_rounds()),
    )


def _overview(frame: pd.DataFrame, methods: Mapping[str, str]) -> Table:
    """Return the mean of each figure over datasets, by method."""
    columns = []
    for figure in FIGURES:
        means = frame[frame["figure"] == figure].pivot(index="dataset", columns="method", values="mean")
        # The mean covers the datasets on which any method has the figure; a method needs it on all of them.
        means = means.reindex(columns=list(methods)).dropna(how="all")
        columns.append(_column(figure, means.mean(skipna=False).to_numpy(dtype=float)))
    rows = zip(methods, methods.values(), *columns, strict=True)
    return table_of(["method", "selected by", *HEADINGS.values()], rows, "Mean over datasets")


def _dataset_table(frame: pd.DataFrame, methods: Mapping[str, str]) -> Table:
    """Return the figures of one dataset, by method, with their intervals."""
    headings, columns = [], []
    for figure in FIGURES:
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


def _csv_rows(frame: pd.DataFrame, comparison: pd.DataFrame) -> list[pd.DataFrame]:
    comparison = comparison.drop(columns="rounds").rename(columns={"low": "difference_low", "high": "difference_high"})
    return [frame.merge(comparison, on=["dataset", "method", "figure"], how="left")]


FEATURES = "Features used: median over folds (stability)"


def features(run: Run) -> Section:
    """Return the section on selected features; empty if every method uses all features."""
    selected = run.selected
    leaving_out = selected[selected["least"] < selected["n_features"]]
    if not len(leaving_out):
        return Section(FEATURES)
    methods = [method for method in run.methods if method in set(leaving_out["method"])]
    frame = selected[selected["method"].isin(methods)]
    numbers = {dataset: [dataset, n] for dataset, n in zip(frame["dataset"], frame["n_features"], strict=True)}
    table = table_of(["dataset", "features", *methods], rows_by_dataset(frame, numbers, methods, _feature_cell))
    note = (
        "Only methods that leave features out are listed. Stability: Nogueira's measure; 1 if all folds use the same "
        "features, 0 in expectation for random sets. Folds share training rows, so it is larger than it would be over "
        "independent samples."
    )
    charts: list[Chart] = []
    for number, (dataset, group) in enumerate(leaving_out.groupby("dataset", sort=False), 1):
        label = str(dataset)
        stability = dict(zip(group["method"], group["stability"], strict=True))
        counts = {m: run.selection_counts[label, m] for m in stability if (label, m) in run.selection_counts}
        if counts and len(charts) < MOST_DATASETS:
            charts.append(selection_chart(number, label, counts, run.feature_names(label), stability))
    notes = [note, *first_charts(charts)]
    return Section(FEATURES, [table], charts, notes)


def _feature_cell(row: Mapping[Any, Any]) -> Cell:
    stability = f" ({row['stability']:.2f})" if np.isfinite(row["stability"]) else ""
    return Cell(f"{row['median']:g}{stability}")


INTERACTIONS = "True interactions: share of the norm, or p (rank)"
PAIRS_TITLE = "Weights of pairs of features"


def interactions(run: Run) -> Section:
    """Return the section on datasets with known interactions; empty if no method weighs pairs of features."""
    frame = run.true_interactions
    data = {"true_interactions": lambda: frame}
    if not len(frame):
        return Section(INTERACTIONS, data=data)
    methods = [method for method in run.methods if method in set(frame["method"])]
    pairs = {
        row["dataset"]: [row["dataset"], f"{row['true_pairs']} of {row['n_pairs']}"]
        for row in frame.drop_duplicates("dataset").to_dict("records")
    }
    table = table_of(["dataset", "pairs", *methods], rows_by_dataset(frame, pairs, methods, _pair_cell))
    noise = interaction_noise_chart(frame)
    return Section(INTERACTIONS, [table], [] if noise is None else [noise], _interaction_notes(frame), data)


def pair_weights(run: Run) -> Section:
    """Return the pair weights of the reference, or else of the first method that has any."""
    frame, present = run.interactions, set(run.interactions["method"])
    method = next((method for method in (run.settings.reference, *run.methods) if method in present), None)
    if method is None:
        return Section(PAIRS_TITLE)
    groups = islice(frame[frame["method"] == method].groupby("dataset", sort=False), MOST_DATASETS)
    charts = [
        matrix_chart(number, str(dataset), method, mean_weights(own), run.feature_names(str(dataset)))
        for number, (dataset, own) in enumerate(groups, 1)
    ]
    return Section(PAIRS_TITLE, charts=charts, notes=first_charts(charts))


def mean_weights(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean weight of each pair over folds; folds without the pair count as 0."""
    folds = frame.groupby(["repeat", "fold"]).ngroups
    sums = frame.groupby(["first", "second"], sort=False)["value"].sum() / max(1, folds)
    return sums.reset_index()


def _interaction_notes(frame: pd.DataFrame) -> list[str]:
    notes = [
        "Share of the norm: absolute weight of the true pair divided by the Frobenius norm of all weights, mean over "
        "folds (at most 0.71, since a symmetric matrix contains each pair twice). Methods with p-values show their "
        "median instead. In brackets: median rank of the best true pair among all pairs; ties count against it."
    ]
    if ((frame["p_value"] > 0.5) & (frame["rank"] == 1)).any():
        notes.append(
            "If a pair ranks first with a p-value near 1, the fit separates the classes completely. Wald's test is "
            "then uninformative however strong the effect is; rely on the rank."
        )
    return notes


def _pair_cell(row: Mapping[Any, Any]) -> Cell:
    value = f"p {row['p_value']:.1g}" if np.isfinite(row["p_value"]) else f"{row['share']:.2f}"
    return Cell(f"{value} ({row['rank']:g})")
