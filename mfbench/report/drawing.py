"""Drawing a chart to a file: the function behind ``mfbench.save_chart``."""

from __future__ import annotations

from pathlib import Path

from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import FORMATS, picture


def save_chart(chart: Chart, path: Path | str) -> Path:
    """Draw a chart to a file, in the colours and fonts of reports.

    Parameters
    ----------
    chart : Chart
        With a `spec`.
    path : Path or str
        Its suffix names the form: .svg, .pdf or .png.

    Returns
    -------
    Path

    Raises
    ------
    UsageError
        If the suffix is another, or the specification is not valid.
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
