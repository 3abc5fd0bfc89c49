"""The terminal view of a report as an SVG picture."""

from __future__ import annotations

import io
from pathlib import Path

from rich.terminal_theme import MONOKAI

from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.model.sections import Chart, Report
from mfbench.report.charts.drawing import FORMATS, picture
from mfbench.report.listings import PlainConsole
from mfbench.report.render.terminal import show

WIDTH = 150


def to_svg(report: Report, width: int = WIDTH) -> str:
    """Return a picture of the terminal view, `width` characters wide."""
    # The picture is self-contained: it loads no fonts, and uses the reader's own fixed-width font.
    console = PlainConsole(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    show(report, console)
    return console.export_svg(title=report.title, theme=MONOKAI, code_format=_TEMPLATE, unique_id="mfbench")


# Rich's own template, without the web font and window buttons.
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


def save_chart(chart: Chart, path: Path | str) -> Path:
    """Draw a chart to a file, in the colours and fonts of reports.

    Parameters
    ----------
    chart : Chart
        With a `spec`.
    path : Path or str
        Its suffix selects the format: .svg, .pdf or .png.

    Returns
    -------
    Path

    Raises
    ------
    UsageError
        If the suffix is not supported, or the specification is not valid.
    MfbenchError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> data = {"values": [{"x": 1, "y": 2}]}
    >>> spec = {"data": data, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(Chart("dot", "A dot", spec=lambda: spec), f"{folder}/dot.svg").name
    'dot.svg'
    """
    target = Path(path)
    form = target.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise UsageError(f"{target} has no suffix of a picture: use .{', .'.join(FORMATS[:-1])} or .{FORMATS[-1]}")
    with explained(UsageError, str, ValueError):
        content = picture(chart, form, chart.title)
    with explained(MfbenchError, lambda reason: f"cannot write {target}: {reason}", OSError):
        target.write_bytes(content)
    return target
