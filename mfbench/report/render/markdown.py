"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from urllib.parse import quote

from mfbench.base.untrusted import markdown, markdown_paragraph, plain
from mfbench.model.sections import Cell, Chart, Report, Section, Table

WIDTH = 100


def to_markdown(report: Report, commands: Sequence[str] = (), pictures: Mapping[str, str] | None = None) -> str:
    """Return the report as Markdown."""
    parts = [f"# {markdown(report.title)}", ""]
    if commands:
        parts += ["Made by", "", *(f"    {plain(command)}" for command in commands), ""]
    environment = f" {report.environment}." if report.environment else ""
    parts += [markdown_paragraph(f"{report.setting}.{environment}"), ""]
    for section in report.sections:
        if section.has_content:
            parts += section_lines(section, pictures or {})
    return "\n".join(parts).rstrip() + "\n"


def section_lines(section: Section, pictures: Mapping[str, str]) -> list[str]:
    """Return a section as lines of Markdown, beginning with its heading and an empty line."""
    lines = [f"## {markdown(section.title)}", ""]
    for table in section.tables:
        lines += [*_heading(table.title), _table(table), ""]
    for chart in section.charts:
        lines += _chart(chart, pictures.get(chart.name, ""))
    for note in section.notes:
        lines += [markdown_paragraph(note), ""]
    return lines


def _heading(title: str) -> list[str]:
    return [f"### {markdown(title)}", ""] if title else []


def _chart(chart: Chart, address: str) -> list[str]:
    caption = [markdown_paragraph(chart.caption), ""] if chart.caption else []
    if address:
        alt = chart.title if chart.alt is None else chart.alt()
        shown = "" if address.endswith(".pdf") else "!"  # of other forms, Markdown shows the picture itself
        return [*_heading(chart.title), f"{shown}[{markdown(alt)}]({quote(address)})", "", *caption]
    if chart.text is None:
        return []
    lines = chart.lines(WIDTH)
    fence = "`" * max(3, 1 + _longest_run("`", lines))
    return [*_heading(chart.title), f"{fence}text", *lines, fence, "", *caption]


def _longest_run(sign: str, lines: list[str]) -> int:
    """Return how often a sign repeats at most; a fence of code that is longer cannot be ended from inside."""
    return max((len(list(run)) for line in lines for each, run in groupby(line) if each == sign), default=0)


def _table(table: Table) -> str:
    lines = ["| " + " | ".join(markdown(name) for name in table.columns) + " |"]
    lines.append("| --- |" + " ---: |" * (len(table.columns) - 1))
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    text = markdown(cell.text)
    return f"**{text}**" if cell.role in ("best", "best-marked") else text
