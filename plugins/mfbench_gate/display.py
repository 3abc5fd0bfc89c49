"""A comparison of two versions on a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from mfbench.base.untrusted import plain_text
from mfbench.base.wording import counted
from mfbench_gate.comparison import Cell, Comparison, Side, Verdict
from mfbench_gate.scores import SAME_PREDICTIONS, SAME_SCORES
from mfbench_gate.texts import MARKS, amount, by_urgency, change, columns, headline, place, verdict_text

# The verdict is printed as a word too: colour only helps to find it.
STYLES = {
    Verdict.WORSE: "bold red",
    Verdict.UNDECIDED: "yellow",
    Verdict.NO_WORSE: "green",
    Verdict.TREND: "dim",
}
_NUMBERS = ("base", "head", "change")


def show_comparison(comparison: Comparison, console: Console) -> None:
    """Print a comparison: the outcome, a table with the worse cells first, and everything that was not compared."""
    verdicts = {cell.verdict for cell in comparison.cells}
    style = next((STYLES[verdict] for verdict in STYLES if verdict in verdicts), "bold")
    console.print()
    console.print(Text(headline(comparison), style=f"bold {style}"))
    if comparison.title:
        console.print(_text(comparison.title))
    for role, side in (("base", comparison.base), ("head", comparison.head)):
        console.print(_text(f"{role}: {_describe(side)}", "dim"))
    identical = [cell for cell in comparison.cells if cell.reason in (SAME_PREDICTIONS, SAME_SCORES)]
    if shown := [cell for cell in comparison.cells if cell not in identical]:
        console.print()
        console.print(_table(by_urgency(shown)))
    _show_identical(identical, console)
    _show_list(
        "Changed predictions",
        [
            f"{each.method}/{each.dataset}: {each.n_changed} of {counted(each.n_rows, 'row')}"
            for each in comparison.changes
        ],
        console,
    )
    _show_list("Not compared", [f"{each.name}: {each.reason}" for each in comparison.omissions], console)
    _show_list("Notes", comparison.notes, console)


def _table(cells: list[Cell]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = columns(cells)
    for name in headings:
        # A verdict must not be cut, so its column keeps its width on a narrow terminal.
        width = max(map(len, MARKS.values())) + 1 + max(map(len, Verdict)) if name == "verdict" else None
        justify: JustifyMethod = "right" if name in _NUMBERS else "left"
        table.add_column(name, justify=justify, overflow="fold", min_width=width)
    for cell in cells:
        style = STYLES[cell.verdict]
        table.add_row(
            _text(cell.method),
            *([_text(place(cell))] if "dataset" in headings else []),
            _text(cell.measure),
            amount(cell.base, cell.unit),
            amount(cell.head, cell.unit),
            change(cell),
            Text(verdict_text(cell), style=style, no_wrap=True),
            _text(cell.reason),
        )
    return table


def _show_identical(cells: list[Cell], console: Console) -> None:
    """Print what has not changed at all in one line for each metric: its rows would hide what matters."""
    for measure in dict.fromkeys(cell.measure for cell in cells):
        own = [cell for cell in cells if cell.measure == measure]
        kind = "scores" if all(cell.reason == SAME_SCORES for cell in own) else "predictions"
        places = own[0].name if len(own) == 1 else counted(len(own), "cell")
        console.print(_text(f"{MARKS[Verdict.NO_WORSE]} {measure}: the {kind} of {places} are identical"))


def _show_list(title: str, lines: list[str], console: Console) -> None:
    if not lines:
        return
    console.print()
    console.print(Text(title, style="bold"))
    for line in lines:
        console.print(_text(f"- {line}"))


def _describe(side: Side) -> str:
    details = "; ".join(part for part in (side.version, side.machine) if part)
    return f"{side.name} ({details})" if details else side.name


def _text(text: str, style: str = "") -> Text:
    """Return text that a terminal shows as it is, without markup and control characters."""
    return Text(plain_text(text, 2000), style=style)
