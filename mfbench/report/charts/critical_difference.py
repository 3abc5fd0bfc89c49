"""The critical-difference diagram, as text and as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from mfbench.analysis.across_datasets.overall import Overall
from mfbench.report.cells import rank_text
from mfbench.report.charts.svg import LETTER, document, line, text
from mfbench.sections import Chart

NAME = "critical-difference"
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
        First and last position of each group of methods that do not differ significantly.
    caption : str
        What the diagram shows.
    """

    labels: list[str]
    ranks: list[float]
    difference: float
    bars: list[tuple[int, int]]
    caption: str


def critical_difference_chart(overall: Overall) -> Chart | None:
    """Return the chart of a comparison, or None with fewer than two datasets or two methods."""
    diagram = diagram_of(overall)
    if diagram is None:
        return None
    return Chart(
        NAME,
        "Critical-difference diagram",
        diagram.caption,
        text=lambda width: draw_text(diagram, width),
        svg=lambda title: draw_svg(diagram, title),
    )


def diagram_of(overall: Overall) -> Diagram | None:
    """Return the content of the diagram, or None with fewer than two datasets or two methods."""
    if not overall.testable:
        return None
    caption = (
        f"Average ranks over {overall.n_datasets} datasets; 1 is best. Critical difference "
        f"{overall.critical_difference:.2f} (Nemenyi, α = {overall.alpha:g}); bars join methods that do not differ "
        "significantly."
    )
    return Diagram(
        [str(name) for name in overall.ranks.index],
        [float(rank) for rank in overall.ranks],
        overall.critical_difference,
        overall.groups,
        caption,
    )


def levels(bars: Sequence[tuple[int, int]]) -> list[int]:
    """Return the row in which each bar is drawn: the first in which it touches no other bar.

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
    """Return the diagram as text: a line per method with its rank on a scale, and bars to the right.

    Parameters
    ----------
    diagram : Diagram
    width : int, default=80
        Maximum length of a line; at least `LEAST_WIDTH` characters are used.

    Returns
    -------
    list of str
        The critical difference as a bar, the scale, and a line for each method. Each group of methods that do not
        differ significantly is joined by a column of vertical strokes.
    """
    rows = levels(diagram.bars)
    label_width = max(cell_len(label) for label in diagram.labels)
    room = max(LEAST_WIDTH, width) - label_width - 2 * (max(rows, default=-1) + 1) - 10
    scale = min(room, _AXIS_LIMIT)
    last = len(diagram.ranks)

    def position_of(rank: float) -> int:
        return round((rank - 1.0) / (last - 1.0) * (scale - 1))

    lead = " " * (label_width + 9)
    span = min(scale - 1, position_of(1.0 + diagram.difference))
    inner = f" CD {diagram.difference:.2f} "
    bar = f"├{inner.center(max(0, span - 1), '─')}┤" if span > len(inner) + 1 else f"├{'─' * max(0, span - 1)}┤{inner}"
    lines = [f"{lead}{bar}", f"{lead}{_scale(last, scale, position_of)}"]
    for index, (label, rank) in enumerate(zip(diagram.labels, diagram.ranks, strict=True)):
        track = ["·"] * scale
        track[position_of(rank)] = "●"
        strokes = _strokes(index, diagram.bars, rows)
        padding = " " * (label_width - cell_len(label))
        lines.append(f" {label}{padding} {rank_text(rank):>6} {''.join(track)}{strokes}".rstrip())
    return lines


def _scale(last: int, scale: int, position_of: Callable[[float], int]) -> str:
    """Return the numbers above the tracks, as many as fit."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if (last - 1) / step * 5 <= scale or step == 1000)
    characters = [" "] * (scale + 4)
    for number in [1, *range(1 + step, last, step), last]:
        begin, digits = position_of(number), str(number)
        if number != last and begin + len(digits) >= position_of(last):
            continue
        characters[begin : begin + len(digits)] = digits
    return "".join(characters).rstrip()


