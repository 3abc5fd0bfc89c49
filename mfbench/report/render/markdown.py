"""The report as Markdown."""

from __future__ import annotations

from itertools import groupby

from mfbench.sections import Cell, Chart, Report, Section, Table
from mfbench.untrusted import markdown, markdown_paragraph, plain

WIDTH = 100


def to_markdown(report: Report, command: str = "") -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    report : Report
    command : str, default=""
        The command that makes this report again, for its head.
    """
    parts = [f"# {markdown(report.title)}", ""]
    if command:
        parts += ["Made by", "", f"    {plain(command)}", ""]
    environment = f" {report.environment}." if report.environment else ""
    parts += [markdown_paragraph(f"{report.setting}.{environment}"), ""]
    for section in report.sections:
        if section.has_content:
            parts += _section(section)
    return "\n".join(parts).rstrip() + "\n"


def _section(section: Section) -> list[str]:
    lines = [f"## {markdown(section.title)}", ""]
    for table in section.tables:
        lines += [*_heading(table.title), _table(table), ""]
    for chart in section.charts:
        lines += _chart(chart)
    for note in section.notes:
        lines += [markdown_paragraph(note), ""]
    return lines


def _heading(title: str) -> list[str]:
    return [f"### {markdown(title)}", ""] if title else []


def _chart(chart: Chart) -> list[str]:
    if chart.text is None:
        return []
    caption = [markdown_paragraph(chart.caption), ""] if chart.caption else []
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
