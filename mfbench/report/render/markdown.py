"""The report as Markdown."""

from __future__ import annotations

from mfbench.sections import Cell, Chart, Report, Section, Table

WIDTH = 100


def to_markdown(report: Report, command: str = "") -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    report : Report
    command : str, default=""
        The command that makes this report again, for its head.
    """
    parts = [f"# {report.title}", ""]
    if command:
        parts += ["Made by", "", f"    {command}", ""]
    environment = f" {report.environment}." if report.environment else ""
    parts += [f"{report.setting}.{environment}", ""]
    for section in report.sections:
        if section.has_content:
            parts += _section(section)
    return "\n".join(parts).rstrip() + "\n"


def _section(section: Section) -> list[str]:
    lines = [f"## {section.title}", ""]
    for table in section.tables:
        lines += [*_heading(table.title), _table(table), ""]
    for chart in section.charts:
        lines += _chart(chart)
    for note in section.notes:
        lines += [note, ""]
    return lines


def _heading(title: str) -> list[str]:
    return [f"### {title}", ""] if title else []


def _chart(chart: Chart) -> list[str]:
    if chart.text is None:
        return []
    caption = [chart.caption, ""] if chart.caption else []
    return [*_heading(chart.title), "```text", *chart.text(WIDTH), "```", "", *caption]


def _table(table: Table) -> str:
    lines = ["| " + " | ".join(_escape(name) for name in table.columns) + " |"]
    lines.append("| --- |" + " ---: |" * (len(table.columns) - 1))
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(cell: Cell) -> str:
    return f"**{_escape(cell.text)}**" if cell.role in ("best", "best-marked") else _escape(cell.text)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