def _strokes(index: int, bars: Sequence[tuple[int, int]], rows: Sequence[int]) -> str:
    columns = [" "] * (max(rows, default=-1) + 1)
    for (first, last), row in zip(bars, rows, strict=True):
        if first <= index <= last:
            columns[row] = "┐" if index == first else "┘" if index == last else "│"
    return "".join(f" {column}" for column in columns)


@dataclass(frozen=True)
class _Layout:
    """Coordinates of the SVG diagram."""

    width: float
    height: float
    top: float
    labels_top: float
    axis_start: float
    axis_length: float
    n_methods: int

    @property
    def axis_end(self) -> float:
        return self.axis_start + self.axis_length

    def x(self, rank: float) -> float:
        return self.axis_start + (rank - 1.0) / (self.n_methods - 1.0) * self.axis_length


def draw_svg(diagram: Diagram, title: str = "") -> str:
    """Return the diagram in Demšar's form: ranks on an axis, bars below it, labels on both sides.

    Parameters
    ----------
    diagram : Diagram
    title : str, default=""
        Heading; none if empty.

    Returns
    -------
    str
        An SVG document.
    """
    rows = levels(diagram.bars)
    layout = _layout(diagram, rows, bool(title))
    body = [text(layout.width / 2, 22, title, "middle", font_weight="bold")] if title else []
    body += _svg_axis(layout, diagram.difference)
    for index in range(len(diagram.labels)):
        body += _svg_label(layout, diagram, index)
    for (first, last), row in zip(diagram.bars, rows, strict=True):
        y = layout.top + 12.0 + 9.0 * row
        body += [line(layout.x(diagram.ranks[first]) - 3, y, layout.x(diagram.ranks[last]) + 3, y, 4)]
    body += [text(layout.width / 2, layout.height - 12, diagram.caption, "middle", font_size="11", fill="#444")]
    return document(layout.width, layout.height, title or "critical differences", body)


def _layout(diagram: Diagram, rows: Sequence[int], titled: bool) -> _Layout:
    n = len(diagram.labels)
    margin = max(110.0, 62.0 + LETTER * max(len(label) for label in diagram.labels))
    axis = max(360.0, 34.0 * (n - 1))
    # The caption must fit on one line, however short the axis is.
    width = max(2 * margin + axis, 24.0 + 6.4 * len(diagram.caption))
    top = 78.0 if titled else 54.0
    labels_top = top + 16.0 + 9.0 * (max(rows, default=-1) + 1) + 8.0
    height = labels_top + 20.0 * ((n + 1) // 2) + 38.0
    return _Layout(width, height, top, labels_top, (width - axis) / 2, axis, n)


def _svg_axis(layout: _Layout, difference: float) -> list[str]:
    start, top, n = layout.axis_start, layout.top, layout.n_methods
    body = [line(start, top, layout.axis_end, top, 1.5)]
    for number in range(1, n + 1):
        if n <= 30 or number in (1, n) or number % 5 == 0:
            x = layout.x(number)
            body += [line(x, top - 6, x, top), text(x, top - 10, str(number), "middle")]
    end, y = min(layout.axis_end, layout.x(1.0 + difference)), top - 32.0
    body += [line(start, y, end, y, 2), line(start, y - 4, start, y + 4), line(end, y - 4, end, y + 4)]
    return [*body, text(end + 8, y + 4, f"CD = {difference:.2f}")]


def _svg_label(layout: _Layout, diagram: Diagram, index: int) -> list[str]:
    """Draw a method's label on the side of its half of the ranks, joined to its rank on the axis."""
    n, label, rank = layout.n_methods, diagram.labels[index], diagram.ranks[index]
    left = index < (n + 1) // 2
    x, y = layout.x(rank), layout.labels_top + 20.0 * (index if left else n - 1 - index) + 10.0
    edge = layout.axis_start - 8.0 if left else layout.axis_end + 8.0
    words = f"{label}  {rank_text(rank)}" if left else f"{rank_text(rank)}  {label}"
    return [
        line(x, layout.top, x, y),
        line(x, y, edge, y),
        text(edge + (-4 if left else 4), y + 4, words, "end" if left else "start"),
    ]
