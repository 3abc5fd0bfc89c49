"""What a run shows in a notebook: its short report, and the charts of its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mfbench.errors import UnknownNameError
from mfbench.report.brief import brief_report
from mfbench.report.charts.drawing import specification
from mfbench.report.contents import report_of
from mfbench.report.render.html.fragment import to_fragment
from mfbench.stats.results import Run

WIDTH = 10_000
"""Characters of a line: wide tables scroll."""


class Notebook:
    """The presentation of runs that users open."""

    def chart(self, run: Run, name: str) -> Any:
        """Return a chart as one of Altair's."""
        import altair

        charts = report_of(run, everything=True).drawable
        chart = next((chart for chart in charts if chart.name == name), None)
        if chart is None:
            raise UnknownNameError("chart", name, [chart.name for chart in charts], owner="this run")
        return altair.Chart.from_dict(specification(chart, chart.title))

    def charts(self, run: Run) -> list[str]:
        """Return the names of the charts that can be drawn."""
        return [chart.name for chart in report_of(run, everything=True).drawable]

    def html(self, run: Run) -> str:
        """Return the short report as HTML."""
        return to_fragment(brief_report(run, WIDTH))


def open_run(folder: Path, **settings: Any) -> Run:
    """Return the run in a folder, which can show itself."""
    return Run(folder, presentation=Notebook(), **settings)
