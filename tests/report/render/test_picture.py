"""The picture of the terminal view is a valid SVG document that refers to nothing outside itself."""

import re
from xml.etree import ElementTree

from mfbench.report.contents import report_of
from mfbench.report.render.terminal import to_svg


def test_it_has_the_text_of_the_report(small_run):
    svg = to_svg(report_of(small_run))
    words = "".join(ElementTree.fromstring(svg).itertext()).replace("\xa0", " ")
    for part in ("Own suite", "90.0 ±", "papers' rule W/T/L", "Left out: gone: no network"):
        assert part in words
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\((?!#)|@font-face|<script|<image", svg)


def test_it_is_the_same_every_time(small_run):
    report = report_of(small_run)
    assert to_svg(report) == to_svg(report)
