"""A report as a fragment of HTML for notebooks: tables and sentences, no script and no style sheet."""

from __future__ import annotations

from mfbench.model.sections import Report
from mfbench.report.render.html.templates import render


def to_fragment(report: Report) -> str:
    """Return a report as an element that a notebook shows."""
    return render("fragment.html", report=report, sections=[s for s in report.sections if s.has_content])
