"""What a report says of selectors on data whose relevant features are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbench.analysis.detection import FIGURES, STABILITY
from mfbench.analysis.results import Run
from mfbench.report.tables import BEST, MISSING, PLAIN, Cell, Table

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
# Figures of which more is better, whatever the others are.
JUDGED = ("area", "f1", "pair_detection", STABILITY)


def detection_tables(run: Run) -> list[Table]:
    """Return an overview of all methods, then one table per dataset with the intervals; none for other protocols."""
    if not run.detects or not len(run.detection):
        return []
    cells = {(row["dataset"], row["method"], row["figure"]): row for row in run.detection.to_dict("records")}
    datasets = list(dict.fromkeys(dataset for dataset, _, _ in cells))
    return [_overview(run, cells, datasets), *(_dataset_table(run, cells, dataset) for dataset in datasets)]


def _overview(run: Run, cells: Mapping[Any, Mapping[Any, Any]], datasets: list[str]) -> Table:
    table = Table("mean over datasets", ["method", "found by", *HEADINGS.values()])
    columns = []
    for figure in FIGURES:
        means = np.array([[cells[d, m, figure]["mean"] for m in run.methods] for d in datasets], dtype=float)
        # Over the datasets that have the figure; a method that lacks it on one of them has no mean.
        defined = np.isfinite(means).any(axis=1)
        columns.append(_marked(figure, means[defined].mean(axis=0) if defined.any() else means[0] * np.nan, None))
    for place, method in enumerate(run.methods):
        table.rows.append([Cell(method), Cell(_rule(run, method)), *(column[place] for column in columns)])
    return table


def _dataset_table(run: Run, cells: Mapping[Any, Mapping[Any, Any]], dataset: str) -> Table:
    figures = [f for f in FIGURES if any(np.isfinite(cells[dataset, m, f]["mean"]) for m in run.methods)]
    table = Table(f"{dataset}: mean ± half of the interval", ["method", *(HEADINGS[figure] for figure in figures)])
    columns = [_column([cells[dataset, method, figure] for method in run.methods], figure) for figure in figures]
    for place, method in enumerate(run.methods):
        table.rows.append([Cell(method), *(column[place] for column in columns)])
    return table


def _column(cells: list[Mapping[Any, Any]], figure: str) -> list[Cell]:
    return _marked(figure, np.array([cell["mean"] for cell in cells], dtype=float), cells)


def _marked(figure: str, means: Any, cells: list[Mapping[Any, Any]] | None) -> list[Cell]:
    """Return a cell per method; with `cells` the interval is told too.

    The best is marked where one figure alone can tell it: detections are bought with false alarms.
    """
    known = means[np.isfinite(means)]
    best = known.max() if len(known) and figure in JUDGED else np.nan
    told = []
    for place, mean in enumerate(means):
        if not np.isfinite(mean):
            told.append(Cell("–", MISSING))
            continue
        half = np.nan if cells is None else max(mean - cells[place]["low"], cells[place]["high"] - mean)
        text = f"{mean:.2f}".replace("-0.00", "0.00") + (f" ± {half:.2f}" if np.isfinite(half) else "")
        if cells is not None and cells[place]["rounds"] < cells[place]["planned"] and figure != "pair_detection":
            text += f" ({cells[place]['rounds']}/{cells[place]['planned']})"
        told.append(Cell(text, BEST if mean == best else PLAIN))
    return told


def _rule(run: Run, method: str) -> str:
    rule = str(run.meta.rules[method])
    return {"positive": "weight", "relevant": "rank", "all": "all"}.get(rule, f"top {rule}")


def detection_notes(run: Run) -> list[str]:
    """Return the sentences that explain the tables: what counts as found, who was told what, what intervals are."""
    if not run.detects:
        return []
    protocol = run.meta.protocol
    rules = run.meta.rules
    lines = []
    weight = [method for method, rule in rules.items() if rule == "positive"]
    if weight:
        lines.append(
            f"Found by weight: features whose weight is above {protocol.threshold:g} of the largest absolute weight "
            f"of the round; none is an answer. {', '.join(weight)}."
        )
    told = [method for method, rule in rules.items() if rule == "relevant"]
    if told:
        lines.append(
            f"Found by rank: {', '.join(told)} only rank, so that they were told how many features are relevant. Their "
            "detection, false alarms, precision and F1 do not compare with those of methods that decide themselves; "
            "the area does."
        )
    lines += _targets(run)
    level = 100 * (1 - run.settings.alpha)
    lines.append(
        f"±: half of the {level:g} % interval of the mean over {protocol.rounds} independent rounds (Student), of "
        "stability the asymptotic one (Nogueira). A ± of 0 says that all rounds agree. False discoveries: share of the "
        "features found that are irrelevant. Area: under the curve of detection over false alarms. Pairs: true pairs "
        "among as many pairs of the largest weights, of methods that tell. –: not defined, in the table of means on at "
        "least one dataset; stability is not where every round finds nothing."
    )
    return lines


def _targets(run: Run) -> list[str]:
    # Parameters stand in the tables.
    datasets = list(dict.fromkeys(label.partition("(")[0] for label in run.meta.real_valued))
    if not datasets:
        return []
    numbers = [method for method in run.methods if method in run.meta.takes_numbers]
    classes = [method for method in run.methods if method not in numbers]
    parts = [f"as numbers to {', '.join(numbers)}"] if numbers else []
    parts += [f"cut at its median into two classes to {', '.join(classes)}"] if classes else []
    return [f"Real-valued truth ({', '.join(datasets)}): given {'; '.join(parts)}."]
