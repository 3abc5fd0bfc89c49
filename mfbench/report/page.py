"""A report as a sequence of parts, so that the terminal and every export show the same in the same order."""

from __future__ import annotations

from dataclasses import dataclass, field

from mfbench.analysis.results import Run
from mfbench.report.calibration import calibration_notes, calibration_tables
from mfbench.report.companions import companion_notes, companion_tables
from mfbench.report.detection import detection_notes, detection_tables
from mfbench.report.interactions import interaction_notes, interaction_tables
from mfbench.report.overall import Drawing, detail_tables, drawings, overall_notes, reference_table, time_table
from mfbench.report.published import published_notes, published_tables
from mfbench.report.selected import selection_notes, selection_tables
from mfbench.report.tables import Table, headline, notes, score_table, setting, summary_table
from mfbench.report.timing import timing_notes, timing_tables
from mfbench.run.trial.metrics import SCORES
from mfbench.suite.protocols import Timing


@dataclass
class Page:
    """A report.

    Attributes
    ----------
    title, setting : str
        Heading, and one sentence on how the numbers came about.
    parts : list of Table or Drawing
    notes : list of str
        The sentences under them.
    """

    title: str
    setting: str
    parts: list[Table | Drawing] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def page_of(run: Run, *, statistics: bool = False) -> Page:
    """Return the report of a run.

    Parameters
    ----------
    run : Run
    statistics : bool, default=False
        Also all pairs of methods, win probabilities and the profile of times.
    """
    page = Page(headline(run), setting(run))
    if not len(run.outcomes):
        page.notes = notes(run)
        return page
    if run.equal_pairs:
        page.parts = [*calibration_tables(run), summary_table(run)]
        page.notes = [*calibration_notes(run), *notes(run, compared=False)]
        return page
    if run.protocol.kind == Timing.kind:
        page.parts = [*timing_tables(run)]
        page.notes = [*timing_notes(run), *notes(run, compared=False)]
        return page
    overall, percent = run.overall(), SCORES[run.settings.metric].percent
    detections = detection_tables(run)
    page.parts = [
        *detections[:1],
        score_table(run),
        *companion_tables(run),
        summary_table(run),
        *reference_table(overall, percent),
        *drawings(overall),
        *(detail_tables(overall, percent) if statistics else []),
        *(time_table(run.time_ratios) if statistics else []),
        *(selection_tables(run) if statistics else []),
        *detections[1:],
        *published_tables(run),
        *interaction_tables(run),
    ]
    page.notes = [
        *notes(run),
        *companion_notes(run),
        *overall_notes(overall, percent),
        *detection_notes(run),
        *published_notes(run),
        *interaction_notes(run),
        *(selection_notes(run) if statistics else []),
    ]
    return page
