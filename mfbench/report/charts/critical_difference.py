"""The critical-difference diagram, as text and as a picture."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import pandas as pd
from rich.cells import cell_len

from mfbench.model.sections import Chart
from mfbench.report.cells import rank_text
from mfbench.report.charts.drawing import INK, LETTER, MUTED
from mfbench.stats.across_datasets import Overall

NAME = "critical-difference"
LEAST_WIDTH = 40
_AXIS_LIMIT = 100


def critical_difference_chart(overall: Overall) -> Chart | None:
    """Return the chart of a comparison, or None with fewer than two datasets or two methods."""
    if not overall.testable:
        return None
    return Chart(
        NAME,
        "Critical-difference diagram",
        f"Average ranks over {overall.n_datasets} datasets; 1 is best. Critical difference "
        f"{overall.critical_difference:.2f} (Nemenyi, α = {overall.alpha:g}); bars join methods that do not differ "
        "significantly.",
        text=lambda width: draw_text(overall, width),
        spec=lambda: specify(overall),
        alt=lambda: describe(overall),
    )


def levels(bars: Sequence[tuple[float, float]], gap: float = 0.0) -> list[int]:
    """Return the row of each bar: the first row in which it is more than a gap away from other bars."""
    ends: list[float] = []
    rows = []
    for first, last in bars:
        row = next((number for number, end in enumerate(ends) if first - end > gap), len(ends))
        if row == len(ends):
            ends.append(last)
        ends[row] = last
        rows.append(row)
    return rows


def draw_text(overall: Overall, width: int = 80) -> list[str]:
    """Return the diagram as text: a line per method with its rank on a scale, and bars to the right."""
    ranks, difference, bars = overall.ranks, overall.critical_difference, overall.groups
    rows = levels(bars)
    label_width = max(map(cell_len, ranks.index))
    room = max(LEAST_WIDTH, width) - label_width - 2 * (max(rows, default=-1) + 1) - 10
    scale = min(room, _AXIS_LIMIT)
    last = len(ranks)

    def position_of(rank: float) -> int:
        return round((rank - 1.0) / (last - 1.0) * (scale - 1))

    lead = " " * (label_width + 9)
    span = min(scale - 1, position_of(1.0 + difference))
    inner = f" CD {difference:.2f} "
    bar = f"├{inner.center(max(0, span - 1), '─')}┤" if span > len(inner) + 1 else f"├{'─' * max(0, span - 1)}┤{inner}"
    lines = [f"{lead}{bar}", f"{lead}{_scale(last, scale, position_of)}"]
    for index, (label, rank) in enumerate(ranks.items()):
        place, padding = position_of(rank), " " * (label_width - cell_len(str(label)))
        track = f"{'·' * place}●{'·' * (scale - place - 1)}"
        lines.append(f" {label}{padding} {rank_text(rank):>6} {track}{_strokes(index, bars, rows)}".rstrip())
    return lines


def _scale(last: int, scale: int, position_of: Callable[[float], int]) -> str:
    """Return as many scale numbers above the tracks as fit."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if (last - 1) / step * 5 <= scale or step == 1000)
    characters = [" "] * (scale + 4)
    for number in [1, *range(1 + step, last, step), last]:
        begin, digits = position_of(number), str(number)
        if number != last and begin + len(digits) >= position_of(last):
            continue
        characters[begin : begin + len(digits)] = digits
    return "".join(characters).rstrip()


def _strokes(index: int, bars: Sequence[tuple[int, int]], rows: Sequence[int]) -> str:
    columns = [" "] * (max(rows, default=-1) + 1)
    for (first, last), row in zip(bars, rows, strict=True):
        if first <= index <= last:
            columns[row] = "┐" if index == first else "┘" if index == last else "│"
    return "".join(f" {column}" for column in columns)


# Demšar's layout in pixels: label rows, bars, and axis space per method.
_ROW, _BAR, _PER_METHOD, _LEAST_AXIS, _TOP, _GAP = 20.0, 9.0, 34.0, 360.0, 12.0, 12.0


