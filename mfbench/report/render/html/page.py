"""The report as one self-contained HTML page: it opens from disk, loads nothing, and is readable without JavaScript."""

import base64
import contextlib
import gzip
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from importlib.metadata import version
from typing import Any

from mfbench.base.files import write_whole
from mfbench.base.text import FORMULA, MARKDOWN, plain
from mfbench.data.cache import default_cache
from mfbench.model.sections import Cell, Chart, Report, Section, Table
from mfbench.report.cells import measured
from mfbench.report.charts.drawing import CONFIG, cleaned, distinct_slugs, drawing_engine, specification
from mfbench.report.leaderboard import Leaderboard
from mfbench.report.render.files import SIGNS
from mfbench.report.render.html.tables import ScoreData, packed, static_picture

FULL = 0.2
"""The difference from the best of a row at which the bar of a score is empty."""


MOST_BLUE = 3
"""Of more methods that share the best score of a row, none has a bar in the colour of the best."""


@cache
def asset(name: str) -> str:
    """Return the text of a file of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def render(name: str, **values: Any) -> str:
    """Render a template with its values; texts are escaped."""
    import jinja2

    loader = jinja2.FunctionLoader(asset)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, loader=loader, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name).render(**values)


def to_fragment(report: Report) -> str:
    """Return a report as an HTML element for notebooks."""
    return render("fragment.html", report=report, sections=[s for s in report.sections if s.has_content])


@cache
def drawing_library() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script; it sets ``window.vegaEmbed``."""
    # Building the bundle takes seconds, so it is kept.
    kept = default_cache() / "page" / f"vega-embed-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text(encoding="utf-8")
    script = str(drawing_engine().javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    # If the folder is not writable, the only cost is building it again next time.
    with contextlib.suppress(OSError):
        write_whole(kept, script.encode())
    return script


@dataclass(frozen=True)
class Opening:
    """The first screen of a page: the question, and the pictures that answer it."""

    question: str
    size: str  # methods, datasets and folds
    state: str  # trials that have run and failed
    boards: Sequence[Leaderboard]


def to_html(report: Report, command: str = "", scores: ScoreData | None = None, opening: Opening | None = None) -> str:
    """Return a report as an HTML page."""
    from markupsafe import Markup

    charts: dict[str, Any] = {}
    sections = [
        _section(section, number, scores, charts)
        for number, section in enumerate(report.sections, 1)
        if section.has_content
    ]
    content: dict[str, Any] = {"charts": charts, "config": CONFIG, "latex": SIGNS}
    content |= {"formula": FORMULA, "markdown": MARKDOWN}
    if scores is not None:
        content["scores"] = scores.as_plain()
    library, script = drawing_library(), asset("page.js")
    return render(
        "template.html",
        report=report,
        opening=opening,
        duration=partial(measured, measure="time"),
        sections=sections,
        command=plain(command),
        groups=[] if scores is None else scores.groups,
        has_published=scores is not None and any(map(any, scores.published)),
        policy=policy((library, script)),
        style=Markup(asset("style.css")),  # nosec B704  # made by this package
        data=compressed(as_json(cleaned(content))),
        library=compressed(library),
        script=Markup(script),  # nosec B704  # made by this package
    )


def policy(scripts: Sequence[str]) -> str:
    """Return a Content-Security-Policy that allows these scripts and no network requests."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _section(section: Section, number: int, scores: ScoreData | None, charts: dict[str, Any]) -> dict[str, Any]:
    """Return the template data of a section, adding the specifications of its charts to `charts`."""
    figures, notes = [], list(section.notes)
    for chart in section.charts:
        if chart.spec is None:
            continue
        try:
            figures.append(_chart(chart, charts))
        except Exception as error:  # the page must survive any error in a plugin's specification
            if not section.plugin:
                raise
            reason = (str(error).strip() or type(error).__name__).split("\n")[0]
            notes.append(f"The chart {chart.name!r} of plugin {section.plugin!r} cannot be drawn: {reason}")
    tables = [
        _table(table, scores if scores is not None and table is scores.table else None) for table in section.tables
    ]
    return {"id": f"section-{number}", "title": section.title, "tables": tables, "charts": figures, "notes": notes}


def _table(table: Table, scores: ScoreData | None) -> dict[str, Any]:
    """Return the template data of a table, with its totals separate; `scores` is None unless the table shows scores."""
    n_body = len(table.rows) - table.footer_rows
    body: list[Any] = table.rows[:n_body]
    order = list(range(n_body))
    if scores is not None:
        body = [_score_row(row, scores, number) for number, row in enumerate(body)]
        # Datasets on which most methods are worse than the best come first; those that decide nothing come last.
        decided = [sum(isinstance(cell, dict) and cell["role"] == "worse" for cell in row) for row in body]
        order = sorted(order, key=lambda number: -decided[number])
    columns = list(table.columns)
    if scores is not None and scores.names:
        columns[scores.first :] = scores.names
    own: dict[str, Any] = {
        "columns": columns,
        "body": [(number, body[number]) for number in order],
        "footer": table.rows[n_body:],
        "title": table.title,
    }
    own |= {"is_scores": scores is not None, "text_column": table.wrap}
    if scores is None:
        return own
    empty = f"{100 * FULL:g} percentage points away" if scores.percent else "the worst"
    return {**own, "marks_worse": scores.marks_worse, "empty": empty}


def _score_row(row: Sequence[Cell], scores: ScoreData, number: int) -> list[Any]:
    """Return a row of scores, each with its value and its heat (0 to 1 within the row)."""
    values = scores.values[number]
    numbers = [value for value in values if value is not None]
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 0.0)
    cells: list[Any] = list(row[: scores.first])
    best = high if scores.greater_is_better else low
    for cell, value, kind in zip(row[scores.first :], values, scores.missing[number], strict=True):
        role = f"missing {kind}" if cell.role == "missing" else cell.role
        if cell.role == "plain" and scores.marks_worse:
            role = "worse"
        elif values.count(best) > MOST_BLUE and value == best:
            role += " tied"
        # Only the mean is in sight; spread and mark stay in copies.
        text, sign, rest = cell.text.partition(" ± ")
        shown: dict[str, Any] = {"text": text, "rest": sign + rest, "role": role}
        if value is not None:
            # A full bar is the best of the row. An empty one is FULL below it, or the worst unless scores are shares.
            empty = FULL if scores.percent else high - low
            share = 1.0 if value == best else max(0.0, 1.0 - abs(value - best) / empty)
            shown |= {"value": value, "heat": round(share, 2)}
        cells.append(shown)
    return cells


def _chart(chart: Chart, charts: dict[str, Any]) -> dict[str, Any]:
    from markupsafe import Markup

    content = specification(chart)
    # A plugin may reuse the name of another chart.
    name, words = distinct_slugs([*charts, chart.name])[-1], content["description"]
    # The drawing library escapes the texts in the picture.
    picture = Markup(static_picture(content, name, words))  # nosec B704  # made by this package
    # Values that JSON does not have are an error before the chart is added.
    charts[name] = json.loads(as_json(packed(content)), parse_float=lambda digits: float(f"{float(digits):.6g}"))
    return {"name": name, "title": chart.title, "caption": chart.caption, "words": words, "picture": picture}


def as_json(content: Any) -> str:
    """Return JSON without blanks; numbers that it does not have are an error."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False)


def compressed(text: str) -> str:
    """Return a text as the Base64 form of its gzip compression, which page.js expands."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
