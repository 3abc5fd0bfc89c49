"""Reports of a run or a published table in the requested form."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from mfbench.base.untrusted import shell_command
from mfbench.errors import MfbenchError, UnknownNameError, UsageError
from mfbench.host.registry import Registry, load_registry
from mfbench.model.sections import Chart, Report
from mfbench.report.brief import brief_report
from mfbench.report.charts import critical_difference, time_profile
from mfbench.report.charts.drawing import picture
from mfbench.report.charts.theme import distinct_slugs
from mfbench.report.contents import plugin_sections, report_of
from mfbench.report.files import write_text
from mfbench.report.heading import regeneration_commands
from mfbench.report.pages import FILE, page_of
from mfbench.report.reanalysis import reanalyse, report_of_table
from mfbench.report.render.csv import frame_to_csv, to_csv
from mfbench.report.render.html.page import to_html
from mfbench.report.render.json import POWER, to_json
from mfbench.report.render.latex import to_latex
from mfbench.report.render.markdown import to_markdown
from mfbench.report.render.picture import to_svg
from mfbench.report.render.terminal import show
from mfbench.report.sections.curves import points
from mfbench.report.sections.power import power_report
from mfbench.run.store.file import FILE_NAME
from mfbench.stats.results import Run
from mfbench.suite.published import read_published
from mfbench.suite.scores import SCORES

NEEDS = {
    critical_difference.NAME: "a critical-difference diagram needs two datasets and two methods with scores",
    time_profile.NAME: "a profile of times needs a run with a dataset on which every trial has run",
}
"""What a chart needs that a report does not always have."""
_RENDERERS: dict[str, Callable[[Report], str]] = {
    "md": to_markdown,
    "svg": to_svg,
    "latex": to_latex,
    "html": to_html,
    "json": to_json,
    "csv": to_csv,
}


@dataclass(frozen=True)
class Form:
    """The form of a report."""

    name: str = "terminal"
    figure: str | None = None  # name of a chart
    statistics: bool = False  # whether to include all pairs, win probabilities and times
    full: bool = False  # whether the terminal form has everything that the other forms have
    reference: str | None = None  # overrides the suite's reference
    metric: str | None = None  # takes the place of the run's first metric
    output: Path | None = None  # file that the report is written to, for the command in the head of a Markdown report
    # The runs that were joined, as they were named on the command line; none for a single run.
    joined: Sequence[str] = ()
    figures: Path | None = None  # folder that every chart is written to; a Markdown report shows the pictures
    picture_form: str = "svg"

    @property
    def figure_words(self) -> list[str]:
        """The words of a command line that request the pictures."""
        words = [] if self.figures is None else ["--figures", self.figures.as_posix()]
        return [*words, "--format", self.picture_form] if words and self.picture_form != "svg" else words


def show_run(
    run: Run, console: Console, registry: Registry | None = None, page: Path | None = None, joined: Sequence[str] = ()
) -> None:
    """Print the short report of a run."""
    chosen = ["--reference", run.reference] if run.reference is not None else []
    chosen += ["--metric", run.metric] if run.metric is not None else []
    again = shell_command(["mfbench", "report", *(joined or [str(run.bundle or run.path)]), *chosen])
    page = page or _current_page(run)
    opening = f"{again} {f'--html --output {FILE}' if joined else '--open'}"
    failed = plugin_sections(run, registry)[-1].notes if registry is not None else ()
    show(brief_report(run, console.width, page, opening, f"{again} --full", failed), console)


def _current_page(run: Run) -> Path | None:
    """Return the page of a run if it is newer than the results and has the suite's reference and metric."""
    page, store = page_path(run), run.bundle or run.path / FILE_NAME
    is_chosen = run.reference is not None or run.metric is not None
    is_current = page.is_file() and page.stat().st_mtime >= store.stat().st_mtime
    return page if is_current and not is_chosen else None


def present_run(run: Run, form: Form, console: Console) -> str:
    """Return the report of a run in a form; the terminal form is printed, and the text is empty."""
    run = choose(run, form.reference, form.metric)
    if form.name == "terminal" and not (form.full or form.statistics):
        show_run(run, console, load_registry(), joined=form.joined)
        return ""
    commands = regeneration_commands(
        run,
        form.output.as_posix() if form.output else "",
        statistics=form.statistics,
        reference=form.reference,
        form=form.name,
        figures=form.figure_words,
        joined=form.joined,
    )
    if form.name == "html":
        return page_of(run, load_registry(), " && ".join(commands))
    if form.name == "curves":
        return curves_csv(run)
    everything = form.name in ("json", "csv", "figure")
    report = report_of(run, load_registry(), statistics=form.statistics, everything=everything)
    if form.name == "md":
        return to_markdown(report, commands, _pictures(run, form))
    return _present(report, form, console)


