"""A report as a fragment of HTML for notebooks: tables and sentences, no script and no style sheet."""

from __future__ import annotations

from mfbench.model.sections import Report
from mfbench.report.render.html.templates import render


def to_fragment(report: Report) -> str:
    """Return a report as an element that a notebook shows.

    Parameters
    ----------
    report : Report

    Examples
    --------
    >>> to_fragment(Report("A < B", "quick", [])).splitlines()[1]
    '<p><strong>A &lt; B</strong><br>quick</p>'
    """
    return render("fragment.html", report=report, sections=[s for s in report.sections if s.has_content])
