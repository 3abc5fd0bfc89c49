"""The report as a picture: the terminal view as SVG."""

from __future__ import annotations

import io

from rich.terminal_theme import MONOKAI

from mfbench.model.sections import Report
from mfbench.report.console import PlainConsole
from mfbench.report.render.terminal import show

WIDTH = 150


def to_svg(report: Report, width: int = WIDTH) -> str:
    """Return a picture of the terminal view, `width` characters wide."""
    # It refers to nothing outside itself: no fonts are fetched; the reader's own fixed-width font is used.
    console = PlainConsole(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    show(report, console)
    return console.export_svg(title=report.title, theme=MONOKAI, code_format=_TEMPLATE, unique_id="mfbench")


# Rich's own template without the web font and the window's buttons.
_TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect fill="#272822" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
