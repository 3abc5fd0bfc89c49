"""Colours, fonts and names of charts."""

import re

import altair as alt
import pytest

from mfbench.report.charts.drawing import (
    ACCENT,
    BETTER,
    COLOURS,
    CONFIG,
    DASHES,
    EQUAL,
    INK,
    MUTED,
    NEUTRAL,
    WORSE,
    colours_of,
    dashes_of,
    distinct_slugs,
    numbered_name,
)


def luminance(colour):
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_names_of_files_are_short_and_plain():
    assert numbered_name("rounds", 3, "../Größe (n=1)" + "x" * 200) == "rounds-03-gr-e-n-1-" + "x" * 71


def test_names_of_files_keep_hostile_names_out(hostile):
    for name in hostile:
        assert re.fullmatch(r"rounds-01-[a-z0-9-]*", numbered_name("rounds", 1, name))


def test_each_line_has_a_style_of_its_own():
    for size in [0, 1, 27, len(COLOURS) * len(DASHES)]:
        names = [f"M{number}" for number in range(size)]
        styles = {(colour, tuple(dash)) for colour, dash in zip(colours_of(names), dashes_of(names), strict=True)}
        assert len(styles) == size


def test_more_lines_repeat_styles_rather_than_fail():
    names = ["M"] * (len(COLOURS) * len(DASHES) + 1)
    assert colours_of(names)[-1] == colours_of(names)[0]
    assert dashes_of(names)[-1] == dashes_of(names)[0]


def test_colours_are_six_digits():
    for colour in [*COLOURS, ACCENT, NEUTRAL, INK, MUTED, BETTER, EQUAL, WORSE]:
        assert re.fullmatch("#[0-9a-f]{6}", colour)


@pytest.mark.parametrize("colour", [INK, MUTED])
def test_text_is_readable_on_white(colour):
    assert 1.05 / (luminance(colour) + 0.05) >= 4.5


def test_the_settings_are_valid():
    alt.Chart.from_dict({"data": {"values": []}, "mark": "point", "config": CONFIG})
    assert CONFIG["range"]["category"] == list(COLOURS)


def test_charts_of_equal_names_have_distinct_files():
    names = distinct_slugs(["Rounds", "rounds", "rounds-2", "ROUNDS!", "../..", "", "."])
    assert names == ["rounds", "rounds-2", "rounds-2-2", "rounds-3", "chart", "chart-2", "chart-3"]
