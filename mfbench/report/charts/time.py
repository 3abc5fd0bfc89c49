"""Charts of time: scores against it, and the share of datasets within a factor of the fastest method."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import ACCENT, LETTER, NEUTRAL, chosen_in_legend, lines_of_methods

SCORE_TIME = "score-time"
_WIDTH, _HEIGHT, _LINE = 560, 340, 13


def score_time_chart(summary: pd.DataFrame, metric: str, *, greater_is_better: bool = True) -> Chart | None:
    """Return the chart of a run, or None if fewer than two methods have a mean and a time."""
    frame = front(summary, greater_is_better=greater_is_better)
    if len(frame) < 2:
        return None
    return Chart(
        SCORE_TIME,
        f"Mean {metric} against time",
        "A method is on the front unless another is at least as good and as fast, and better in one of the two.",
        spec=lambda: specify_score_time(frame, metric),
        alt=lambda: describe_score_time(frame),
    )


def front(summary: pd.DataFrame, *, greater_is_better: bool = True) -> pd.DataFrame:
    """Return method, mean, seconds per trial, and whether the method is on the Pareto front."""
    seconds = summary["total_seconds"] / summary["planned"].clip(lower=1)
    frame: pd.DataFrame = summary[["method", "mean"]].assign(seconds=seconds)
    frame = frame[np.isfinite(frame["mean"]) & (frame["seconds"] > 0)].reset_index(drop=True)
    goodness = frame["mean"] if greater_is_better else -frame["mean"]
    points = list(zip(goodness, -frame["seconds"], strict=True))
    beaten = [any(a >= mean and b >= speed and (a, b) != (mean, speed) for a, b in points) for mean, speed in points]
    return frame.assign(front=~np.array(beaten, dtype=bool))


def specify_score_time(frame: pd.DataFrame, metric: str) -> Any:
    """Return a labelled dot for each method, with a line through the Pareto front."""
    import altair as alt

    x = alt.X("seconds:Q", scale=alt.Scale(type="log", padding=24), title="seconds per trial")
    y = alt.Y("mean:Q", scale=alt.Scale(zero=False, padding=16), title=f"mean {metric}")
    colour = alt.when("datum.front").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL))
    figures = [alt.Tooltip("mean:Q", format=".4f"), alt.Tooltip("seconds:Q", format=".3~g")]
    base = alt.Chart(frame).encode(x, y)
    joined = (
        alt.Chart(frame)
        .transform_filter("datum.front")
        .mark_line(interpolate="step-after", color=ACCENT, strokeDash=[4, 3])
    )
    named = alt.FieldOneOfPredicate(field="method", oneOf=labelled(frame))
    return alt.layer(
        joined.encode(x, y),
        base.mark_circle(size=60, opacity=1.0).encode(color=colour, tooltip=["method:N", *figures, "front:N"]),
        base.transform_filter(named).mark_text(align="left", dx=7, dy=-5, fontSize=11).encode(alt.Text("method:N")),
    ).properties(width=_WIDTH, height=_HEIGHT)


def labelled(frame: pd.DataFrame) -> list[str]:
    """Return the methods whose labels fit beside their dots without overlapping another; the front has priority."""
    x = _scaled(np.log(frame["seconds"].to_numpy(dtype=float)), _WIDTH)
    y = _scaled(frame["mean"].to_numpy(dtype=float), _HEIGHT)
    taken: list[tuple[float, float, float]] = []
    names = []
    for place in np.argsort(~frame["front"].to_numpy(dtype=bool), kind="stable"):
        name = str(frame["method"].iloc[place])
        left, right = x[place], x[place] + LETTER * len(name)
        if all(right < begin or left > end or abs(y[place] - height) > _LINE for begin, end, height in taken):
            taken.append((left, right, y[place]))
            names.append(name)
    return names


def _scaled(values: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """Return values in pixels along an axis that they fill."""
    spread = float(np.ptp(values)) if len(values) else 0.0
    return (values - values.min()) / spread * size if spread else np.zeros(len(values))


def describe_score_time(frame: pd.DataFrame) -> str:
    """Describe the front, fastest first."""
    parts = [
        f"{row['method']} ({row['mean']:.3f}, {row['seconds']:.2g} s)"
        for row in frame[frame["front"]].sort_values("seconds").to_dict("records")
    ]
    return f"Methods on the front, fastest first: {', '.join(parts)}."


TIME_PROFILE = "time-profile"


def time_profile_chart(ratios: pd.DataFrame) -> Chart:
    """Return the chart of the times of a run."""
    return Chart(
        TIME_PROFILE,
        "Performance profile of time",
        spec=lambda: specify_time_profile(ratios),
        alt=lambda: describe_time_profile(ratios),
    )


def specify_time_profile(ratios: pd.DataFrame) -> Any:
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


def describe_time_profile(ratios: pd.DataFrame) -> str:
    """Describe the profile: how often each method is fastest."""
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
