"""The performance profile of time as SVG: the share of datasets within a factor of the fastest method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mfbench.report.charts.svg import LETTER, document, line, text
from mfbench.sections import Chart

NAME = "time-profile"
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31", "#7b4173", "#637939",
)  # fmt: skip
_DASHES = ("", "6 3", "2 2", "8 3 2 3")
_LEFT, _PANEL_WIDTH, _PANEL_HEIGHT = 64.0, 520.0, 300.0


def time_profile_chart(ratios: pd.DataFrame) -> Chart:
    """Return the chart of the times of a run."""
    return Chart(NAME, "Performance profile of time", svg=lambda title: draw_profile(ratios, title))


@dataclass(frozen=True)
class _Panel:
    """Coordinates of the panel: a logarithmic axis of factors, a linear one of shares."""

    top: float
    decades: int

    @property
    def bottom(self) -> float:
        return self.top + _PANEL_HEIGHT

    def x(self, factor: float) -> float:
        return _LEFT + float(np.log10(factor)) / self.decades * _PANEL_WIDTH

    def y(self, share: float) -> float:
        return self.top + (1.0 - share) * _PANEL_HEIGHT


def draw_profile(ratios: pd.DataFrame, title: str = "") -> str:
    """Return a performance profile: for each method, the share of datasets within a factor of the smallest time.

    Parameters
    ----------
    ratios : DataFrame of shape (n_datasets, n_methods)
        As returned by `mfbench.analysis.across_datasets.profiles.performance_ratios`.
    title : str, default=""
        Heading; none if empty.

    Returns
    -------
    str
        An SVG document.
    """
    values = ratios.to_numpy(dtype=float)
    finite = values[np.isfinite(values)]
    decades = max(1, int(np.ceil(np.log10(max(10.0, finite.max() if len(finite) else 10.0)) - 1e-9)))
    panel = _Panel(52.0 if title else 24.0, decades)
    names = [str(name) for name in ratios.columns]
    width = _LEFT + _PANEL_WIDTH + 24.0 + 40.0 + LETTER * max(len(name) for name in names) + 12.0
    height = max(panel.bottom + 56.0, panel.top + 20.0 * len(names) + 20.0)
    body = [text(width / 2, 26, title, "middle", font_weight="bold")] if title else []
    body += _axes(panel)
    # The legend lists the methods by area, best first, in the order in which the lines start.
    area = {name: float(np.mean(np.log10(np.clip(values[:, i], 1.0, 10.0**decades)))) for i, name in enumerate(names)}
    for number, name in enumerate(sorted(names, key=lambda name: area[name])):
        body += _method(panel, number, name, np.sort(values[:, names.index(name)]))
    return document(width, height, title or "performance profile", body)


def _axes(panel: _Panel) -> list[str]:
    body = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = panel.y(share)
        body += [
            line(_LEFT, y, _LEFT + _PANEL_WIDTH, y, 0.5, "#bbb"),
            text(_LEFT - 8, y + 4, f"{share:g}", "end"),
        ]
    for power in range(panel.decades + 1):
        x = panel.x(10.0**power)
        body += [
            line(x, panel.top, x, panel.bottom, 0.5, "#bbb"),
            text(x, panel.bottom + 18, f"{10.0**power:,.0f}", "middle"),
        ]
    return [
        *body,
        text(
            _LEFT + _PANEL_WIDTH / 2, panel.bottom + 40, "time divided by that of the fastest method on the dataset",
            "middle",
        ),
        f'<text transform="translate(18 {panel.top + _PANEL_HEIGHT / 2:.1f}) rotate(-90)" text-anchor="middle">'
        "share of datasets</text>",
    ]  # fmt: skip


def _method(panel: _Panel, number: int, name: str, ratios: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[str]:
    """Draw a method's line and its entry in the legend."""
    colour, dash = COLOURS[number % len(COLOURS)], _DASHES[number // len(COLOURS) % len(_DASHES)]
    style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
    points = _steps(ratios, 10.0**panel.decades)
    path = " ".join(f"{'M' if i == 0 else 'L'}{panel.x(a):.1f} {panel.y(b):.1f}" for i, (a, b) in enumerate(points))
    legend, y = _LEFT + _PANEL_WIDTH + 24.0, panel.top + 10.0 + 20.0 * number
    return [
        f'<path d="{path}" {style}/>',
        f'<path d="M{legend:.1f} {y:.1f} h28" {style}/>',
        text(legend + 34, y + 4, name),
    ]


def _steps(ratios: np.ndarray[tuple[int], np.dtype[np.float64]], end: float) -> list[tuple[float, float]]:
    """Return the corners of the step function that counts ratios up to a factor."""
    points = [(1.0, float(np.mean(ratios <= 1.0)))]
    for ratio in np.unique(ratios[(ratios > 1.0) & (ratios <= end)]):
        points += [(float(ratio), points[-1][1]), (float(ratio), float(np.mean(ratios <= ratio)))]
    return [*points, (end, points[-1][1])]
