"""What a report says of all datasets together: tables, a diagram, and the sentences that explain them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.across_datasets.overall import Overall
from mfbench.analysis.across_datasets.profiles import FACTORS, performance_profile
from mfbench.report.diagrams import diagram_of, draw_text
from mfbench.report.tables import MISSING, PLAIN, Cell, Table, rank_text

CERTAIN = 0.95


@dataclass(frozen=True)
class Drawing:
    """A picture in text: a heading, a function from a width to lines, and a caption."""

    title: str
    draw: Callable[[int], list[str]]
    caption: str


def reference_table(overall: Overall, percent: bool) -> list[Table]:
    """Return the reference against each method across datasets: effect, interval, p-values, probabilities."""
    frame = overall.against_reference
    if not len(frame):
        return []
    level = f"{100 * (1 - overall.alpha):g} %"
    table = Table(
        f"across {overall.n_datasets} datasets, {overall.reference} against each method",
        [
            "method", "rank", "mean", f"difference [{level} interval]", "effect", "p", "p (Holm)", "P better",
            "P equal", "P worse", "verdict",
        ],
    )  # fmt: skip
    for row in frame.to_dict("records"):
        certain = row["holm"] < overall.alpha
        word = ("better" if row["effect"] > 0 else "worse") if certain else "not told apart"
        table.rows.append(
            [
                Cell(row["second"]),
                Cell(rank_text(overall.ranks[row["second"]])),
                Cell(f"{100 * row['mean']:+.2f}" if percent else f"{row['mean']:+.4f}"),
                Cell(interval(row, percent)),
                Cell(f"{row['effect']:+.2f}"),
                Cell(p_text(row["p_value"])),
                Cell(p_text(row["holm"])),
                *(Cell(f"{row[name]:.2f}") for name in ("better", "equal", "worse")),
                Cell(f"{overall.reference} {word}" if certain else word, PLAIN if certain else MISSING),
            ]
        )
    return [table]


def detail_tables(overall: Overall, percent: bool) -> list[Table]:
    """Return all pairs and the win probabilities: what is too long for every report."""
    if not overall.testable:
        return []
    pairs = Table(
        f"all {len(overall.pairs)} pairs across {overall.n_datasets} datasets",
        ["pair", "difference [interval]", "effect", "p", "p (Holm)"],
    )
    for row in overall.pairs.to_dict("records"):
        texts = [
            f"{row['first']} – {row['second']}",
            interval(row, percent),
            f"{row['effect']:+.2f}",
            p_text(row["p_value"]),
            p_text(row["holm"]),
        ]
        pairs.rows.append([Cell(text) for text in texts])
    names = [str(name) for name in overall.wins.index]
    wins = Table("share of datasets on which the row is better than the column, ties half", ["method", *names])
    for name in names:
        shares = overall.wins.loc[name].to_dict()
        wins.rows.append(
            [
                Cell(name),
                *(Cell("–", MISSING) if other == name else Cell(f"{float(shares[other]):.2f}") for other in names),
            ]
        )
    return [pairs, wins]


def time_table(ratios: pd.DataFrame) -> list[Table]:
    """Return the performance profile of time as a table of shares."""
    if not len(ratios):
        return []
    profile = performance_profile(ratios)
    table = Table(
        f"time: share of {len(ratios)} datasets within a factor of the fastest method",
        ["method", *(f"{factor:g} ×" for factor in FACTORS), "median factor"],
    )
    # Most often fastest first.
    shares_of = profile.to_dict("index")
    for method in sorted(profile.index, key=lambda name: tuple(-share for share in shares_of[name].values())):
        middle = float(np.median(ratios[method]))
        shares = [Cell(f"{share:.2f}") for share in shares_of[method].values()]
        table.rows.append([Cell(str(method)), *shares, Cell(f"{middle:.1f}" if np.isfinite(middle) else "did not end")])
    return [table]


def drawings(overall: Overall) -> list[Drawing]:
    """Return the critical-difference diagram as text."""
    diagram = diagram_of(overall)
    if diagram is None:
        return []
    caption = diagram.caption[:1].upper() + diagram.caption[1:] + "."
    return [Drawing("critical-difference diagram", lambda width: draw_text(diagram, width), caption)]


def overall_notes(overall: Overall, percent: bool) -> list[str]:
    """Return the sentences on tests across datasets and on cells without a score."""
    lines = []
    completed = overall.completed
    if not overall.testable:
        lines.append("Across datasets: no test; it needs two datasets and two methods with scores.")
    else:
        lines.append(_tests(overall, percent))
    if completed.dropped:
        lines.append(f"Left out across datasets, because a method has no score: {', '.join(completed.dropped)}.")
    if completed.absent:
        lines.append(f"Left out across datasets, because they have no score on any: {', '.join(completed.absent)}.")
    if completed.filled:
        how = {
            "worst-rank": "the last rank, and the dataset's worst score where a number is needed",
            "impute-dummy": "the score of guessing the most frequent class",
        }[completed.policy]
        lines.append(f"Filled across datasets: {completed.filled} cells without a score have {how}.")
    return lines


def _tests(overall: Overall, percent: bool) -> str:
    found = overall.friedman
    start = ""
    if found is not None:
        k, n = found.n_methods, found.n_datasets
        start = (
            f"Friedman χ² = {found.chi2:.1f} ({k - 1} degrees of freedom, p = {p_text(found.p_value)}), Iman-Davenport "
            f"F = {found.f:.2f} ({k - 1} and {(k - 1) * (n - 1)}, p = {p_text(found.f_p_value)}). "
        )
    points = f"{100 * overall.rope:g}"
    region = f"{points} percentage point{'' if points == '1' else 's'}" if percent else f"{overall.rope:g}"
    return (
        f"Across datasets: one value per dataset and method. {start}Mean: of the differences. Difference: "
        "Hodges-Lehmann estimate with the interval of Wilcoxon's test; effect: matched-pairs rank-biserial "
        "correlation; p: Wilcoxon signed-rank test, two-sided, then adjusted by Holm's method over the methods of the "
        f"table, which the verdict follows at α = {overall.alpha:g}. P: Bayesian signed-rank test, practically equal "
        f"within {region}; {CERTAIN:g} is a common threshold."
    )


def interval(row: Mapping[Any, Any], percent: bool) -> str:
    """Return a difference with its interval, in points if it is a share.

    Examples
    --------
    >>> interval({"difference": 0.011, "low": 0.002, "high": 0.02}, True)
    '+1.1 [+0.2, +2.0]'
    """
    factor, form = (100.0, "+.1f") if percent else (1.0, "+.3f")
    middle, low, high = (format(factor * float(row[name]), form) for name in ("difference", "low", "high"))
    return f"{middle} [{low}, {high}]" if np.isfinite(row["low"]) else f"{middle} [too few]"


def p_text(value: float) -> str:
    """Return a p-value with two digits that count.

    Examples
    --------
    >>> p_text(0.0166), p_text(0.5), p_text(1.5e-30), p_text(float("nan"))
    ('0.017', '0.50', '1.5e-30', '–')
    """
    if value != value:
        return "–"
    if value >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 0.00095 else f"{value:.1e}" if value > 0 else "0"
