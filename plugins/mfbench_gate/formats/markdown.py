"""A comparison as Markdown, for the summary of a job and for a comment on a pull request.

The first line is a comment that no reader sees; a bot finds its earlier comment by it. Names may come from anybody, so
they are shown as code, in which GitHub links and notifies nobody, and every sign with a meaning is an entity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mfbench.base.wording import counted
from mfbench.errors import printable
from mfbench_gate.comparison import Cell, Comparison, Side, Verdict
from mfbench_gate.texts import MARKS, amount, by_urgency, change, columns, headline, place, verdict_text

MARKER = "mfbench-comparison"
_URGENT = (Verdict.WORSE, Verdict.UNDECIDED)
# A comment on GitHub has at most 65,536 characters; each part of this text gets a share of them.
_MOST_OPEN, _MOST_FOLDED, _MOST_LISTED = 25_000, 22_000, 4_000


def to_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown of at most 65,536 characters."""
    urgent = [cell for cell in comparison.cells if cell.verdict in _URGENT]
    others = [cell for cell in comparison.cells if cell.verdict not in _URGENT]
    changes = [
        f"{_code(f'{each.method}/{each.dataset}')}: {each.n_changed} of {counted(each.n_rows, 'row')}"
        for each in comparison.changes
    ]
    omissions = [f"{_code(each.name)}: {_escape(each.reason)}" for each in comparison.omissions]
    lines = [
        marker(comparison.title),
        f"## {_mark(comparison)} {_escape(headline(comparison))}",
        "",
        f"{_code(comparison.title, 300)}: " * bool(comparison.title)
        + f"{_side(comparison.base)} → {_side(comparison.head)}",
        "",
        *_table(by_urgency(urgent), _MOST_OPEN),
        *_folded(counted(len(others), "other cell" if urgent else "cell"), _table(by_urgency(others), _MOST_FOLDED)),
        *_folded(f"Changed predictions: {len(changes)}", _list(changes)),
        *_folded(f"Not compared: {len(omissions)}", _list(omissions)),
        *_list([_escape(note) for note in comparison.notes]),
        f"The probability of any false alarm is at most {100 * comparison.level:g} %."
        if _is_judged(comparison)
        else "",
    ]
    return "\n".join(lines).rstrip() + "\n"


def marker(title: str) -> str:
    """Return the hidden comment by which a bot finds the comment of an earlier comparison of the same title."""
    words = "-".join(re.findall("[a-z0-9]+", title.lower()))[:80]
    return f"<!-- {MARKER}{f': {words}' if words else ''} -->"


def _mark(comparison: Comparison) -> str:
    verdicts = {cell.verdict for cell in comparison.cells}
    return next((mark for verdict, mark in MARKS.items() if verdict in verdicts), "–")


def _is_judged(comparison: Comparison) -> bool:
    return any(cell.verdict is not Verdict.TREND for cell in comparison.cells)


def _table(cells: Sequence[Cell], most: int) -> list[str]:
    """Return a table of cells that has about so many characters at most."""
    if not cells:
        return []
    headings = columns(cells)
    lines = [f"| {' | '.join(headings)} |", f"| {' | '.join('---' for _ in headings)} |"]
    for number, cell in enumerate(cells):
        lines.append(_row(cell, "dataset" in headings))
        if sum(map(len, lines)) > most and number + 1 < len(cells):
            lines += ["", f"… and {counted(len(cells) - number - 1, 'more cell')}; the JSON file has all of them."]
            break
    return [*lines, ""]


def _row(cell: Cell, has_place: bool) -> str:
    words = [
        _code(cell.method),
        *([_code(place(cell))] if has_place else []),
        _code(cell.measure),
        amount(cell.base, cell.unit),
        amount(cell.head, cell.unit),
        change(cell),
        f"**{verdict_text(cell)}**" if cell.verdict is Verdict.WORSE else verdict_text(cell),
        _escape(cell.reason, 300),
    ]
    return f"| {' | '.join(words)} |"


def _folded(summary: str, lines: Sequence[str]) -> list[str]:
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "</details>", ""] if lines else []


def _list(items: Sequence[str]) -> list[str]:
    """Return items as a list that has about so many characters at most as one part may have."""
    lines: list[str] = []
    for number, item in enumerate(items):
        lines.append(f"- {item}")
        if sum(map(len, lines)) > _MOST_LISTED and number + 1 < len(items):
            lines.append(f"- … and {len(items) - number - 1} more")
            break
    return [*lines, ""] if lines else []


def _side(side: Side) -> str:
    return _code(side.name, 300) + (f" ({_escape(side.version, 200)})" if side.version else "")


def _code(text: str, most: int = 150) -> str:
    return f"<code>{_entities(text, most)}</code>" if text else ""


def _escape(text: str, most: int = 600) -> str:
    """Return text that is shown as it is. A mention would notify somebody, so nothing may follow its sign directly."""
    return _entities(text, most).replace("&#64;", "&#64;&#8203;")


def _entities(text: str, most: int) -> str:
    short = text if len(text) <= most else text[: most - 1] + "…"
    return "".join(_entity(sign) for sign in printable(short))


def _entity(sign: str) -> str:
    if sign.isalnum() or sign in " .,:;-%=()'" or (sign.isprintable() and not sign.isascii()):
        return sign
    return f"&#{ord(sign)};" if sign.isprintable() else " "
