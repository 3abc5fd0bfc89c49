"""The report as one HTML page: it opens from disk, asks nobody for anything, and is a document without JavaScript."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from mfbench.report.charts.drawing import data_of, picture, specification
from mfbench.report.render.html.scores import ScoreData
from mfbench.sections import Cell, Chart, Report, Section, Table

# Static pictures larger than this are left to the script; the chart's words and its data stand for them.
LARGEST_PICTURE = 60_000


@dataclass(frozen=True)
class PageCell:
    """A cell of a table on the page; the heat is between 0 and 1 within its row."""

    text: str
    role: str
    value: float | None = None
    heat: float = 0.0


@dataclass(frozen=True)
class PageTable:
    """A table on the page, its totals apart."""

    columns: Sequence[str]
    body: Sequence[Sequence[PageCell]]
    footer: Sequence[Sequence[PageCell]]
    title: str
    is_scores: bool


@dataclass(frozen=True)
class PageChart:
    """A chart on the page."""

    id: str
    name: str
    title: str
    caption: str
    alt: str
    svg: Any


@dataclass(frozen=True)
class PageSection:
    """A section on the page."""

    id: str
    title: str
    tables: Sequence[PageTable]
    charts: Sequence[PageChart]
    notes: Sequence[str]


@dataclass
class _Charts:
    """The charts of the page: their specifications, and their data as rows of a table."""

    specifications: dict[str, Any] = field(default_factory=dict)
    values: dict[str, list[list[Any]]] = field(default_factory=dict)


def to_html(report: Report, command: str = "", scores: ScoreData | None = None) -> str:
    """Return a report as an HTML page.

    Parameters
    ----------
    report : Report
    command : str, default=""
        The command that makes the report again.
    scores : ScoreData or None, default=None
        What the table of scores shows on demand; None leaves it a plain table.

    Returns
    -------
    str
        Equal for equal input.
    """
    import jinja2
    from markupsafe import Markup

    charts = _Charts()
    sections = [
        _section(section, number, scores, charts)
        for number, section in enumerate(report.sections, 1)
        if section.has_content
    ]
    content = {"charts": charts.specifications, "values": charts.values}
    if scores is not None:
        content["scores"] = scores.as_plain()
    library, script = _library(), _asset("page.js")
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _asset("template.html")
    )
    return template.render(
        report=report,
        sections=sections,
        command=command,
        tags=[] if scores is None else scores.all_tags,
        groups=[] if scores is None else scores.groups,
        has_published=scores is not None and any(map(any, scores.published)),
        policy=policy((library, script)),
        style=Markup(_asset("style.css")),
        data=Markup(_json(content)),
        library=Markup(library),
        script=Markup(script),
    )


def policy(scripts: Sequence[str]) -> str:
    """Return a Content-Security-Policy under which a page runs these scripts and asks nobody for anything.

    Examples
    --------
    >>> policy(["1"])[:60]
    "default-src 'none'; script-src 'sha256-a4ayc/80/OGda4BO/1o/V"
    """
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def _section(section: Section, number: int, scores: ScoreData | None, charts: _Charts) -> PageSection:
    return PageSection(
        f"section-{number}",
        section.title,
        [_table(table, scores) for table in section.tables],
        [_chart(chart, charts) for chart in section.charts if chart.spec is not None],
        section.notes,
    )


def _table(table: Table, scores: ScoreData | None) -> PageTable:
    n_body = len(table.rows) - table.footer_rows
    is_scores = scores is not None and table is scores.table
    if scores is None or not is_scores:
        rows = [[PageCell(cell.text, cell.role) for cell in row] for row in table.rows]
    else:
        rows = [
            _score_row(row, scores, number) if number < n_body else [PageCell(cell.text, cell.role) for cell in row]
            for number, row in enumerate(table.rows)
        ]
    return PageTable(table.columns, rows[:n_body], rows[n_body:], table.title, is_scores)


def _score_row(row: Sequence[Cell], scores: ScoreData, number: int) -> list[PageCell]:
    values = scores.values[number]
    known = [value for value in values if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    sign = 1.0 if scores.greater_is_better else -1.0
    cells = [PageCell(cell.text, cell.role) for cell in row[: scores.first]]
    for cell, value in zip(row[scores.first :], values, strict=True):
        share = 0.5 if high == low or value is None else (value - low) / (high - low)
        heat = share if sign > 0 else 1.0 - share
        cells.append(PageCell(cell.text, cell.role, value, round(heat, 2)))
    return cells


def _chart(chart: Chart, charts: _Charts) -> PageChart:
    from markupsafe import Markup

    content = specification(chart)
    charts.specifications[chart.name] = content
    frame = data_of(content)
    charts.values[chart.name] = [
        list(map(str, frame.columns)),
        *frame.astype(object).where(frame.notna(), None).to_numpy().tolist(),
    ]
    svg = picture(chart).decode()
    # The picture is made by the drawing library from text that it escapes.
    drawn = Markup(_inline(svg, chart.name)) if len(svg) <= LARGEST_PICTURE else ""
    alt = chart.title if chart.alt is None else chart.alt()
    return PageChart(f"chart-{_slug(chart.name)}", chart.name, chart.title, chart.caption, alt, drawn)


def _inline(svg: str, name: str) -> str:
    """Return an SVG document as an element of a page: identifiers are distinct from those of other charts."""
    body = svg[svg.index("<svg") :]
    prefix = _slug(name)
    return re.sub(r'((?:id="|url\(#|href="#))', rf"\g<1>{prefix}-", body)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _json(content: Any) -> str:
    """Return JSON that is safe within a script element: no sign in it can end the element or begin a comment."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _library() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script."""
    import vl_convert

    snippet = "window.vegaEmbed = vegaEmbed;"
    bundle = str(vl_convert.javascript_bundle(snippet))
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
