"""The forms in which a report is asked for, of a run or of a published table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.console import Console

from mfbench.analysis.across_datasets.overall import Overall
from mfbench.analysis.results import Run
from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.report import export, reanalysis
from mfbench.report.diagrams import diagram_of
from mfbench.report.figures import critical_difference_figure, profile_figure
from mfbench.report.tables import headline
from mfbench.report.terminal import show, show_page
from mfbench.suite.published import read_published


@dataclass(frozen=True)
class Form:
    """How a report is wanted.

    Attributes
    ----------
    name : {"terminal", "json", "csv", "md", "svg", "figure"}
    figure : {"critical-difference", "time-profile"} or None
    statistics : bool
        Whether all pairs, win probabilities and times are wanted too.
    reference : str or None
        Goes over the suite's.
    output : Path or None
        File that it will be written to, for the command in the head of a Markdown report.
    """

    name: str = "terminal"
    figure: str | None = None
    statistics: bool = False
    reference: str | None = None
    output: Path | None = None


def present_run(run: Run, form: Form, console: Console) -> str:
    """Return the report of a run in a form; that of the terminal is printed, and the text is empty.

    Raises
    ------
    UsageError
        If the reference is no method of the run, or there is nothing to draw.
    """
    if form.reference is not None:
        if form.reference not in run.methods:
            raise UnknownNameError("method of this run", form.reference, run.methods)
        run.reference = form.reference
    if form.name == "figure":
        return _figure(form, headline(run), run.overall(), run.time_ratios)
    if form.name == "md":
        command = export.regeneration_command(run, form.output)
        return export.to_markdown(run, command, statistics=form.statistics)
    if form.name == "svg":
        return export.to_svg(run, statistics=form.statistics)
    if form.name == "terminal":
        show(run, console, statistics=form.statistics)
        return ""
    return export.to_json(run) if form.name == "json" else export.to_csv(run)


def present_table(name: str, form: Form, console: Console) -> str:
    """Return the analysis of a published table in a form; that of the terminal is printed, and the text is empty.

    Raises
    ------
    SuiteError
        If there is no such table.
    UsageError
        If the reference is no method of it, or there is nothing to draw.
    """
    table = read_published(name, load_registry(), Path())
    overall = reanalysis.reanalyse(table, form.reference)
    if form.name == "figure":
        return _figure(form, table.title, overall, None)
    if form.name == "json":
        return reanalysis.table_to_json(table, overall)
    if form.name == "csv":
        return str(overall.against_reference.to_csv(index=False, lineterminator="\n"))
    page = reanalysis.page_of_table(table, overall, statistics=form.statistics)
    if form.name == "md":
        return export.page_to_markdown(page)
    if form.name == "svg":
        return export.page_to_svg(page)
    show_page(page, console)
    return ""


def _figure(form: Form, title: str, overall: Overall, ratios: pd.DataFrame | None) -> str:
    if form.figure == "time-profile":
        if ratios is None:
            raise UsageError("a published table has no times to draw a profile of")
        if not len(ratios):
            raise UsageError("there is no dataset on which every trial has run; a profile of times needs one")
        return profile_figure(ratios, title)
    if form.figure != "critical-difference":
        raise UnknownNameError("figure", str(form.figure), ("critical-difference", "time-profile"))
    diagram = diagram_of(overall)
    if diagram is None:
        raise UsageError("a critical-difference diagram needs two datasets and two methods with scores")
    return critical_difference_figure(diagram, title)
