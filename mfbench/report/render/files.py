"""Reports as CSV, JSON, LaTeX and Markdown."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from mfbench.base.text import csv_cell, json_document, markdown, markdown_paragraph, plain
from mfbench.model.sections import Cell, Chart, Report, Section, Table

KEYS = ["dataset", "method", "figure"]


def to_csv(report: Report) -> str:
    """Return the rows of the first non-empty section, joined with columns of later rows that have the same keys."""
    # One line per dataset and method or, for the protocol `ground-truth`, per dataset, method and figure.
    frames = [frame for section in report.sections if section.rows is not None for frame in section.rows()]
    body, *others = frames
    keys = [key for key in KEYS if key in body]
    for frame in others:
        if [key for key in KEYS if key in frame] == keys:
            body = body.merge(frame, on=keys, how="left")
    return frame_to_csv(body)


def frame_to_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV, with text escaped so that spreadsheets do not read it as a formula."""
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    safe = frame.assign(**{name: frame[name].map(csv_cell) for name in texts}).rename(columns=csv_cell)
    return str(safe.to_csv(index=False, lineterminator="\n"))


REPORT, POWER, HISTORY = "mfbench-report", "mfbench-power", "mfbench-history"
VERSIONS = {REPORT: 1, POWER: 1, HISTORY: 1}
"""The version of each document format; it increases if a key is removed or changed, see docs/results.md."""
SCHEMA = "report.schema.json"


def to_json(report: Report, name: str = REPORT) -> str:
    """Return the data of all sections as one JSON object; missing values are null."""
    content: dict[str, Any] = {"schema": {"name": name, "version": VERSIONS[name]}, **report.data}
    plugin_data: dict[str, dict[str, Any]] = {}
    for section in report.sections:
        values = {key: value() for key, value in section.data.items()}
        if section.plugin:
            plugin_data.setdefault(section.plugin, {}).update(values)
        else:
            content |= values
    content["plugin_data"] = plugin_data
    return json_text(content)


def json_text(content: Any) -> str:
    """Return anything that `plain_value` accepts as JSON, without terminal control characters."""
    return json_document(json.dumps(plain_value(content), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


@cache
def read_schema(package: str, name: str) -> dict[str, Any]:
    """Read a JSON Schema from a package's files; cached, so every call returns the same object."""
    content: dict[str, Any] = json.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))
    return content


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the documents written by `to_json`."""
    # It describes exactly the output of this version: unknown keys are invalid, except where plugins and other versions
    # of mfbench determine the keys.
    return read_schema(__package__, SCHEMA)


def plain_value(value: Any) -> Any:
    """Return a JSON-compatible value: frames as lists of rows, NumPy scalars as plain numbers, NaN as null."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "≈": r"$\approx$", "≫": r"$\gg$",
    "≪": r"$\ll$", "<": r"$<$", ">": r"$>$", "→": r"$\to$", "×": r"$\times$", "–": "--", "…": r"\dots{}",
    "α": r"$\alpha$", "χ": r"$\chi$", "≥": r"$\geq$", "≤": r"$\leq$", "|": r"\textbar{}",
    "▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$",
}  # fmt: skip
"""LaTeX escapes of special characters."""
_ESCAPES = str.maketrans(SIGNS)


def to_latex(report: Report) -> str:
    """Return the answer, and every table as a ``table`` environment; requires the packages booktabs and graphicx."""
    parts = [
        _environment(table, f"{report.title}. {section.title}{f': {table.title}' if table.title else ''}.")
        for section in report.sections
        for table in section.tables
    ]
    answer = [line for sentence in report.answer for line in (escape(sentence), "")]
    return "\n".join(["% \\usepackage{booktabs,graphicx}", "", *answer, *parts])


def escape(text: str) -> str:
    """Escape text for LaTeX."""
    return plain(text).translate(_ESCAPES)


def _environment(table: Table, caption: str) -> str:
    n_body, rows = len(table.rows) - table.footer_rows, [_row(row) for row in table.rows]
    columns = ["l", *"r" * (len(table.columns) - 1)]
    if table.wrap is not None:
        columns[table.wrap] = rf"p{{{1.2 / len(columns):.2f}\linewidth}}"
    lines = [_row([Cell(name) for name in table.columns]), r"\midrule", *rows[:n_body]]
    lines += [r"\midrule", *rows[n_body:]] if table.footer_rows else []
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{''.join(columns)}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
            "",
        ]
    )


def _row(cells: list[Cell]) -> str:
    text = " & ".join(_emphasised(escape(cell.text), cell, r"\textbf{{{}}}") for cell in cells)
    # After the previous row's `\\`, LaTeX would parse "[" as an optional argument and "*" as the starred form.
    return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"


WIDTH = 100


def to_markdown(report: Report, commands: Sequence[str] = (), pictures: Mapping[str, str] | None = None) -> str:
    """Return the report as Markdown."""
    parts = [f"# {markdown(report.title)}", ""]
    if commands:
        parts += ["Made by", "", *(f"    {plain(command)}" for command in commands), ""]
    environment = f" {report.environment}." if report.environment else ""
    parts += [markdown_paragraph(f"{report.setting}.{environment}"), ""]
    for sentence in report.answer:
        parts += [markdown_paragraph(sentence), ""]
    for section in report.sections:
        if section.has_content:
            parts += section_lines(section, pictures or {})
    return "\n".join(parts).rstrip() + "\n"


def section_lines(section: Section, pictures: Mapping[str, str]) -> list[str]:
    """Return a section as lines of Markdown, starting with its heading and a blank line."""
    lines = [f"## {markdown(section.title)}", ""]
    for table in section.tables:
        lines += [*_heading(table.title), *_table_lines(table), ""]
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
        shown = "" if address.endswith(".pdf") else "!"  # in other formats, Markdown embeds the picture itself
        return [*_heading(chart.title), f"{shown}[{markdown(alt)}]({quote(address)})", "", *caption]
    if chart.text is None:
        return []
    lines = chart.lines(WIDTH)
    # The fence is longer than any run of its character, so that no line closes it.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(lines))), default=0))
    return [*_heading(chart.title), f"{fence}text", *lines, fence, "", *caption]


def _table_lines(table: Table) -> list[str]:
    rows = [[_emphasised(markdown(cell.text), cell, "**{}**") for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in (map(markdown, table.columns), *rows)]
    return [lines[0], "| --- |" + " ---: |" * (len(table.columns) - 1), *lines[1:]]


def _emphasised(text: str, cell: Cell, form: str) -> str:
    return form.format(text) if cell.role in ("best", "best-marked") else text
