"""Figures in the documents are those of the stored reports that they come from."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from mfbench.analysis.published import (
    ABOVE,
    BELOW,
    COMPARED,
    EQUIVALENT,
    LEAST_SCORES,
    LEVEL,
    MARGIN,
    UNDECIDED,
    summarise,
)

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


@pytest.fixture(scope="module")
def uci():
    return published_comparison("reports/uci/report.md", 30, 1 / 9)


def test_mean_differences_on_the_uci_sets(uci):
    """One decimal of the stored spread allows a tenth of a point, and a cell at the edge of a verdict to move."""
    rows = tables_of("docs/reproduction.md")["IMMIGRATE: the UCI sets"][0]
    stated = {row[0].split(" (")[0]: row for row in rows[1:]}
    summary = summarise(uci).set_index("method")
    assert set(stated) == set(summary.index)
    for method, row in stated.items():
        computed = summary.loc[method]
        expected = [100 * computed[name] for name in ("difference", "low", "high")]
        assert numbers_in(row[1]) == pytest.approx(expected, abs=0.11), method
        assert row[2] == computed["verdict"], method
        order = rows[0][3:]
        assert order == list(COMPARED)
        assert [int(cell) for cell in row[3:]] == [computed[name] for name in order], method


def test_differences_of_sqpfw():
    frame = published_comparison("reports/sqpfw/report.md", 3, 0.5)
    columns = {"SQP-FW": "SQP-FW", "Relief": "Relief", "Simba": "Simba", "MulRelief": "MulRel", "NCA-D": "NCA-D"}
    header, *rows = tables_of("docs/reproduction.md")["SQP-FW"][0]
    assert header[1:] == list(columns)
    summary = summarise(frame).set_index("method")
    by_row = {row[0]: row[1:] for row in rows}
    differences = frame.pivot(index="dataset", columns="method", values="difference")
    for position, method in enumerate(columns.values()):
        computed = summary.loc[method]
        stated = [
            float(cells[position])
            for name, cells in by_row.items()
            if name and name not in ("mean", "90 % interval of the mean", "on average")
        ]
        assert sorted(stated) == pytest.approx(sorted(100 * differences[method]), abs=0.11)
        assert float(by_row["mean"][position]) == pytest.approx(100 * computed["difference"], abs=0.06)
        interval = numbers_in(by_row["90 % interval of the mean"][position])
        assert interval == pytest.approx([100 * computed["low"], 100 * computed["high"]], abs=0.06)
        assert by_row["on average"][position] == computed["verdict"]


def test_counts_of_similarity():
    rows = tables_of("docs/reproduction/similarity.md")["Agreement"][0]
    assert rows[0][2:] == ["not significant", "above", "below"]
    stated = {row[0]: [int(cell) for cell in row[2:]] for row in rows[1:]}
    # The marks are those of the report: it had all decimals, and took a cell without spread for one without doubt.
    frame = published_comparison("reports/similarity/report.md", 5, 1 / 4)
    for table, counts in stated.items():
        cells = frame.loc[frame["table"] == table, "cell"]
        above, below = cells.str.contains("▲").sum(), cells.str.contains("▼").sum()
        assert counts == [len(cells) - above - below, above, below], table
    total = [sum(counts) for counts in zip(*stated.values(), strict=True)]
    text = f"Of {sum(total)} comparable figures, {total[1]} are more than two standard errors above"
    assert text in " ".join((ROOT / "docs/reproduction/similarity.md").read_text(encoding="utf-8").split())
    assert not (summarise(frame)["verdict"] == "equivalent").any()
