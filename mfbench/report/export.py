"""The same tables as files: Markdown, CSV, JSON, and a picture of the terminal view (SVG)."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from mfbench.analysis.across_datasets.overall import Overall
from mfbench.analysis.results import Run
from mfbench.report.overall import Drawing
from mfbench.report.page import Page, page_of
from mfbench.report.tables import BEST, BEST_MARKED, Cell, Table, headline, setting
from mfbench.suite.protocols import Timing

MARKDOWN_WIDTH = 100


def to_markdown(run: Run, command: str = "", *, statistics: bool = False) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    run : Run
    command : str, default=""
        The command that makes this report anew; it is named in the header.
    statistics : bool, default=False
        Also all pairs of methods, win probabilities and the profile of times.
    """
    environment = run.meta["environment"]
    page = page_of(run, statistics=statistics)
    jobs = environment["jobs"]
    page.setting += (
        f". mfbench {environment['mfbench']}, Python {environment['python']}, scikit-learn "
        f"{environment['libraries']['scikit-learn']}, {environment['cpu']}, {jobs} worker{'s' if jobs != 1 else ''}"
    )
    return page_to_markdown(page, command)


def page_to_markdown(page: Page, command: str = "") -> str:
    """Return a report as Markdown; see `to_markdown`."""
    parts = [f"# {page.title}", ""]
    if command:
        parts += ["Made by", "", f"    {command}", ""]
    parts += [f"{_capital(page.setting)}.", ""]
    for part in page.parts:
        parts += [f"## {_capital(part.title)}", ""]
        if isinstance(part, Drawing):
            parts += ["```text", *part.draw(MARKDOWN_WIDTH), "```", "", part.caption, ""]
        else:
            parts += [_markdown_table(part), ""]
    parts += [f"{line}\n" for line in page.notes]
    return "\n".join(parts).rstrip() + "\n"


def _capital(text: str) -> str:
    # A metric's name stays as it is written everywhere else.
    if "_" in text.split()[0]:
        return text
    return text[:1].upper() + text[1:]


def _markdown_table(table: Table) -> str:
    lines = ["| " + " | ".join(_escape(name) for name in table.columns) + " |"]
    lines.append("| --- |" + " ---: |" * (len(table.columns) - 1))
    lines += ["| " + " | ".join(_markdown_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _markdown_cell(cell: Cell) -> str:
    return f"**{_escape(cell.text)}**" if cell.role in (BEST, BEST_MARKED) else _escape(cell.text)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def to_svg(run: Run, width: int = 150, *, statistics: bool = False) -> str:
    """Return a picture of the terminal view, `width` characters wide.

    It refers to nothing outside itself: no fonts are fetched, the reader's own fixed-width font is used.
    """
    return page_to_svg(page_of(run, statistics=statistics), width)


def page_to_svg(page: Page, width: int = 150) -> str:
    """Return a picture of a report; see `to_svg`."""
    import io

    from rich.console import Console
    from rich.terminal_theme import MONOKAI

    from mfbench.report.terminal import show_page

    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    show_page(page, console)
    return console.export_svg(title=page.title, theme=MONOKAI, code_format=_SVG, unique_id="mfbench")


# As rich's own template, without the web font and the window's buttons.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect fill="#272822" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def to_csv(run: Run) -> str:
    """Return one line per dataset and method: mean, sd, folds, marks, the reference's verdict, published figures.

    Of the protocol ``ground-truth`` one line per dataset, method and figure, with interval and comparison.
    """
    if run.detects:
        told = run.compare_rounds().drop(columns="rounds")
        told = told.rename(columns={"low": "difference_low", "high": "difference_high"})
        frame = run.detection.merge(told, on=["dataset", "method", "figure"], how="left")
        return frame.to_csv(index=False, lineterminator="\n")
    frame = run.scores.merge(run.wins_ties_losses(), on=["dataset", "method"], how="left")
    for table, cells in run.published.groupby("table", sort=False):
        told = cells[["dataset", "method", "published", "difference", "verdict"]]
        told = told.rename(columns={name: f"{table}_{name}" for name in told.columns[2:]})
        frame = frame.merge(told, on=["dataset", "method"], how="left")
    return frame.to_csv(index=False, lineterminator="\n")


def to_json(run: Run) -> str:
    """Return everything in the report as JSON; a value that does not exist is null."""
    content = {
        "title": headline(run),
        "setting": setting(run),
        "metric": run.settings.metric,
        "reference": run.settings.reference,
        "test": run.settings.test,
        "alpha": run.settings.alpha,
        "published_test": run.settings.published_test,
        "rope": run.settings.rope,
        "missing": run.settings.missing,
        "methods": run.methods,
        "datasets": run.datasets.to_dict("records"),
        "scores": run.scores.to_dict("records"),
        "companions": run.companions.to_dict("records"),
        "summary": run.summary().to_dict("records"),
        "wins_ties_losses": run.wins_ties_losses().to_dict("records"),
        "overall": overall_content(run.overall()),
        "time_ratios": run.time_ratios.to_dict("index"),
        "rejections": run.rejections.to_dict("records"),
        "published": run.published.to_dict("records"),
        "detection": run.detection.to_dict("records"),
        "compare_rounds": run.compare_rounds().to_dict("records"),
        "true_interactions": run.true_interactions.to_dict("records"),
        "timing": run.timing.to_dict("records") if run.protocol.kind == Timing.kind else [],
        "left_out": run.left_out,
        "unavailable": list(run.unavailable),
        "failures": run.failures.to_dict("records"),
        "not_run": run.n_pending,
        "environment": run.meta["environment"],
    }
    return json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n"


def overall_content(overall: Overall) -> dict[str, Any]:
    """Return the comparison across datasets as plain values."""
    whole = overall.testable
    return {
        "datasets": [str(name) for name in overall.completed.scores.index],
        "dropped": overall.completed.dropped,
        "absent": overall.completed.absent,
        "filled": overall.completed.filled,
        "ranks": overall.ranks.to_dict(),
        "friedman": None if overall.friedman is None else dataclasses.asdict(overall.friedman),
        "critical_difference": overall.critical_difference if whole else None,
        "not_separated": [list(overall.ranks.index[first : last + 1]) for first, last in overall.groups]
        if whole
        else [],
        "against_reference": overall.against_reference.to_dict("records"),
        "pairs": overall.pairs.to_dict("records"),
        "win_probabilities": overall.wins.to_dict("index") if whole else {},
    }


def finite(value: Any) -> Any:
    """JSON has no NaN: they become null; NumPy numbers become plain ones."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def regeneration_command(run: Run, output: Path | None = None) -> str:
    """Return the command that makes a run's report anew, as a user would type it."""
    import shlex

    place = [] if run.meta["out"] == "reports" else ["--out", run.meta["out"]]
    target = [] if output is None else ["--output", output.as_posix()]
    first = shlex.join([*run.meta["command"], *place])
    return (
        f"{first} && {shlex.join(['mfbench', 'report', run.meta['suite']['suite']['name'], *place, '--md', *target])}"
    )
