"""The critical-difference diagram: where its parts stand, and the same picture in text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from mfbench.analysis.across_datasets.overall import Overall
from mfbench.report.tables import rank_text

LEAST_WIDTH = 40
_AXIS_LIMIT = 100


@dataclass(frozen=True)
class Diagram:
    """The content of a critical-difference diagram.

    Attributes
    ----------
    labels : list of str
        Methods, best average rank first.
    ranks : list of float
        Their average ranks, ascending.
    difference : float
        The critical difference.
    bars : list of (int, int)
        First and last position of each group that is not separated.
    caption : str
        What it shows.
    """

    labels: list[str]
    ranks: list[float]
    difference: float
    bars: list[tuple[int, int]]
    caption: str


def diagram_of(overall: Overall) -> Diagram | None:
    """Return the diagram of a comparison, or None with fewer than two datasets or two methods."""
    if not overall.testable:
        return None
    caption = (
        f"average ranks over {overall.n_datasets} datasets, 1 is best; critical difference "
        f"{overall.critical_difference:.2f} (Nemenyi, α = {overall.alpha:g}); a bar joins methods that it does not "
        "separate"
    )
    return Diagram(
        [str(name) for name in overall.ranks.index],
        [float(rank) for rank in overall.ranks],
        overall.critical_difference,
        overall.groups,
        caption,
    )


def levels(bars: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each bar the row that it is drawn in: the first where it touches no other.

    Examples
    --------
    >>> levels([(0, 2), (1, 4), (3, 5)])
    [0, 1, 0]
    """
    ends: list[int] = []
    rows = []
    for first, last in bars:
        row = next((number for number, end in enumerate(ends) if end < first), len(ends))
        if row == len(ends):
            ends.append(last)
        ends[row] = last
        rows.append(row)
    return rows


def draw_text(diagram: Diagram, width: int = 80) -> list[str]:
    """Return the diagram as lines of text: a line for each method with its rank on a scale, bars beside it.

    Parameters
    ----------
    diagram : Diagram
    width : int, default=80
        Most characters of a line; at least `LEAST_WIDTH` are used.

    Returns
    -------
    list of str
        A scale, the critical difference as a bar over it, and a line for each method. A column of vertical strokes for
        each group joins the methods that are not separated.
    """
    rows = levels(diagram.bars)
    label_width = max(cell_len(label) for label in diagram.labels)
    room = max(LEAST_WIDTH, width) - label_width - 2 * (max(rows, default=-1) + 1) - 10
    scale = min(room, _AXIS_LIMIT)
    last = len(diagram.ranks)

    def place(rank: float) -> int:
        return round((rank - 1.0) / (last - 1.0) * (scale - 1))

    lead = " " * (label_width + 9)
    span = min(scale - 1, place(1.0 + diagram.difference))
    inner = f" CD {diagram.difference:.2f} "
    bar = f"├{inner.center(max(0, span - 1), '─')}┤" if span > len(inner) + 1 else f"├{'─' * max(0, span - 1)}┤{inner}"
    lines = [f"{lead}{bar}", f"{lead}{_scale(last, scale, place)}"]
    for position, (label, rank) in enumerate(zip(diagram.labels, diagram.ranks, strict=True)):
        track = ["·"] * scale
        track[place(rank)] = "●"
        strokes = _strokes(position, diagram.bars, rows)
        padding = " " * (label_width - cell_len(label))
        lines.append(f" {label}{padding} {rank_text(rank):>6} {''.join(track)}{strokes}".rstrip())
    return lines


def _scale(last: int, scale: int, place: object) -> str:
    """Return the numbers over the tracks, as many as there is room for."""
    assert callable(place)
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if (last - 1) / step * 5 <= scale or step == 1000)
    text = [" "] * (scale + 4)
    for number in [1, *range(1 + step, last, step), last]:
        begin, digits = place(number), str(number)
        if number != last and begin + len(digits) >= place(last):
            continue
        text[begin : begin + len(digits)] = digits
    return "".join(text).rstrip()


def _strokes(position: int, bars: Sequence[tuple[int, int]], rows: Sequence[int]) -> str:
    columns = [" "] * (max(rows, default=-1) + 1)
    for (first, last), row in zip(bars, rows, strict=True):
        if first <= position <= last:
            columns[row] = "┐" if position == first else "┘" if position == last else "│"
    return "".join(f" {column}" for column in columns)