def _pictures(run: Run, form: Form) -> dict[str, str]:
    """Write the charts of a run if that is requested; return their addresses in the report by the names of charts."""
    if form.figures is None:
        return {}
    start = Path() if form.output is None else form.output.parent
    charts = report_of(run, load_registry(), everything=True).drawable
    paths = _write_charts(charts, form.figures, form.picture_form)
    names = [chart.name for chart in charts]
    return {
        name: Path(os.path.relpath(path, start)).as_posix()
        for name, path in zip(names, paths, strict=True)
        if names.count(name) == 1  # a plugin's chart may have the name of another one
    }


def curves_csv(run: Run) -> str:
    """Return the curves of a run as CSV, one line per dataset, method, metric and number of features."""
    if not len(run.curves) or not len(run.curve_means):
        raise UsageError("--curves needs a run with a successful trial of a method with 'curve'")
    return frame_to_csv(points(run))


def choose(run: Run, reference: str | None, metric: str | None) -> Run:
    """Return a run with a method as its reference, and a metric that its report shows; None leaves what it has."""
    changes = {name: value for name, value in (("metric", metric), ("reference", reference)) if value is not None}
    return run.replace(**changes) if changes else run


def present_power(
    run: Run,
    difference: float,
    console: Console,
    *,
    power: float,
    reference: str | None = None,
    methods: Sequence[str] = (),
    metric: str | None = None,
    as_json: bool = False,
) -> str:
    """Return what a run can see as JSON; without `as_json` it is printed, and the text is empty."""
    run = choose(run, reference, metric)
    size = difference / 100.0 if SCORES[run.settings.metric].percent else difference
    plan = run.power(size, power=power, methods=methods or None)
    report = power_report(run, plan)
    if as_json:
        return to_json(report, POWER)
    show(report, console)
    return ""


def present_table(name: str, form: Form, console: Console) -> str:
    """Return the analysis of a published table in a form; the terminal form is printed, and the text is empty."""
    table = read_published(name, load_registry(), Path())
    report = report_of_table(table, reanalyse(table, form.reference), statistics=form.statistics)
    return _present(report, form, console)


def _present(report: Report, form: Form, console: Console) -> str:
    if form.name == "figure":
        return _chart(report, str(form.figure))
    if form.name in _RENDERERS:
        return _RENDERERS[form.name](report)
    show(report, console)
    return ""


def _chart(report: Report, name: str) -> str:
    chart = report.chart(name)
    if chart is None or chart.spec is None:
        if name in NEEDS:
            raise UsageError(NEEDS[name])
        names = [*(chart.name for chart in report.drawable), *NEEDS]
        raise UnknownNameError("figure", name, names, owner="this report")
    return picture(chart, "svg", report.title).decode()


def page_path(run: Run) -> Path:
    """Return where the page of a run is: in its folder, or beside its bundle and named like it."""
    if run.bundle is None:
        return run.path / FILE
    return run.bundle.with_name(f"{run.bundle.name.removesuffix('.zip')}.html")


def write_page(run: Run, registry: Registry | None = None) -> Path:
    """Write the page of a run beside its results and return its path."""
    path = page_path(run)
    write_text(path, page_of(run, registry or load_registry()))
    return path


def open_page(run: Run) -> Path:
    """Write the page of a run and show it in the user's browser."""
    import webbrowser

    path = write_page(run)
    webbrowser.open(path.resolve().as_uri())
    return path


def write_charts(run: Run, folder: Path, form: str = "svg") -> list[Path]:
    """Write every chart of a run as a file of its own."""
    charts = report_of(run, load_registry(), everything=True).drawable
    if not charts:
        raise UsageError("there is nothing to draw: no section of the report has a chart")
    return _write_charts(charts, folder, form)


def _write_charts(charts: Sequence[Chart], folder: Path, form: str) -> list[Path]:
    written, failed = [], []
    for chart, name in zip(charts, distinct_slugs([chart.name for chart in charts]), strict=True):
        path = folder / f"{name}.{form}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(picture(chart, form, chart.title))
            written.append(path)
        except ValueError as error:
            failed.append(f"cannot draw the chart {chart.name!r}: {error}")
        except OSError as error:
            raise MfbenchError(f"cannot write {path}: {error.strerror or error}") from error
    if failed:
        raise MfbenchError("; ".join(failed))
    return written
