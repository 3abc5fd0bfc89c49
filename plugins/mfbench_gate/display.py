"""A comparison as a report (worse cells first), which all renderers can show, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from mfbench.base.text import counted, cut, json_document
from mfbench.model.sections import Cell, Report, Role, Section, Table
from mfbench.report.render.files import plain_value
from mfbench_gate import comparison as compared
from mfbench_gate.comparison import MARKS, CellVerdict, Comparison, Side, amount, change, headline
from mfbench_gate.scores import SAME_PREDICTIONS, SAME_SCORES

# Colour only highlights a verdict, which is also printed as a word.
_ROLES: dict[CellVerdict, Role] = {CellVerdict.WORSE: "below", CellVerdict.NO_WORSE: "equivalent"}
_COLUMNS = ["cell", "base", "head", "change", "verdict", "reason"]
_LONGEST_TEXT, _LONGEST_NOTE = 300, 1000


def comparison_report(comparison: Comparison) -> Report:
    """Return a comparison as a report."""
    cells = [cell for verdict in MARKS for cell in comparison.with_verdict(verdict)]
    urgent = [cell for cell in cells if cell.verdict in (CellVerdict.WORSE, CellVerdict.UNDECIDED)]
    rest = cells[len(urgent) :]
    identical = [cell for cell in rest if cell.reason in (SAME_PREDICTIONS, SAME_SCORES)]
    others = [cell for cell in rest if cell.reason not in (SAME_PREDICTIONS, SAME_SCORES)]
    changes = [
        f"{each.method}/{each.dataset}: {each.n_changed} of {counted(each.n_rows, 'row')}"
        for each in comparison.changes
    ]
    notes = list(comparison.notes)
    if any(cell.verdict is not CellVerdict.TREND for cell in cells):
        notes.append(f"The probability of any false alarm is at most {100 * comparison.level:g} %.")
    setting = [comparison.title, f"base: {_describe(comparison.base)}", f"head: {_describe(comparison.head)}"]
    return Report(
        headline(comparison),
        "; ".join(cut(text, _LONGEST_TEXT) for text in setting if text),
        [
            Section(title, tables, notes=[cut(note, _LONGEST_NOTE) for note in lines])
            for title, tables, lines in (
                ("Worse or undecided", _tables(urgent), []),
                ("Other cells", _tables(others), _summaries(identical)),
                ("Changed predictions", [], changes),
                ("Not compared", [], [f"{each.name}: {each.reason}" for each in comparison.omissions]),
                ("Notes", [], notes),
            )
        ],
    )


def to_json(comparison: Comparison) -> str:
    """Return every field of a comparison as JSON; missing numbers are null."""
    content = {"headline": headline(comparison), **asdict(comparison), "exit_code": int(comparison.exit_code)}
    return json_document(json.dumps(plain_value(content), indent=2, ensure_ascii=False)) + "\n"


def _tables(cells: Sequence[compared.ComparedCell]) -> list[Table]:
    rows = [
        [
            *map(Cell, (cut(f"{cell.name}: {cell.measure}", _LONGEST_TEXT), amount(cell.base, cell.unit))),
            *map(Cell, (amount(cell.head, cell.unit), change(cell))),
            Cell(f"{MARKS[cell.verdict]} {cell.verdict}", _ROLES.get(cell.verdict, "marked")),
            Cell(cut(cell.reason, _LONGEST_TEXT)),
        ]
        for cell in cells
    ]
    return [Table(_COLUMNS, rows, wrap=_COLUMNS.index("reason"))] if rows else []


def _summaries(cells: Sequence[compared.ComparedCell]) -> list[str]:
    """Return one line per metric on completely unchanged cells, whose rows would hide what matters."""
    lines = []
    for measure in dict.fromkeys(cell.measure for cell in cells):
        own = [cell for cell in cells if cell.measure == measure]
        kind = "scores" if all(cell.reason == SAME_SCORES for cell in own) else "predictions"
        names = own[0].name if len(own) == 1 else counted(len(own), "cell")
        lines.append(f"{MARKS[CellVerdict.NO_WORSE]} {measure}: the {kind} of {names} are identical")
    return lines


def _describe(side: Side) -> str:
    details = "; ".join(filter(None, (side.version, side.machine)))
    return f"{side.name} ({details})" if details else side.name