def specify(overall: Overall) -> Any:
    """Return the diagram in Demšar's layout: ranks on an axis, bars below it, labels on both sides."""
    import altair as alt

    places, difference = overall.ranks, overall.critical_difference
    n = len(places)
    axis = max(_LEAST_AXIS, _PER_METHOD * (n - 1))
    # Labels are placed beside the axis, in rank units.
    margin = (24.0 + LETTER * (6 + max(map(cell_len, places.index)))) * (n - 1) / axis
    # Round caps lengthen bars, so two bars that seem to touch would join methods that differ.
    ends = [(places.iloc[first], places.iloc[last]) for first, last in overall.groups]
    rows = levels(ends, gap=_GAP * (n - 1) / axis)
    labels_top = _TOP + _BAR * (max(rows, default=-1) + 1) + 14.0
    height = labels_top + _ROW * ((n + 1) // 2)
    ranks = alt.Scale(domain=[1.0 - margin, n + margin], nice=False, zero=False)
    heights = alt.Scale(domain=[height, -34.0], nice=False)
    ticks = [number for number in range(1, n + 1) if n <= 30 or number in (1, n) or number % 5 == 0]
    numbers = alt.Axis(orient="top", values=ticks, grid=False, domain=False, title=None, format="d", offset=-34)
    x, y = alt.X("rank:Q", scale=ranks, axis=numbers), alt.Y("y:Q", scale=heights, axis=None)
    top = alt.Y("top:Q", scale=heights, axis=None)
    labels = pd.DataFrame([_label(places, index, labels_top, margin) for index in range(n)])
    groups = [(*bar, _TOP + _BAR * row, number) for number, (bar, row) in enumerate(zip(ends, rows, strict=True), 1)]
    bars = pd.DataFrame(groups, columns=["rank", "end", "y", "group"], dtype=float)
    span = min(float(n), 1.0 + difference)
    rules = [(1.0, float(n), 0.0, ""), (1.0, span, -30.0, f"CD = {difference:.2f}")]
    scale = pd.DataFrame(rules, columns=["rank", "end", "y", "label"])
    tooltip = ["method:N", alt.Tooltip("rank:Q", title="average rank", format=".2f")]
    named = alt.Chart(labels).encode(x, y)
    layers = [
        alt.Chart(scale).mark_rule(strokeWidth=1.5, color=INK).encode(x, y, alt.X2("end")),
        alt.Chart(scale)
        .mark_text(align="left", dx=6, baseline="middle")
        .encode(alt.X("end:Q", scale=ranks), y, alt.Text("label:N")),
        named.mark_rule(color=MUTED).encode(y=top, y2=alt.Y2("y")),
        named.mark_rule(color=MUTED).encode(x2=alt.X2("edge")),
        named.mark_circle(color=INK, size=36).encode(y=top, tooltip=tooltip),
        alt.Chart(bars).mark_rule(strokeWidth=4, strokeCap="round", color=INK).encode(x, y, alt.X2("end")),
    ]
    sides: tuple[tuple[str, Literal["left", "right"], int], ...] = (("left", "right", -5), ("right", "left", 5))
    for side, align, shift in sides:
        words = alt.Chart(labels).transform_filter(alt.datum.side == side)
        layers.append(
            words.mark_text(align=align, dx=shift, baseline="middle").encode(
                alt.X("edge:Q", scale=ranks), y, alt.Text("label:N"), tooltip=tooltip
            )
        )
    return alt.layer(*layers).properties(width=axis * (1.0 + 2.0 * margin / (n - 1)), height=height + 34.0)


def _label(ranks: pd.Series, index: int, top: float, margin: float) -> dict[str, Any]:
    """Return the position of a method's label: on the side of its half of the ranks, linked to its rank on the axis."""
    n, method, rank = len(ranks), ranks.index[index], ranks.iloc[index]
    left = index < (n + 1) // 2
    gap = margin * 0.12
    return {
        "method": method,
        "rank": rank,
        "top": 0.0,
        "y": top + _ROW * (index if left else n - 1 - index),
        "edge": 1.0 - gap if left else n + gap,
        "side": "left" if left else "right",
        "label": f"{method}  {rank_text(rank)}" if left else f"{rank_text(rank)}  {method}",
    }


def describe(overall: Overall) -> str:
    """Describe the diagram: the ranks, and which methods do not differ significantly."""
    names = overall.ranks.index
    ranks = ", ".join(f"{name} {rank_text(rank)}" for name, rank in overall.ranks.items())
    groups = "; ".join(f"{names[first]} to {names[last]}" for first, last in overall.groups)
    return f"Average ranks: {ranks}. No significant difference among: {groups or 'none'}."
