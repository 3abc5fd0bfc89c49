"""Draw margin histograms: ``python -m mfbench_similarity.charts OUT.svg``.

The chart shows the training margins of RBS above those of sRBS, dataset by dataset, as in figures 1 to 8 of Qamar and
Gaussier's paper. Like `plugin`, this module is not an estimator and loads data through mfbench.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mfbench_similarity.histograms import MarginHistogram, margin_histogram

DATASETS = ("iris", "wine", "balance-scale", "pima")
WRONG, RIGHT = "#d55e00", "#0072b2"  # margins on either side of 0
DESCRIPTION = "Draw the training margins of RBS above those of sRBS, one column per dataset."


def draw(panels: Sequence[Sequence[tuple[str, MarginHistogram]]]) -> Any:
    """Return a chart of rows of titled histograms.

    Parameters
    ----------
    panels : sequence of sequences of (str, MarginHistogram)
        Rows of panels, each a title and a histogram.

    Returns
    -------
    altair.ConcatChart
        Margins of at most 0 are orange, the others blue. Each panel has its own scale.

    Examples
    --------
    >>> from mfbench_similarity import margin_histogram
    >>> chart = draw([[("a & b", margin_histogram([-1.0, 2.0, 3.0]))]]).to_dict()
    >>> chart["concat"][0]["title"]["text"], chart["concat"][0]["title"]["subtitle"]
    ('a & b', '33 % at or below 0, mean 1.33')
    """
    import altair as alt

    columns = max(len(row) for row in panels)
    return alt.concat(*(_panel(title, histogram) for row in panels for title, histogram in row), columns=columns)


def _panel(title: str, histogram: MarginHistogram) -> Any:
    import altair as alt

    edges, counts = histogram.edges, histogram.counts
    bins = zip(edges[:-1], edges[1:], counts, strict=True)
    rows = [
        {"begin": float(begin), "end": float(end), "samples": int(count), "side": "wrong" if end <= 0 else "right"}
        for begin, end, count in bins
        if count
    ]
    subtitle = f"{histogram.mistakes:.0%} at or below 0, mean {histogram.mean:.3g}".replace("%", " %")
    ends = alt.Scale(domain=[min(float(edges[0]), 0.0), max(float(edges[-1]), 0.0)], nice=False)
    colour = alt.Color("side:N", legend=None, scale=alt.Scale(domain=["wrong", "right"], range=[WRONG, RIGHT]))
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_rect(stroke="white", strokeWidth=0.4)
        .encode(
            alt.X("begin:Q", title="margin", scale=ends),
            alt.X2("end"),
            alt.Y("samples:Q", title=None),
            alt.Y2(datum=0),
            colour,
            tooltip=[alt.Tooltip("begin:Q"), alt.Tooltip("end:Q"), alt.Tooltip("samples:Q")],
        )
    )
    zero = alt.Chart(alt.Data(values=[{"begin": 0.0}])).mark_rule(strokeDash=[2, 2]).encode(alt.X("begin:Q"))
    heading = alt.TitleParams(title, subtitle=subtitle, fontSize=13, anchor="start")
    return alt.layer(bars, zero).properties(width=210, height=110, title=heading)


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
    from mfbench import Chart, load_dataset, save_chart
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
        save_chart(Chart("margins", "Margins of the training samples", spec=lambda: draw(rows)), options.out)
    except MfbenchError as error:
        return _fail(str(error), error.exit_code)
    return 0


def _fail(message: str, code: int) -> int:
    print(f"error: {message}", file=sys.stderr)  # noqa: T201
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
