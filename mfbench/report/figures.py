"""Figures as SVG, which refer to nothing outside themselves: critical differences and performance profiles."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mfbench.report.diagrams import Diagram, levels
from mfbench.report.svg import LETTER, document, line, text
from mfbench.report.tables import rank_text

COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31", "#7b4173", "#637939",
)  # fmt: skip
_DASHES = ("", "6 3", "2 2", "8 3 2 3")


def critical_difference_figure(diagram: Diagram, title: str = "") -> str:
    """Return a critical-difference diagram in Demšar's form: ranks on an axis, bars under it, labels at both sides.

    Parameters
    ----------
    diagram : Diagram
    title : str, default=""
        Heading; none if empty.

    Returns
    -------
    str
        An SVG document.
    """
    n = len(diagram.labels)
    half = (n + 1) // 2
    margin = max(110.0, 62.0 + LETTER * max(len(label) for label in diagram.labels))
    axis = max(360.0, 34.0 * (n - 1))
    # The caption stands in one line, however short the axis.
    width = max(2 * margin + axis, 24.0 + 6.4 * len(diagram.caption))
    margin = (width - axis) / 2
    top = 78.0 if title else 54.0
    rows = levels(diagram.bars)
    below = top + 16.0 + 9.0 * (max(rows, default=-1) + 1) + 8.0
    height = below + 20.0 * half + 38.0

    def place(rank: float) -> float:
        return margin + (rank - 1.0) / (n - 1.0) * axis

    body = [text(width / 2, 22, title, "middle", font_weight="bold")] if title else []
    body += [line(margin, top, margin + axis, top, 1.5)]
    for number in range(1, n + 1):
        if n <= 30 or number in (1, n) or number % 5 == 0:
            body += [
                line(place(number), top - 6, place(number), top),
                text(place(number), top - 10, str(number), "middle"),
            ]
    end = min(margin + axis, place(1.0 + diagram.difference))
    y = top - 32.0
    body += [line(margin, y, end, y, 2), line(margin, y - 4, margin, y + 4), line(end, y - 4, end, y + 4)]
    body += [text(end + 8, y + 4, f"CD = {diagram.difference:.2f}")]
    for position, (label, rank) in enumerate(zip(diagram.labels, diagram.ranks, strict=True)):
        left = position < half
        y = below + 20.0 * (position if left else n - 1 - position) + 10.0
        edge = margin - 8.0 if left else margin + axis + 8.0
        body += [line(place(rank), top, place(rank), y), line(place(rank), y, edge, y)]
        figure = rank_text(rank)
        body += [
            text(
                edge + (-4 if left else 4),
                y + 4,
                f"{label}  {figure}" if left else f"{figure}  {label}",
                "end" if left else "start",
            )
        ]
    for (first, last), row in zip(diagram.bars, rows, strict=True):
        y = top + 12.0 + 9.0 * row
        body += [line(place(diagram.ranks[first]) - 3, y, place(diagram.ranks[last]) + 3, y, 4)]
    body += [text(width / 2, height - 12, diagram.caption, "middle", font_size="11", fill="#444")]
    return document(width, height, title or "critical differences", body)


def profile_figure(ratios: pd.DataFrame, title: str = "") -> str:
    """Return a performance profile: for each method, the share of datasets within a factor of the smallest cost.

    Parameters
    ----------
    ratios : DataFrame of shape (n_datasets, n_methods)
        As `mfbench.analysis.across_datasets.profiles.performance_ratios` returns.
    title : str, default=""
        Heading; none if empty.

    Returns
    -------
    str
        An SVG document with a logarithmic axis of factors.
    """
    values = ratios.to_numpy(dtype=float)
    finite = values[np.isfinite(values)]
    decades = max(1, int(np.ceil(np.log10(max(10.0, finite.max() if len(finite) else 10.0)) - 1e-9)))
    left, top, wide, high = 64.0, 52.0 if title else 24.0, 520.0, 300.0
    names = [str(name) for name in ratios.columns]
    legend = left + wide + 24.0
    width = legend + 40.0 + LETTER * max(len(name) for name in names) + 12.0
    height = max(top + high + 56.0, top + 20.0 * len(names) + 20.0)

    def x(factor: float) -> float:
        return left + float(np.log10(factor)) / decades * wide

    def y(part: float) -> float:
        return top + (1.0 - part) * high

    body = [text(width / 2, 26, title, "middle", font_weight="bold")] if title else []
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        body += [
            line(left, y(part), left + wide, y(part), 0.5, "#bbb"),
            text(left - 8, y(part) + 4, f"{part:g}", "end"),
        ]
    for power in range(decades + 1):
        factor = 10.0**power
        body += [
            line(x(factor), top, x(factor), top + high, 0.5, "#bbb"),
            text(x(factor), top + high + 18, f"{factor:,.0f}", "middle"),
        ]
    body += [text(left + wide / 2, top + high + 40, "time over that of the fastest method on the dataset", "middle")]
    body += [
        f'<text transform="translate(18 {top + high / 2:.1f}) rotate(-90)" text-anchor="middle">share of datasets'
        "</text>"
    ]
    # The best start and area come first in the legend, as the eye reads.
    area = {name: float(np.mean(np.log10(np.clip(values[:, i], 1.0, 10.0**decades)))) for i, name in enumerate(names)}
    for number, name in enumerate(sorted(names, key=lambda name: area[name])):
        colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number // len(COLOURS) % len(_DASHES)]
        style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
        points = _steps(np.sort(values[:, names.index(name)]), 10.0**decades)
        path = " ".join(f"{'M' if i == 0 else 'L'}{x(a):.1f} {y(b):.1f}" for i, (a, b) in enumerate(points))
        at = top + 10.0 + 20.0 * number
        body += [
            f'<path d="{path}" {style}/>',
            f'<path d="M{legend:.1f} {at:.1f} h28" {style}/>',
            text(legend + 34, at + 4, name),
        ]
    return document(width, height, title or "performance profile", body)


def _steps(ratios: np.ndarray[tuple[int], np.dtype[np.float64]], end: float) -> list[tuple[float, float]]:
    """Return the corners of the step function that counts ratios up to a factor."""
    points = [(1.0, float(np.mean(ratios <= 1.0)))]
    for ratio in np.unique(ratios[(ratios > 1.0) & (ratios <= end)]):
        points += [(float(ratio), points[-1][1]), (float(ratio), float(np.mean(ratios <= ratio)))]
    return [*points, (end, points[-1][1])]
