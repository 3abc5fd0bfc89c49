"""The performance profile of time: the share of datasets within a factor of the fastest method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.charts.theme import chosen_in_legend, lines_of_methods

NAME = "time-profile"


def time_profile_chart(ratios: pd.DataFrame) -> Chart:
    """Return the chart of the times of a run."""
    return Chart(NAME, "Performance profile of time", spec=lambda: specify(ratios), alt=lambda: describe(ratios))


def specify(ratios: pd.DataFrame) -> Any:
    """Return a step function per method: the share of datasets within a factor of the smallest time."""
    import altair as alt

    end = _end(ratios)
    names = _by_area(ratios, end)
    points = pd.DataFrame(
        [
            {"method": name, "factor": factor, "share": share}
            for name in names
            for factor, share in _steps(ratios[name].to_numpy(dtype=float), end)
        ]
    )
    chosen, opacity = chosen_in_legend("method")
    colour, dash = lines_of_methods(names)
    return (
        alt.Chart(points)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            alt.X(
                "factor:Q",
                title="time divided by that of the fastest method on the dataset",
                scale=alt.Scale(type="log", domain=[1.0, end], nice=False),
                axis=alt.Axis(values=[10.0**power for power in range(int(np.log10(end)) + 1)], format="~s"),
            ),
            alt.Y("share:Q", title="share of datasets", scale=alt.Scale(domain=[0.0, 1.0])),
            # The legend lists the methods by area, best first, in the order in which the lines start.
            colour.legend(symbolLimit=100, columns=1 + len(names) // 16),
            dash,
            opacity=opacity(1.0, 0.12),
            tooltip=["method:N", alt.Tooltip("factor:Q", format=".3~g"), alt.Tooltip("share:Q", format=".2f")],
        )
        .add_params(chosen)
        .properties(width=520, height=300)
    )


def describe(ratios: pd.DataFrame) -> str:
    """Describe the profile: how often each method is the fastest."""
    fastest = (ratios <= 1.0).mean()
    shares = ", ".join(f"{name} {fastest[name]:.0%}" for name in _by_area(ratios, _end(ratios)))
    return f"Share of datasets on which each method is the fastest: {shares}."


def _end(ratios: pd.DataFrame) -> float:
    """Return the end of the axis: the power of ten at or above the largest ratio."""
    values = ratios.to_numpy(dtype=float)
    finite = values[np.isfinite(values)]
    largest = float(finite.max()) if len(finite) else 10.0
    return float(10.0 ** max(1, int(np.ceil(np.log10(max(10.0, largest)) - 1e-9))))


def _by_area(ratios: pd.DataFrame, end: float) -> list[str]:
    area = ratios.astype(float).clip(1.0, end).apply(np.log10).mean(skipna=False)
    return [str(name) for name in area.sort_values(kind="stable").index]


def _steps(ratios: np.ndarray[tuple[int], np.dtype[np.float64]], end: float) -> list[tuple[float, float]]:
    """Return where the step function that counts ratios up to a factor rises, from 1 to the end of the axis."""
    factors = [1.0, *np.unique(ratios[(ratios > 1.0) & (ratios <= end)]).tolist(), end]
    return [(factor, float(np.mean(ratios <= factor))) for factor in factors]
