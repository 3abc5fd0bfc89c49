"""Tables of a report as LaTeX with booktabs, for a paper."""

from __future__ import annotations

from mfbench.base.untrusted import plain
from mfbench.model.sections import Cell, Report, Table

SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "≈": r"$\approx$", "≫": r"$\gg$",
    "≪": r"$\ll$", "<": r"$<$", ">": r"$>$", "→": r"$\to$", "×": r"$\times$", "–": "--", "…": r"\dots{}",
    "α": r"$\alpha$", "χ": r"$\chi$", "≥": r"$\geq$", "≤": r"$\leq$", "|": r"\textbar{}",
    "▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$",
}  # fmt: skip
"""How LaTeX writes each sign that it does not take literally."""
_ESCAPES = str.maketrans(SIGNS)


def to_latex(report: Report) -> str:
    """Return every table of a report as a ``table`` environment; it needs the packages booktabs and graphicx."""
    parts = [
        _environment(table, f"{report.title}. {section.title}{f': {table.title}' if table.title else ''}.")
        for section in report.sections
        for table in section.tables
    ]
    return "\n".join(["% \\usepackage{booktabs,graphicx}", "", *parts])


def escape(text: str) -> str:
    """Return text as LaTeX shows it."""
    return plain(text).translate(_ESCAPES)


def _environment(table: Table, caption: str) -> str:
    n_body, rows = len(table.rows) - table.footer_rows, [_row(row) for row in table.rows]
    lines = [_row([Cell(name) for name in table.columns]), r"\midrule", *rows[:n_body]]
    lines += [r"\midrule", *rows[n_body:]] if table.footer_rows else []
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
            "",
        ]
    )


def _row(cells: list[Cell]) -> str:
    text = " & ".join(_cell(cell) for cell in cells)
    # After the end of the row before, a bracket would begin an argument, and an asterisk would belong to its command.
    return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    return rf"\textbf{{{text}}}" if cell.role in ("best", "best-marked") else text
