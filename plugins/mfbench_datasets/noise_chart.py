"""The weight of true interactions against noise, for runs on generated data at several levels of it."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from mfbench import Chart, Run, Section
from mfbench.report.charts.drawing import lines_of_methods

NAME = "interaction-noise"
TITLE = "Weight of the true interaction against noise"
_NOISE = re.compile(r"([(,])\s*noise=((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?=[,)])")


def noise_sections(run: Run) -> list[Section]:
    """Return the section of a run in which a dataset appears at several levels of the parameter ``noise``."""
    chart = interaction_noise_chart(run.true_interactions)
    return [] if chart is None else [Section(TITLE, charts=[chart])]


def interaction_noise_chart(frame: pd.DataFrame) -> Chart | None:
    """Return the chart of a run, or None unless a dataset appears at several levels of the parameter ``noise``."""
    curves = by_noise(frame)
    if not len(curves):
        return None
    return Chart(
        NAME,
        TITLE,
        "Absolute weight of the true pair divided by the Frobenius norm of all weights, mean over folds.",
        spec=lambda: specify_interaction_noise(curves),
        alt=lambda: describe_interaction_noise(curves),
    )


def by_noise(frame: pd.DataFrame) -> pd.DataFrame:
    """Return data, method, noise and share; data at a single level are dropped."""
    rows = []
    for row in frame.to_dict("records"):
        match = _NOISE.search(row["dataset"])
        if match:
            data = _without(match)
            rows.append({"data": data, "method": row["method"], "noise": float(match[2]), "share": row["share"]})
    curves = pd.DataFrame(rows, columns=["data", "method", "noise", "share"])
    several = curves.groupby(["data", "method"])["noise"].transform("nunique") > 1
    return curves[several & curves["share"].notna()].reset_index(drop=True)


def _without(match: re.Match[str]) -> str:
    """Return the name of a dataset without its noise."""
    head, tail = match.string[: match.start()], match.string[match.end() :]
    if match[1] == ",":
        return head + tail
    rest = tail.lstrip(", ")
    return head + (rest[1:] if rest.startswith(")") else f"({rest}")


def specify_interaction_noise(curves: pd.DataFrame) -> Any:
    """Return a panel for each kind of data with a line per method."""
    import altair as alt

    lines = (
        alt.Chart(curves)
        .mark_line(point=True)
        .encode(
            alt.X("noise:Q", title="noise"),
            alt.Y("share:Q", title="share of the norm", scale=alt.Scale(domain=[0.0, 0.75])),
            *lines_of_methods(list(dict.fromkeys(curves["method"]))),
            tooltip=["method:N", "noise:Q", alt.Tooltip("share:Q", format=".3f")],
        )
        .properties(width=280, height=220)
    )
    return lines.facet(facet=alt.Facet("data:N", title=None), columns=2)


def describe_interaction_noise(curves: pd.DataFrame) -> str:
    """Describe the first and last share of each curve."""
    parts = []
    for (data, method), own in curves.groupby(["data", "method"], sort=False):
        ordered = own.sort_values("noise")
        parts.append(f"{method} on {data} from {ordered['share'].iloc[0]:.2f} to {ordered['share'].iloc[-1]:.2f}")
    return f"Share of the norm as noise grows: {'; '.join(parts)}."
