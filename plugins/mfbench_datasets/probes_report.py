"""The section on probes: how many of them selectors keep, and what they cost in accuracy."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special
from sklearn.metrics import roc_auc_score

from mfbench import Cell, Chart, Run, Section, Table
from mfbench_datasets.probes import PREFIX

TITLE = "Probes"
MARK = "!"
_OF = re.compile(r"probed\(of='([^']*)'(?:, kind='([a-z-]+)')?")


def probe_sections(run: Run) -> list[Section]:
    """Return the section of a run that predicts on datasets with probes; none for other runs."""
    datasets = [str(name) for name in dict.fromkeys(run.outcomes["dataset"]) if _OF.match(str(name))]
    if run.detects or not datasets:
        return []
    frame, costs = selection_frame(run, datasets), cost_frame(run, datasets)
    data = {"probes": lambda: frame, "probe_costs": lambda: costs}
    tables, charts = [], []
    if len(frame):
        tables.append(_selected(frame))
        sizes = size_frame(run, datasets)
        charts.append(
            Chart(
                "probes",
                "Share of probes among the features of largest weight",
                "Mean over datasets. The fewer probes, the better; a random order is a level line.",
                spec=partial(_specify, sizes),
                alt=partial(_describe, sizes),
            )
        )
    if len(costs):
        tables.append(_costs(costs))
    return [Section(TITLE, tables, charts, _notes(), data, leads=True)]


def kind_of(dataset: str) -> str:
    """Return the kind of the probes of a dataset, by its label."""
    match = _OF.match(dataset)
    return (match[2] if match else None) or "permuted"


def selection_frame(run: Run, datasets: list[str]) -> pd.DataFrame:
    """Return one row per dataset and method that weighs features: share of probes selected, and the area."""
    lines = []
    trials = run.trials
    for dataset in datasets:
        is_probe = _is_probe(run, dataset)
        of_dataset = trials[(trials["dataset"] == dataset) & (trials["status"] == "ok")]
        for method, own in of_dataset.groupby("method", sort=False):
            weights = [each for each in own["weights"] if each is not None]
            chosen = [each for each in own["selected"] if each is not None]
            if not weights or not chosen:
                continue
            shares = [is_probe[each].mean() if len(each) else np.nan for each in chosen]
            false = [np.isin(np.flatnonzero(is_probe), each).mean() for each in chosen]
            areas = [probe_area(each, is_probe) for each in weights]
            lines.append(
                {
                    "dataset": dataset,
                    "kind": kind_of(dataset),
                    "method": method,
                    "share_of_selected": np.nanmean(shares),
                    "probes_selected": np.mean(false),
                    "area": np.mean(areas),
                    "selected": np.mean([len(each) for each in chosen]),
                }
            )
    return pd.DataFrame(lines)


def probe_area(weights: NDArray[np.float64], is_probe: NDArray[np.bool_]) -> float:
    """Return the probability that a feature of the dataset outweighs a probe; a tie counts half."""
    return float(roc_auc_score(~is_probe, weights))


def size_frame(run: Run, datasets: list[str], points: int = 20) -> pd.DataFrame:
    """Return the mean share of probes among the features of largest weight, at shares of all features."""
    shares = np.linspace(1.0 / points, 1.0, points)
    trials, parts = run.trials, []
    for dataset in datasets:
        is_probe = _is_probe(run, dataset)
        of_dataset = trials[(trials["dataset"] == dataset) & (trials["status"] == "ok")]
        for method, own in of_dataset.groupby("method", sort=False):
            for weights in own["weights"]:
                if weights is None:
                    continue
                order = np.argsort(-weights, kind="stable")
                sizes = np.maximum(1, np.round(shares * len(order))).astype(int)
                kept = np.cumsum(is_probe[order])[sizes - 1] / sizes
                parts.append(pd.DataFrame({"kind": kind_of(dataset), "method": method, "size": shares, "probes": kept}))
    if not parts:
        return pd.DataFrame(columns=["kind", "method", "size", "probes"])
    return pd.concat(parts).groupby(["kind", "method", "size"], sort=False)["probes"].mean().reset_index()


def cost_frame(run: Run, datasets: list[str]) -> pd.DataFrame:
    """Return one row per dataset with probes, beside it without, and method: the score that probes cost."""
    metric = run.metrics[0]
    sign = 1.0 if run.meta.scores[metric].greater_is_better else -1.0
    means = run.outcomes[run.outcomes["status"] == "ok"].groupby(["dataset", "method"], sort=False)[metric].mean()
    lines = []
    for dataset in datasets:
        match = _OF.match(dataset)
        assert match is not None
        for method in run.methods:
            if (dataset, method) in means.index and (match[1], method) in means.index:
                plain, with_probes = means.loc[(match[1], method)], means.loc[(dataset, method)]
                lines.append([dataset, kind_of(dataset), method, plain, with_probes, sign * (plain - with_probes)])
    return pd.DataFrame(lines, columns=["dataset", "kind", "method", "plain", "probed", "cost"])


def _is_probe(run: Run, dataset: str) -> NDArray[np.bool_]:
    return np.array([name.startswith(PREFIX) for name in run.feature_names(dataset)])


def _selected(frame: pd.DataFrame) -> Table:
    means = frame.groupby(["kind", "method"], sort=False)[["share_of_selected", "probes_selected", "area", "selected"]]
    rows = [
        [
            Cell(str(row["method"])),
            Cell(str(row["kind"])),
            Cell(f"{100 * row['share_of_selected']:.0f} %"),
            Cell(f"{100 * row['probes_selected']:.0f} %"),
            Cell(f"{row['area']:.2f}"),
            Cell(f"{row['selected']:.1f}"),
        ]
        for row in means.mean().reset_index().to_dict("records")
    ]
    rows.sort(key=lambda row: (row[1].text, -float(row[4].text)))
    heads = ["method", "probes", "of the selected", "of the probes", "area", "selected"]
    return Table(heads, rows, "Probes that were selected: mean over datasets and folds")


def _costs(costs: pd.DataFrame) -> Table:
    rows = []
    for (kind, method), own in costs.groupby(["kind", "method"], sort=False):
        values = own["cost"].to_numpy(float)
        mean, n = float(values.mean()), len(values)
        half = float(special.stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
        text = f"{100 * mean:+.1f}".replace("-", "−") + (f" ± {100 * half:.1f}" if np.isfinite(half) else "")
        rows.append(
            [
                Cell(str(method)),
                Cell(str(kind)),
                Cell(f"{100 * own['plain'].mean():.1f}"),
                Cell(f"{100 * own['probed'].mean():.1f}"),
                Cell(f"{text} {MARK}", "marked") if mean - half > 0 else Cell(text),
                Cell(str(n)),
            ]
        )
    heads = ["method", "probes", "without", "with", "cost", "datasets"]
    return Table(heads, rows, "What probes cost, in percentage points of the first metric")


def _notes() -> list[str]:
    return [
        "Of the selected: share of probes among the selected features. Of the probes: share that is selected, the "
        "false-alarm rate if none of them is relevant. Area: probability that a feature of the dataset outweighs a "
        "probe; 0.5 for weights at random, and below 1 for a perfect selector if features of the dataset are "
        "irrelevant too.",
        "Cost: mean score without probes minus that with them, with Student's 95 % interval over datasets. "
        f"{MARK}: above 0.",
        "Permuted and random probes do not depend on the target. Corrupted and second-order ones do, through the "
        "features that they are made of.",
    ]


def _specify(sizes: pd.DataFrame) -> Any:
    import altair as alt

    from mfbench.report.charts.drawing import lines_of_methods

    colour, dash = lines_of_methods(list(dict.fromkeys(sizes["method"])))
    lines = (
        alt.Chart(sizes)
        .mark_line()
        .encode(
            alt.X("size:Q", title="share of the features kept", scale=alt.Scale(domain=[0.0, 1.0])),
            alt.Y("probes:Q", title="share of probes among them", scale=alt.Scale(domain=[0.0, 1.0])),
            colour,
            dash,
            tooltip=["method:N", "size:Q", alt.Tooltip("probes:Q", format=".2f")],
        )
        .properties(width=320, height=240)
    )
    return lines.facet(facet=alt.Facet("kind:N", title=None), columns=2)


def _describe(sizes: pd.DataFrame) -> str:
    half = sizes[np.isclose(sizes["size"], 0.5)]
    parts = [f"{row['method']} {100 * row['probes']:.0f} % ({row['kind']})" for row in half.to_dict("records")]
    return f"Share of probes among the half of the features of largest weight: {', '.join(parts)}."
