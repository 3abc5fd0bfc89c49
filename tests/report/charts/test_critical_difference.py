"""The critical-difference diagram: every method at its rank, bars where the groups are, as text and as a picture."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from mfbench.model.sections import Chart
from mfbench.report.charts.critical_difference import (
    LEAST_WIDTH,
    critical_difference_chart,
    describe,
    draw_text,
    levels,
    specify,
)
from mfbench.stats.across_datasets import Overall, complete


def compared(labels, ranks, difference, groups):
    """What the diagram shows of a comparison."""
    return SimpleNamespace(ranks=pd.Series(ranks, index=labels), critical_difference=difference, groups=groups)


DIAGRAM = compared(["A", "long name", "C", "D & <E>"], [1.2, 1.9, 3.0, 3.9], 1.1, [(0, 1), (1, 2), (2, 3)])


def overall(n_methods=4, n_datasets=10, seed=0):
    names = [f"m{i}" for i in range(n_methods)]
    means = pd.DataFrame(np.random.default_rng(seed).normal(size=(n_datasets, n_methods)), columns=names)
    return Overall(complete(means, "drop-dataset"), True, "m0")


def chart_of(diagram):
    return Chart("cd", "Title & more", spec=lambda: specify(diagram), alt=lambda: describe(diagram))


class TestText:
    def test_a_line_for_each_method_with_its_rank(self):
        lines = draw_text(DIAGRAM, 80)
        assert len(lines) == 2 + 4
        for line, (label, rank) in zip(lines[2:], DIAGRAM.ranks.items(), strict=True):
            assert line.startswith(f" {label} ") and f"{rank:.2f}" in line
        positions = [line.index("●") for line in lines[2:]]
        assert positions == sorted(positions)

    def test_bars_join_methods_that_do_not_differ(self):
        ends = [re.sub(r"[^┐│┘ ]", "", line.split("●")[1].split("·")[-1]) for line in draw_text(DIAGRAM, 80)[2:]]
        assert [end.rstrip() for end in ends] == [" ┐", " ┘ ┐", " ┐ ┘", " ┘"]

    def test_the_critical_difference_is_as_long_as_it_says(self):
        bar, _, *lines = draw_text(compared(["A", "B"], [1.0, 2.0], 0.5, []), 90)
        length = bar.rindex("┤") - bar.index("├")
        scale = lines[1].index("●") - lines[0].index("●")
        assert length / scale == pytest.approx(0.5, abs=0.03)
        assert "CD 0.50" in bar

    @settings(deadline=None, max_examples=30)
    @given(st.integers(2, 30), st.integers(2, 40), st.integers(40, 200))
    def test_it_fits_any_width(self, n_methods, n_datasets, width):
        lines = draw_text(overall(n_methods, n_datasets), width)
        assert max(map(cell_len, lines)) <= max(width, LEAST_WIDTH) or n_methods > 20
        assert sum("●" in line for line in lines) == n_methods

    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted).map(tuple), max_size=8).map(sorted))
    def test_bars_of_a_row_do_not_touch(self, bars):
        rows = levels(bars)
        for row in set(rows):
            members = [bar for bar, at in zip(bars, rows, strict=True) if at == row]
            assert all(one[1] < other[0] for one, other in pairwise(members))

    def test_nothing_to_rank_has_no_diagram(self):
        for few in (overall(1), overall(3, 1)):
            assert critical_difference_chart(few) is None


class TestPicture:
    def test_labels_ranks_and_title_are_there(self, words_of):
        words = words_of(chart_of(DIAGRAM))
        for label, rank in DIAGRAM.ranks.items():
            assert any(label in text and f"{rank:.2f}" in text for text in words)
        assert "Title & more" in words and "CD = 1.10" in words
        assert {"1", "2", "3", "4"} <= set(words)

    def test_every_method_is_at_its_rank(self, rows_of):
        rows = rows_of(chart_of(DIAGRAM), "method", "rank", "side")
        assert rows == [["A", 1.2, "left"], ["long name", 1.9, "left"], ["C", 3.0, "right"], ["D & <E>", 3.9, "right"]]

    def test_a_bar_for_each_group_from_its_first_to_its_last_rank(self, rows_of):
        rows = rows_of(chart_of(DIAGRAM), "rank", "end", "group")
        assert rows == [[1.2, 1.9, 1.0], [1.9, 3.0, 2.0], [3.0, 3.9, 3.0]]

    def test_bars_that_share_a_method_have_rows_of_their_own(self, rows_of):
        heights = [height for height, _ in rows_of(chart_of(DIAGRAM), "y", "group")]
        assert heights[0] == heights[2] != heights[1]

    def test_the_critical_difference_is_as_long_as_it_says(self, drawn):
        rows = [row for rows in drawn(chart_of(DIAGRAM))["datasets"].values() for row in rows]
        (bar,) = {(row["rank"], row["end"]) for row in rows if row.get("label") == "CD = 1.10"}
        assert bar == (1.0, 2.1)

    @pytest.mark.parametrize("bars", [[], [(0, 1)]])
    def test_two_methods_can_be_drawn(self, bars, check_names):
        check_names(chart_of(compared(["A", "B"], [1.0, 2.0], 5.0, bars)), ["A  1.00", "2.00  B", "CD = 5.00"])

    def test_many_methods_have_a_label_each(self, words_of):
        diagram = overall(27, 40)
        words = words_of(chart_of(diagram))
        assert [sum(label in word.split("  ") for word in words) for label in diagram.ranks.index] == [1] * 27

    def test_names_are_plain_text(self, hostile, check_names):
        ranks = [1.0 + number for number in range(len(hostile))]
        check_names(chart_of(compared(list(hostile), ranks, 1.1, [(0, 1)])), hostile)


def test_the_words_name_ranks_and_groups():
    words = describe(DIAGRAM)
    assert words.startswith("Average ranks: A 1.20, long name 1.90, C 3.00, D & <E> 3.90.")
    assert words.endswith("No significant difference among: A to long name; long name to C; C to D & <E>.")
    assert describe(compared(["A", "B"], [1.0, 2.0], 0.5, [])).endswith("among: none.")


def test_the_chart_has_both_forms(rows_of):
    data = overall()
    chart = critical_difference_chart(data)
    assert chart.name == "critical-difference"
    assert "10 datasets" in chart.caption and f"{data.critical_difference:.2f} (Nemenyi" in chart.caption
    assert chart.text(80) == draw_text(data, 80)
    assert rows_of(chart, "method", "rank", "side") == [
        [name, rank, "left" if position < 2 else "right"] for position, (name, rank) in enumerate(data.ranks.items())
    ]
    assert chart.alt() == describe(data)


def test_bars_that_nearly_touch_are_in_different_rows():
    bars = [(1.0, 3.0), (3.2, 5.0), (5.6, 6.0)]
    assert levels(bars) == [0, 0, 0]
    assert levels(bars, gap=0.5) == [0, 1, 0]
