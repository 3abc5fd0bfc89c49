"""The critical-difference diagram: every method at its rank, bars where the groups are, as text and as SVG."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from mfbench.analysis.across_datasets.missing import complete
from mfbench.analysis.across_datasets.overall import Overall
from mfbench.report.charts.critical_difference import (
    LEAST_WIDTH,
    Diagram,
    critical_difference_chart,
    diagram_of,
    draw_svg,
    draw_text,
    levels,
)

DIAGRAM = Diagram(["A", "long name", "C", "D & <E>"], [1.2, 1.9, 3.0, 3.9], 1.1, [(0, 1), (1, 2), (2, 3)], "caption")


def overall(n_methods=4, n_datasets=10, seed=0):
    names = [f"m{i}" for i in range(n_methods)]
    means = pd.DataFrame(np.random.default_rng(seed).normal(size=(n_datasets, n_methods)), columns=names)
    return Overall(complete(means, "drop-dataset"), True, "m0")


def texts(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    return [element.text for element in root.iter() if element.tag.endswith("text")]


class TestText:
    def test_a_line_for_each_method_with_its_rank(self):
        lines = draw_text(DIAGRAM, 80)
        assert len(lines) == 2 + 4
        for line, label, rank in zip(lines[2:], DIAGRAM.labels, DIAGRAM.ranks, strict=True):
            assert line.startswith(f" {label} ") and f"{rank:.2f}" in line
        positions = [line.index("●") for line in lines[2:]]
        assert positions == sorted(positions)

    def test_bars_join_methods_that_do_not_differ(self):
        ends = [re.sub(r"[^┐│┘ ]", "", line.split("●")[1].split("·")[-1]) for line in draw_text(DIAGRAM, 80)[2:]]
        assert [end.rstrip() for end in ends] == [" ┐", " ┘ ┐", " ┐ ┘", " ┘"]

    def test_the_critical_difference_is_as_long_as_it_says(self):
        bar, _, *lines = draw_text(Diagram(["A", "B"], [1.0, 2.0], 0.5, [], ""), 90)
        length = bar.rindex("┤") - bar.index("├")
        scale = lines[1].index("●") - lines[0].index("●")
        assert length / scale == pytest.approx(0.5, abs=0.03)
        assert "CD 0.50" in bar

    @settings(deadline=None, max_examples=30)
    @given(st.integers(2, 30), st.integers(2, 40), st.integers(40, 200))
    def test_it_fits_any_width(self, n_methods, n_datasets, width):
        lines = draw_text(diagram_of(overall(n_methods, n_datasets)), width)
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
            assert diagram_of(few) is None and critical_difference_chart(few) is None


class TestSvg:
    def test_labels_ranks_and_caption_are_there(self):
        words = texts(draw_svg(DIAGRAM, "Title & more"))
        for label, rank in zip(DIAGRAM.labels, DIAGRAM.ranks, strict=True):
            assert any(label in text and f"{rank:.2f}" in text for text in words)
        assert "Title & more" in words and "caption" in words and "CD = 1.10" in words

    def test_bars_are_thick_and_one_for_each_group(self):
        root = ElementTree.fromstring(draw_svg(DIAGRAM))
        assert len([e for e in root.iter() if e.get("stroke-width") == "4"]) == len(DIAGRAM.bars)

    def test_two_methods_can_be_drawn(self):
        assert texts(draw_svg(Diagram(["A", "B"], [1.0, 2.0], 5.0, [(0, 1)], "c")))

    def test_it_refers_to_nothing_outside(self):
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|<script|<image", draw_svg(DIAGRAM))


def test_the_chart_has_both_forms():
    chart = critical_difference_chart(overall())
    assert chart.name == "critical-difference" and "Nemenyi" in chart.caption
    assert chart.text(80) == draw_text(diagram_of(overall()), 80)
    assert "A title" in texts(chart.svg("A title"))
