"""Colours of the page: text can be read on the paper and on the darkest shade of a cell (WCAG 2, level AA)."""

import re
from importlib.resources import files

import pytest

STYLE = files("mfbench.report.render.html").joinpath("style.css").read_text(encoding="utf-8")
(STRENGTH,) = re.findall(r"calc\(([\d.]+) \* var\(--heat", STYLE)
PALETTES = [dict(re.findall(r"--(\w+): ([^;]+);", block)) for block in re.findall(r"--paper:[^}]*", STYLE)]


def channels(text):
    return [int(text[i : i + 2], 16) for i in (1, 3, 5)] if text.startswith("#") else [int(n) for n in text.split(",")]


def luminance(colour):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (value / 255 for value in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_figures_of_the_standard():
    assert contrast([0, 0, 0], [255, 255, 255]) == 21.0
    assert contrast(channels("#777777"), channels("#ffffff")) == pytest.approx(4.48, abs=0.01)


def test_cells_can_be_read_in_every_shade():
    for role in ["ink", "best", "similar", "missing"]:
        for palette in PALETTES:
            paper, shade, strength = channels(palette["paper"]), channels(palette["shade"]), float(STRENGTH)
            darkest = [(1 - strength) * p + strength * s for p, s in zip(paper, shade, strict=True)]
            text = channels(palette[role])
            assert min(contrast(text, paper), contrast(text, darkest)) >= 4.5
