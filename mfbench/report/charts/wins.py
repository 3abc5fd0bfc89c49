"""Wins, ties and losses of the reference against each method, as bars (figure 4 of the IMMIGRATE paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.charts.theme import BETTER, EQUAL, WORSE

NAME = "wins-ties-losses"
OUTCOMES = ("win", "tie", "loss", "no verdict")


def wins_chart(summary: pd.DataFrame, rules: Sequence[tuple[str, str]], reference: str) -> Chart:
    """Return the chart of a run."""
    frame = counts(summary, rules, reference)
    return Chart(
        NAME,
        f"Wins, ties and losses of {reference}",
        f"Datasets on which {reference} is significantly better, not significantly different, and worse.",
        spec=lambda: specify(frame, reference),
        alt=lambda: describe(frame, reference),
    )


def counts(summary: pd.DataFrame, rules: Sequence[tuple[str, str]], reference: str) -> pd.DataFrame:
    """Return a row per rule, method and outcome with the number of datasets."""
    others = summary[summary["method"] != reference].to_dict("records")
    rows = [
        (heading, row["method"], outcome, int(row[prefix + outcome.replace(" ", "_")]))
        for heading, prefix in rules
        for row in others
        for outcome in OUTCOMES
    ]
    return pd.DataFrame(rows, columns=["rule", "method", "outcome", "datasets"])


def specify(frame: pd.DataFrame, reference: str) -> Any:
    """Return a bar per method, parted into wins, ties and losses, with a panel for each rule."""
    import altair as alt

    methods = list(dict.fromkeys(frame["method"]))
    shown = [outcome for outcome in OUTCOMES if frame.loc[frame["outcome"] == outcome, "datasets"].any()]
    colours = (BETTER, EQUAL, WORSE, "#ffffff")
    scale = alt.Scale(domain=shown, range=[colours[OUTCOMES.index(outcome)] for outcome in shown])
    placed = frame[frame["datasets"] > 0].assign(order=lambda f: f["outcome"].map(OUTCOMES.index))
    x = alt.X("datasets:Q", title="datasets", stack="zero").axis(tickMinStep=1, format="d")
    base = alt.Chart(placed).encode(alt.Y("method:N", scale=alt.Scale(domain=methods), title=None), order="order:Q")
    bars = base.mark_bar(stroke="#777777", strokeWidth=0.5).encode(
        x,
        alt.Color("outcome:N", scale=scale, title=reference, sort=shown).legend(orient="top"),
        tooltip=["rule:N", "method:N", "outcome:N", "datasets:Q"],
    )
    return bars.properties(width=320, height=alt.Step(20)).facet(
        column=alt.Column("rule:N", title=None, sort=list(dict.fromkeys(frame["rule"])))
    )


def describe(frame: pd.DataFrame, reference: str) -> str:
    """Describe the counts."""
    parts = []
    for rule, own in frame.groupby("rule", sort=False):
        table = own.pivot_table(index="method", columns="outcome", values="datasets", sort=False)
        texts = [f"{method} {row['win']:.0f}/{row['tie']:.0f}/{row['loss']:.0f}" for method, row in table.iterrows()]
        parts.append(f"{rule} of {reference} against {', '.join(texts)}")
    return f"{'; '.join(parts)}."
