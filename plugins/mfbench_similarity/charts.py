"""Draw margin histograms: ``python -m mfbench_similarity.charts OUT.svg``.

The chart shows the training margins of RBS above those of sRBS, dataset by dataset, as in figures 1 to 8 of Qamar and
Gaussier's paper. Like `plugin`, this module is not an estimator and loads data through mfbench.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from mfbench_similarity.histograms import MarginHistogram, margin_histogram

DATASETS = ("iris", "wine", "balance-scale", "pima")
# Sizes in pixels: a panel, the space around its bars, and the colours of margins on either side of 0.
WIDTH, HEIGHT = 250, 170
SIDE, TOP, BOTTOM = 14, 46, 24
WRONG, RIGHT = "#c0504d", "#4f81bd"
FONT = "font-family='sans-serif'"
DESCRIPTION = "Draw the training margins of RBS above those of sRBS, one column per dataset."


def draw(panels: Sequence[Sequence[tuple[str, MarginHistogram]]]) -> str:
    """Return an SVG chart of rows of titled histograms.

    Parameters
    ----------
    panels : sequence of sequences of (str, MarginHistogram)
        Rows of panels, each a title and a histogram.

    Returns
    -------
    str
        A complete SVG document. Margins of at most 0 are red, the others blue. Each panel has its own scale.

    Examples
    --------
    >>> from mfbench_similarity import margin_histogram
    >>> chart = draw([[("a & b", margin_histogram([-1.0, 2.0, 3.0]))]])
    >>> chart.startswith("<svg"), "a &amp; b" in chart, "33 % at or below 0" in chart
    (True, True, True)
    """
    columns = max(len(row) for row in panels)
    body = [
        _panel(title, histogram, WIDTH * column, HEIGHT * line)
        for line, row in enumerate(panels)
        for column, (title, histogram) in enumerate(row)
    ]
    width, height = WIDTH * columns, HEIGHT * len(panels)
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>"
    return "\n".join([head, f"<rect width='{width}' height='{height}' fill='white'/>", *body, "</svg>\n"])


def _panel(title: str, histogram: MarginHistogram, x: float, y: float) -> str:
    edges, counts = histogram.edges, histogram.counts
    low, high = min(float(edges[0]), 0.0), max(float(edges[-1]), 0.0)
    across = (WIDTH - 2 * SIDE) / (high - low)
    up = (HEIGHT - TOP - BOTTOM) / max(1, int(counts.max()))
    floor = y + HEIGHT - BOTTOM

    def at(margin: float) -> float:
        return x + SIDE + (margin - low) * across

    parts = [
        _text(x + SIDE, y + 18, title, 13, "start", "#222"),
        _text(
            x + SIDE, y + 34, f"{histogram.mistakes:.0%} at or below 0, mean {histogram.mean:.3g}".replace("%", " %")
        ),
    ]
    for begin, end, count in zip(edges[:-1], edges[1:], counts, strict=True):
        if count:
            colour, width = (WRONG if end <= 0 else RIGHT), max(0.5, (end - begin) * across - 0.5)
            parts.append(
                f"<rect x='{at(begin):.1f}' y='{floor - count * up:.1f}' width='{width:.1f}' "
                f"height='{count * up:.1f}' fill='{colour}'/>"
            )
    parts.append(f"<path d='M{x + SIDE} {floor}H{x + WIDTH - SIDE}' stroke='#222'/>")
    parts.append(f"<path d='M{at(0):.1f} {floor + 4}V{y + TOP - 4}' stroke='#222' stroke-dasharray='2 2'/>")
    for margin, anchor in ((low, "start"), (0.0, "middle"), (high, "end")):
        if margin == 0.0 or abs(at(margin) - at(0)) > 36:
            parts.append(_text(at(margin), floor + 16, f"{margin:.2g}", 10, anchor))
    return "\n".join(parts)


def _text(x: float, y: float, text: str, size: int = 11, anchor: str = "start", colour: str = "#555") -> str:
    style = f"{FONT} font-size='{size}' text-anchor='{anchor}' fill='{colour}'"
    return f"<text x='{x:.1f}' y='{y:.1f}' {style}>{escape(text)}</text>"


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit RBS and sRBS on datasets and write the chart of their margins.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Command-line arguments; None uses those of the process.

    Returns
    -------
    int
        Exit code: 0; 1 if a dataset is unavailable or the file cannot be written; 2 for an unknown dataset, an invalid
        parameter, or a dataset with categories.
    """
    parser = argparse.ArgumentParser(prog="python -m mfbench_similarity.charts", description=DESCRIPTION)
    parser.add_argument("out", type=Path, metavar="OUT.svg", help="where to write the chart")
    parser.add_argument("--data-dir", type=Path, help="mirror of datasets")
    parser.add_argument("--offline", action="store_true", help="never use the network")
    parser.add_argument(
        "--datasets",
        nargs="+",
        default=DATASETS,
        metavar="NAME",
        help=f"numeric datasets (default: {', '.join(DATASETS)})",
    )
    parser.add_argument("--n-neighbors", type=int, default=1, help="number of hits and misses per sample (default: 1)")
    parser.add_argument("--beta", type=float, default=100.0, help="steepness of sRBS (default: 100)")
    parser.add_argument("--l2", type=float, default=0.01, help="penalty of sRBS (default: 0.01)")
    options = parser.parse_args(arguments)
    from mfbench import load_dataset
    from mfbench.errors import ExitCode, MfbenchError
    from mfbench_similarity import RBS, SRBS

    learners = (("RBS", RBS(options.n_neighbors)), ("sRBS", SRBS(options.n_neighbors, options.beta, options.l2)))
    rows: list[list[tuple[str, MarginHistogram]]] = [[] for _ in learners]
    try:
        for name in options.datasets:
            data = load_dataset(name, data_dir=options.data_dir, offline=options.offline)
            if data.categorical.any():
                message = f"{name} has categories, for which the cosine is undefined; use numeric datasets"
                return _fail(message, ExitCode.USAGE)
            for row, (label, learner) in zip(rows, learners, strict=True):
                row.append((f"{label} on {name}", margin_histogram(learner.fit(data.X, data.y).margins_)))
    except MfbenchError as error:
        return _fail(str(error), error.exit_code)
    except ValueError as error:
        # The data have been checked, so the estimator has rejected a parameter.
        return _fail(str(error), ExitCode.USAGE)
    try:
        options.out.write_text(draw(rows), encoding="utf-8")
    except OSError as error:
        return _fail(f"cannot write {options.out}: {error.strerror}", ExitCode.FAILED)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
