"""Read the tables and the prose of stored reports and documents."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from mfbench.stats.published import ABOVE, BELOW, COMPARED, EQUIVALENT, LEAST_SCORES, LEVEL, MARGIN, UNDECIDED

ROOT = Path(__file__).resolve().parents[2]
_MEAN_AND_SD = re.compile(r"([\d.]+) ± ([\d.]+)")


def tables_of(path):
    """Return the tables of a Markdown document: {heading above: [table, …]}; a table is a list of rows."""
    heading, found, inside = "", {}, False
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        if line.startswith("|") and not inside:
            found.setdefault(heading, []).append([])
        inside = line.startswith("|")
        if inside and set(line) - set("|-: "):
            found[heading][-1].append([cell.strip(" *") for cell in line.strip().strip("|").split("|")])
    return found


def rows_by_name(table):
    """Return the rows of a table by their first cell: {name: {column: cell}}."""
    header, *rows = table
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def published_comparison(path, n_scores, ratio):
    """Return the comparison of a stored report with print.

    The spread is read from the table of scores, which has one decimal of a percentage; intervals are as exact as that.
    """
    tables = tables_of(path)
    header, *rows = next(rows for heading, (rows, *_) in tables.items() if "mean ± sd over folds" in heading)
    spread = {
        (row[0], method): float(match[2]) / 100.0
        for row in rows
        for method, cell in zip(header[1:], row[1:], strict=True)
        if (match := _MEAN_AND_SD.search(cell))
    }
    found = []
    for heading, ((columns, *cells), *_) in tables.items():
        if heading.startswith("Ours/published"):
            table = re.search(r"table (\w+)", heading)[1]
            for row in cells:
                for method, cell in zip(columns[1:], row[1:], strict=True):
                    dataset = row[0].split(" (")[0]
                    # In brackets: not comparable.
                    if (dataset, method) in spread and re.match(r"[\d.]+/[\d.]+", cell):
                        ours, published = (float(number) / 100.0 for number in cell.split()[0].split("/"))
                        found.append([table, method, dataset, ours, published, spread[dataset, method], cell])
    frame = pd.DataFrame(found, columns=["table", "method", "dataset", "ours", "published", "sd", "cell"])
    frame["difference"] = frame["ours"] - frame["published"]
    frame["error"] = np.sqrt(1 / n_scores + ratio) * frame["sd"]
    frame["verdict"] = [_verdict(row.difference, row.error, n_scores) for row in frame.itertuples()]
    return frame


def _verdict(difference, error, n_scores):
    if n_scores < LEAST_SCORES or error == 0.0:
        return UNDECIDED
    if abs(difference) + student.ppf(1 - LEVEL, n_scores - 1) * error <= MARGIN:
        return EQUIVALENT
    if abs(difference) <= 2 * error:
        return UNDECIDED
    return ABOVE if difference > 0 else BELOW


def numbers_in(text):
    return [float(number) for number in re.findall(r"[-+]?\d+\.\d+", text)]


def verdicts_of(path):
    """Return the rows of a stored report's tables of mean differences: {method: row without the marks}."""
    found = {}
    for heading, ((header, *rows), *_) in tables_of(path).items():
        if heading.startswith("Methods:"):
            assert header[2:] == ["ours - published [90 % interval]", "on average", *COMPARED]
            found |= {row[0]: [cell.rstrip(" =▲▼") for cell in row[1:]] for row in rows}
    return found


def prose_of(path):
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())
