"""Charts on the page: the short forms show and hold what the long ones do."""

import base64
import io
import re
import xml.etree.ElementTree as ElementTree

import altair
import numpy as np
import pandas as pd
import pytest

from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import CONFIG, picture_of, specification
from mfbench.report.render.html import tables
from mfbench.report.render.html.tables import packed, static_picture

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = [SVG + name for name in ("path", "rect", "line", "circle", "text", "image", "use")]
WORDS = 'Bars of "x" & <y>'


def content_of(spec, alt=WORDS):
    return specification(Chart("bars", "Bars", spec=spec, alt=lambda: alt))


def scatter(n=12):
    """Points with a continuous scale of colours, which needs a gradient, and letters of another language."""
    rng = np.random.default_rng(0)
    names = ["ä", "B & C", "<d>"] * n
    frame = pd.DataFrame({"x": rng.random(n), "y": 1e-7 * rng.random(n), "z": rng.random(n) / 3, "name": names[:n]})
    points = altair.Chart(frame).mark_circle(opacity=0.7).encode(x="x", y="y", color="z")
    return (
        points
        + altair.Chart(frame).mark_text().encode(x="x", y="y", text="name")
        + altair.Chart(frame).mark_rule(strokeWidth=1).encode(y="mean(y)")
    )


def elements(svg, names):
    return [element for element in ElementTree.fromstring(svg).iter() if element.tag in names]


class TestStaticPicture:
    @pytest.fixture
    def content(self):
        return content_of(scatter)

    def test_it_has_the_shapes_and_the_text_of_the_drawing(self, content):
        long, short = picture_of(content).decode(), static_picture(content, "bars", WORDS)
        visible = [e.tag for e in elements(long, SHAPES) if {e.get("fill"), e.get("stroke")} - {None, "none"}]
        assert [e.tag for e in elements(short, SHAPES)] == visible
        texts = [element.text for element in elements(short, [SVG + "text"])]
        assert texts == [element.text for element in elements(long, [SVG + "text"])]
        assert {"ä", "B & C", "<d>"} <= set(texts)
        assert len(short) < 0.8 * len(long)

    def test_it_looks_like_the_drawing(self, content):
        image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
        import vl_convert

        svgs = (picture_of(content).decode(), static_picture(content, "bars", WORDS))
        pixels = [
            np.asarray(image.open(io.BytesIO(vl_convert.svg_to_png(svg))).convert("RGBA"), dtype=float) for svg in svgs
        ]
        assert pixels[0].shape == pixels[1].shape
        assert np.ptp(pixels[0]) > 200
        # Coordinates have tenths of a pixel, so that some edges are a little lighter or darker.
        assert (np.abs(pixels[0] - pixels[1]).max(axis=2) > 48).mean() < 1e-3

    def test_it_has_one_label(self, content):
        short = static_picture(content, "bars", WORDS)
        root = ElementTree.fromstring(short)
        labels = [e.get("aria-label") for e in root.iter() if any(key.startswith("aria-") for key in e.attrib)]
        assert labels == [WORDS]
        assert [e.tag for e in root.iter() if e.get("role")] == [SVG + "svg"]
        assert "<title" not in short and "<desc" not in short

    def test_identifiers_are_its_own_and_every_reference_has_one(self, content):
        first, again, other = (static_picture(content, name, WORDS) for name in ("bars", "bars", "more"))
        assert first == again
        for name, svg in (("bars", first), ("more", other)):
            ids = re.findall(r' id="([^"]*)"', svg)
            assert ids and len(ids) == len(set(ids))
            assert all(found.startswith(f"{name}-") for found in ids)
            assert set(re.findall(r"url\(#([^)]*)\)", svg)) <= set(ids)
            assert "url(#" in svg

    @pytest.mark.parametrize(
        ("n", "form", "start"), [(12, "svg+xml", b"<svg "), (4000, "png", b"\x89PNG\r\n")], ids=["shapes", "pixels"]
    )
    def test_a_large_one_is_an_image_of_the_smaller_form(self, n, form, start, monkeypatch):
        monkeypatch.setattr(tables, "LARGEST_SVG", 10)
        frame = pd.DataFrame(np.random.default_rng(0).random((n, 2)), columns=["x", "y"])
        points = altair.Chart(frame, width=60, height=60).mark_circle().encode(x="x", y="y")
        image = static_picture(content_of(lambda: points), "bars", WORDS)
        match = re.fullmatch(r'<img alt="([^"]*)" src="data:image/([^;]*);base64,([^"]*)">', image)
        assert match[1] == "Bars of &quot;x&quot; &amp; &lt;y&gt;" and match[2] == form
        assert base64.b64decode(match[3]).startswith(start)

    def test_bars_that_cannot_be_seen_are_left_out(self):
        frame = pd.DataFrame({"x": range(5), "y": [0, 0.3, 0, -1, 1e-9]})
        bars = altair.Chart(frame).mark_bar().encode(x="x:O", y="y")
        texts = []
        for spec, drawn in ((bars, 3), (bars.mark_bar(stroke="black"), 5)):
            short = static_picture(content_of(lambda spec=spec: spec), "bars", WORDS)
            assert len(re.findall(r'd="M[^"]*h[^"]*Z"', short)) == drawn
            texts.append([element.text for element in elements(short, [SVG + "text"])])
        assert texts[0] == texts[1]

    def test_what_cannot_be_drawn_is_an_error(self):
        with pytest.raises(ValueError, match=r"."):
            static_picture(content_of(lambda: {"mark": "no such mark", "data": {"values": []}}), "bars", WORDS)


class TestPacked:
    def test_what_the_page_has_already_is_left_out(self):
        content = content_of(scatter)
        assert {"$schema", "config", "description", "datasets"} <= set(content)
        short = packed(content)
        assert short["datasets"] == content["datasets"]
        assert not {"$schema", "description"} & set(short)
        assert not [key for key, value in short.get("config", {}).items() if CONFIG.get(key) == value]
        assert short["layer"] == content["layer"]

    def test_settings_of_its_own_are_kept(self):
        key = next(key for key, value in CONFIG.items() if isinstance(value, dict))
        own = {"mark": "bar", "data": {"values": []}, "config": {key: {"tickCount": 3}}}
        assert packed(content_of(lambda: own))["config"] == {key: {**CONFIG[key], "tickCount": 3}}
