"""Shares of datasets on which one method is better than another, as a heat map."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.charts.theme import BETTER, WORSE

NAME = "win-probabilities"
WINS = "Share of datasets on which the method of the row is better than that of the column; a tie counts half"
_STEP, _NUMBERED = 30, 16


def win_probabilities_chart(wins: pd.DataFrame) -> Chart:
    """Return the chart of all pairs of methods."""
    return Chart(NAME, "Shares of wins", f"{WINS}.", spec=lambda: specify(wins), alt=lambda: describe(wins))


def specify(wins: pd.DataFrame) -> Any:
    """Return a cell for each ordered pair: blue where the method of the row wins more often, orange where it loses."""
    import altair as alt

    names = [str(name) for name in wins.index]
    shares = wins.to_dict("index")
    cells = [(row, column, shares[row][column]) for row in names for column in names if row != column]
    frame = pd.DataFrame(cells, columns=["row", "column", "share"])
    base = alt.Chart(frame).encode(
        alt.X("column:N", scale=alt.Scale(domain=names), title=None, axis=alt.Axis(orient="top", labelAngle=-45)),
        alt.Y("row:N", scale=alt.Scale(domain=names), title=None),
        tooltip=["row:N", "column:N", alt.Tooltip("share:Q", format=".2f")],
    )
    colours = alt.Scale(domain=[0.0, 0.5, 1.0], range=[WORSE, "#f7f7f7", BETTER])
    layers = [base.mark_rect().encode(alt.Color("share:Q", scale=colours, title="share of wins"))]
    if len(names) <= _NUMBERED:
        is_strong = (alt.datum.share < 0.15) | (alt.datum.share > 0.85)
        ink = alt.when(is_strong).then(alt.value("white")).otherwise(alt.value("#222222"))
        layers.append(base.mark_text(fontSize=10).encode(alt.Text("share:Q", format=".2f"), color=ink))
    return alt.layer(*layers).properties(width=alt.Step(_STEP), height=alt.Step(_STEP * 0.8))


def describe(wins: pd.DataFrame) -> str:
    """Describe the mean share of wins of each method."""
    means = (wins.sum(axis=1) - 0.5) / max(1, len(wins) - 1)
    return f"Mean share of wins: {', '.join(f'{name} {share:.2f}' for name, share in means.items())}."
