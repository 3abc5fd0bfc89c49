"""Colours, fonts and sizes of all charts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

# Okabe and Ito's colours, which readers with any colour vision distinguish, and four more for long lists.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31", "#7b4173", "#637939",
)  # fmt: skip
DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
ACCENT, NEUTRAL, INK, MUTED = "#d55e00", "#999999", "#222222", "#555555"
BETTER, EQUAL, WORSE = "#0072b2", "#bbbbbb", "#d55e00"
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"

CONFIG: dict[str, Any] = {
    "background": "white",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domainColor": MUTED,
        "gridColor": "#e5e5e5",
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 260,
        "tickColor": MUTED,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelFontSize": 12, "labelLimit": 260, "symbolStrokeWidth": 2, "titleFontSize": 12},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
    "title": {"fontSize": 14, "anchor": "start", "color": INK},
    "text": {"color": INK, "fontSize": 12},
    "range": {"category": list(COLOURS)},
}
"""Vega-Lite's ``config``; what a specification sets itself takes precedence."""

MOST_DATASETS = 60
"""Number of datasets that have a chart each; more would make a page that nobody can open."""


def first_charts(charts: Sequence[object]) -> list[str]:
    """Return the note on a list of charts, one per dataset, that ends at `MOST_DATASETS`."""
    return [f"Charts: the first {MOST_DATASETS} datasets."] if len(charts) == MOST_DATASETS else []


LETTER = 7.0
"""Upper bound on the width of a letter in pixels, where a layout must know the width of a label."""


def colours_of(names: Sequence[str]) -> list[str]:
    """Return a colour for each name; they repeat after ten, and `dashes_of` then distinguishes them."""
    return [COLOURS[number % len(COLOURS)] for number in range(len(names))]


def lines_of_methods(names: Sequence[str]) -> tuple[Any, Any]:
    """Return the colours and the dashes of lines, one for each method, as encodings of Altair."""
    import altair as alt

    ranges: tuple[Any, Any] = (colours_of(names), dashes_of(names))
    colour, dash = (alt.Scale(domain=list(names), range=own) for own in ranges)
    return alt.Color("method:N", title=None, scale=colour), alt.StrokeDash("method:N", title=None, scale=dash)


def chosen_in_legend(field: str) -> tuple[Any, Callable[[float, float], Any]]:
    """Return a selection by a click in the legend, and a function of the opacities of what it has and lacks."""
    import altair as alt

    chosen = alt.selection_point(fields=[field], bind="legend")
    return chosen, lambda own, other: alt.when(chosen).then(alt.value(own)).otherwise(alt.value(other))


def dashes_of(names: Sequence[str]) -> list[list[int]]:
    """Return a pattern of dashes for each name."""
    return [DASHES[number // len(COLOURS) % len(DASHES)] for number in range(len(names))]


def distinct_slugs(names: Sequence[str]) -> list[str]:
    """Return names of charts in a form that is fit for files and addresses; equal ones are numbered."""
    slugs: list[str] = []
    for name in names:
        slug = first = _slug(name) or "chart"
        number = 2
        while slug in slugs:
            slug, number = f"{first}-{number}", number + 1
        slugs.append(slug)
    return slugs


def numbered_name(kind: str, number: int, dataset: str) -> str:
    """Return the name of a dataset's chart, fit for a file."""
    return f"{kind}-{number:02d}-{_slug(dataset)[:80]}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
