"""Colours of the page: text can be read on every ground, and edges can be seen on it (WCAG 2, level AA)."""

import re
from importlib.resources import files

import pytest

STYLE = files("mfbench.report.render.html").joinpath("style.css").read_text(encoding="utf-8")
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


@pytest.mark.parametrize("palette", PALETTES)
def test_text_can_be_read(palette):
    for role in ("ink", "muted", "link", "best", "missing"):
        for ground in ("paper", "tint", "soft"):
            assert contrast(channels(palette[role]), channels(palette[ground])) >= 4.5, (role, ground)


@pytest.mark.parametrize("palette", PALETTES)
def test_bars_and_dots_can_be_seen(palette):
    for role in ("edge", "link", "worse", "muted"):
        for ground in ("paper", "tint"):
            assert contrast(channels(palette[role]), channels(palette[ground])) >= 3.0, (role, ground)


def test_every_palette_has_every_colour():
    assert len(PALETTES) == 4
    assert len({tuple(sorted(palette)) for palette in PALETTES}) == 1
    assert PALETTES[1] == PALETTES[2], "the dark colours of a choice and of the system"
