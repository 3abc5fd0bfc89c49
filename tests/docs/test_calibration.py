"""The levels of the rules, in statistics.md and in the footers of reports, are those of the stored calibrations."""

import re

import pytest
from stored_reports import prose_of, tables_of

from mfbench.stats.rules import BEST, level_held

REJECTED = "Rejected at α = 0.05, percent of datasets [95 % interval]"
# Row of statistics.md: stored report and rule.
ROWS = {
    "paired t, 10 × 10 folds": ("null-calibration", "paired t, all folds"),
    "Wilcoxon, the same 100 scores": ("null-calibration", "Wilcoxon, all folds"),
    "paired t, means of the 10 repeats": ("null-calibration", "paired t, repetition means"),
    "corrected t, 10 × 10 folds": ("null-calibration", "corrected t, all folds"),
    "paired t, one 10-fold": ("null-calibration", "paired t, first repetition"),
    "corrected t, one 10-fold": ("null-calibration", "corrected t, first repetition"),
    "s-test, pooled 5-fold (its own nominal level is 10 %)": (
        "null-calibration-five-folds",
        "s-test, normal form, pooled first repetition",
    ),
    "exact s-test, pooled 5-fold (likewise)": (
        "null-calibration-five-folds",
        "s-test, exact, pooled first repetition",
    ),
    "s-test, one test set of a fifth (likewise)": (
        "null-calibration-five-folds",
        "s-test, normal form, first test set",
    ),
    "McNemar, pooled 10-fold": ("null-calibration", "McNemar, exact, pooled first repetition"),
    "paired t, 10 random thirds": ("null-calibration-thirds", "paired t, all folds"),
    "corrected t, 10 random thirds": ("null-calibration-thirds", "corrected t, all folds"),
}
# Rows of the table of numbers: the rule of the footer.
OF_NUMBERS = {
    "paired t, 10 × 10 folds": "paired-t",
    "corrected t, 10 × 10 folds": "corrected-t",
    "paired t, one 10-fold": "paired-t",
    "corrected t, one 10-fold": "corrected-t",
}
# Rule, kind of resampling and repeats of a footer: row of statistics.md.
FOOTERS = {
    ("paired-t", "folds", 10): "paired t, 10 × 10 folds",
    ("wilcoxon", "folds", 10): "Wilcoxon, the same 100 scores",
    ("corrected-t", "folds", 10): "corrected t, 10 × 10 folds",
    ("paired-t", "folds", 1): "paired t, one 10-fold",
    ("corrected-t", "folds", 1): "corrected t, one 10-fold",
    ("paired-t", "thirds", 10): "paired t, 10 random thirds",
    ("corrected-t", "thirds", 10): "corrected t, 10 random thirds",
    ("s-test", "folds", 1): "s-test, pooled 5-fold (its own nominal level is 10 %)",
    ("s-test-exact", "folds", 1): "exact s-test, pooled 5-fold (likewise)",
}


def shares(folder, rule):
    """Return the percentages of a rule: centroid at 100 and 300 rows, nearest neighbour at 100 and 300 rows."""
    header, *rows = tables_of(f"reports/{folder}/report.md")[REJECTED][0]
    row = next(row for row in rows if row[0] == rule)
    percent = {name: float(cell.split(" ")[0]) for name, cell in zip(header[1:], row[1:], strict=True)}
    return [
        next(value for name, value in percent.items() if name.startswith(learner) and name.endswith(f"={size})"))
        for learner in ("centroid", "1NN")
        for size in (100, 300)
    ]


def test_every_row_of_the_table_of_levels_is_listed():
    (_, *rows) = tables_of("docs/statistics.md")["False rejections of each rule"][0]
    assert [row[0] for row in rows] == list(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_the_table_of_levels(name):
    """Levels above 30 % are rounded to the percent."""
    (_, *rows) = tables_of("docs/statistics.md")["False rejections of each rule"][0]
    stated = next(row[1:] for row in rows if row[0] == name)
    computed = shares(*ROWS[name])
    assert stated == [f"{value:.0f} %" if min(computed) > 25 else f"{value:.1f} %" for value in computed]


def test_the_text_on_the_plain_test_repeats_two_rows():
    rows = {row[0]: row[1:] for row in tables_of("docs/statistics.md")["False rejections of each rule"][0]}
    plain, corrected = (
        [round(float(cell.split(" ")[0])) for cell in rows[f"{name} t, 10 × 10 folds"]]
        for name in ("paired", "corrected")
    )
    prose = prose_of("docs/statistics.md")
    assert f"calls one better on {min(plain)} to {max(plain)} % of the datasets" in prose
    assert f"the corrected test on {max(corrected[:2])} % (centroid) or {max(corrected[2:])} % (1-NN)" in prose


@pytest.mark.parametrize("design", FOOTERS)
def test_the_levels_of_footers(design):
    held, computed = level_held(*design), shares(*ROWS[FOOTERS[design]])
    assert [held.low, held.high] == pytest.approx([min(computed) / 100, max(computed) / 100])


def shares_of_numbers(rule):
    """Return the percentages of a rule: ridge and nearest neighbour, each with Gaussian errors and heavy tails."""
    header, *rows = tables_of("reports/null-calibration-numbers/report.md")[REJECTED][0]
    row = next(row for row in rows if row[0] == rule)
    percent = {name: float(cell.split(" ")[0]) for name, cell in zip(header[1:], row[1:], strict=True)}
    return [
        next(value for name, value in percent.items() if name.startswith(learner) and name.endswith(errors))
        for learner in ("ridge", "1NN")
        for errors in ("=100)", "tail=3.0)")
    ]


@pytest.mark.parametrize(("name", "repeats"), [(name, 1 if "one" in name else 10) for name in OF_NUMBERS])
def test_the_levels_with_losses(name, repeats):
    (_, *rows) = tables_of("docs/statistics.md")["False rejections of each rule"][1]
    assert [row[0] for row in rows] == list(OF_NUMBERS)
    rule, computed = ROWS[name][1], shares_of_numbers(ROWS[name][1])
    assert next(row[1:] for row in rows if row[0] == name) == [f"{value:.1f} %" for value in computed]
    held = level_held(OF_NUMBERS[name], "folds", repeats, "numbers")
    assert [held.low, held.high] == pytest.approx([min(computed) / 100, max(computed) / 100]), rule


def test_the_levels_of_the_best():
    """Rows of the table: the first is of the suite, the others of a test."""
    (_, *rows) = tables_of("reports/null-calibration-many/report.md")["Worse than the best"][0]
    computed = [float(row[-1].split(" ")[0]) for row in rows]
    (_, suite, *_) = tables_of("docs/statistics.md")["Marks in the score table"][0]
    assert [float(re.match(r"[\d.]+", cell)[0]) for cell in suite[2:]] == computed
    assert level_held(BEST, "folds", 1).high == pytest.approx(max(computed) / 100)
