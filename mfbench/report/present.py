"""Reports of a run or a published table, in the requested format."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from mfbench.base.files import write_text
from mfbench.base.text import shell_command
from mfbench.errors import MfbenchError, UnknownNameError, UsageError
from mfbench.host.registry import Registry, load_registry
from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell, Chart, Report, Section
from mfbench.report import brief, cells, contents, heading, pages
from mfbench.report.answer import answer_across
from mfbench.report.charts.drawing import distinct_slugs, picture, specification
from mfbench.report.heading import Form
from mfbench.report.render import files, terminal
from mfbench.report.render.html.page import to_fragment, to_html
from mfbench.report.sections import across_datasets, curves
from mfbench.run.store.file import FILE_NAME
from mfbench.stats import results
from mfbench.stats.across_datasets import Overall, complete
from mfbench.suite.loading import score_named
from mfbench.suite.published import PublishedTable, read_published


def means_of(table: PublishedTable) -> pd.DataFrame:
    """Return a table's figures as datasets by methods, in table order, with NaN for missing ones."""
    datasets = list(dict.fromkeys(dataset for dataset, _ in table.values))
    methods = list(dict.fromkeys(method for _, method in table.values))
    values = [[table.values.get((dataset, method), np.nan) for method in methods] for dataset in datasets]
    return pd.DataFrame(values, index=datasets, columns=methods, dtype=float)


def reanalyse(table: PublishedTable, score: Score, reference: str | None = None) -> Overall:
    """Compare the methods of a published table across its datasets; without a reference with the best of them."""
    greater = score.greater_is_better
    completed = complete(means_of(table), "drop-dataset", greater_is_better=greater)
    methods = [str(name) for name in Overall(completed, greater, None).ranks.index]
    if reference is None:
        return Overall(completed, greater, next(iter(methods), None), chosen=True)
    if reference not in methods:
        raise UnknownNameError("method of this table", reference, methods)
    return Overall(completed, greater, reference)


def report_of_table(table: PublishedTable, score: Score, overall: Overall, *, statistics: bool = False) -> Report:
    """Return the report of a published table."""
    answer = answer_across(overall, score)
    return Report(
        table.title,
        f"Analysis of the printed figures of {table.name}; nothing was measured",
        [
            _printed_figures(table, overall, score),
            across_datasets.section_across(overall, table.about.metric, score),
            *([across_datasets.section_of_ranks(overall, score)] if statistics else []),
        ],
        {
            "title": table.title,
            "table": table.name,
            "metric": table.about.metric,
            "reference": overall.reference,
            "alpha": overall.alpha,
            "rope": overall.rope,
            "answer": answer,
        },
        answer=answer,
    )


def _printed_figures(table: PublishedTable, overall: Overall, score: Score) -> Section:
    means, percent = means_of(table), score.percent
    best = means.max(axis=1) if overall.greater_is_better else means.min(axis=1)
    names = [str(name) for name in means.columns]
    rows: list[list[object]] = [
        [dataset, *(_cell(value, top, percent) for value in values)]
        for dataset, values, top in zip(means.index, means.to_numpy(), best, strict=True)
    ]
    ranks = ["average rank", *(cells.rank_cell(overall.ranks.get(name, np.nan)) for name in names)]
    printed = cells.table_of(["dataset", *names], [*rows, ranks], footer_rows=1)
    return Section(
        f"{cells.with_unit(table.about.metric, score)}, as printed",
        [printed],
        notes=["A printed mean has no spread, so differences on single datasets cannot be tested."],
        rows=lambda: [overall.against_reference],
    )


def _cell(value: float, best: float, percent: bool) -> Cell:
    cell = cells.size_cell(value, percent)
    return Cell(cell.text, "best") if value == best else cell


_RENDERERS: dict[str, Callable[[Report], str]] = {
    "md": files.to_markdown,
    "latex": files.to_latex,
    "html": to_html,
    "json": files.to_json,
    "csv": files.to_csv,
}


def show_run(
    run: results.Run,
    console: Console,
    registry: Registry | None = None,
    page: Path | None = None,
    joined: Sequence[str] = (),
) -> None:
    """Print the short report of a run."""
    chosen = ["--reference", run.reference] if run.reference is not None else []
    chosen += ["--metric", run.metric] if run.metric is not None else []
    again = shell_command(["mfbench", "report", *(joined or [str(run.bundle or run.path)]), *chosen])
    page = page or _current_page(run)
    opening = f"{again} {f'--html --output {pages.FILE}' if joined else '--open'}"
    terminal.show(brief.brief_report(run, console.width, page, opening, f"{again} --full", registry), console)


def _current_page(run: results.Run) -> Path | None:
    """Return the page of a run if it is up to date, with the suite's reference and metric."""
    page, store = page_path(run), run.bundle or run.path / FILE_NAME
    if run.reference is not None or run.metric is not None or not page.is_file():
        return None
    return page if page.stat().st_mtime >= store.stat().st_mtime else None


def present_run(run: results.Run, form: Form, console: Console) -> str:
    """Return the report of a run in a format; for the terminal format it is printed and the result is empty."""
    if form.name == "terminal" and not (form.full or form.statistics):
        show_run(run, console, load_registry(), joined=form.joined)
        return ""
    commands = heading.regeneration_commands(run, form)
    if form.name == "html":
        return pages.page_of(run, load_registry(), " && ".join(commands))
    if form.name == "curves":
        return curves_csv(run)
    everything = form.name in ("json", "csv", "figure")
    report = contents.report_of(run, load_registry(), statistics=form.statistics, everything=everything)
    if form.name == "md":
        return files.to_markdown(report, commands, _pictures(run, form))
    return _present(report, form, console)


def _pictures(run: results.Run, form: Form) -> dict[str, str]:
    """Write the charts of a run if requested; return their paths relative to the report, by chart name."""
    if form.figures is None:
        return {}
    start = Path() if form.output is None else form.output.parent
    charts = charts_of(run)
    paths = _write_charts(charts, form.figures, form.picture_form)
    names = [chart.name for chart in charts]
    return {
        name: Path(os.path.relpath(path, start)).as_posix()
        for name, path in zip(names, paths, strict=True)
        if names.count(name) == 1  # a plugin's chart may reuse a name
    }


def curves_csv(run: results.Run) -> str:
    """Return the curves of a run as CSV, one line per dataset, method, metric and number of features."""
    if not len(run.curves) or not len(run.curve_means):
        raise UsageError("--curves needs a run with a successful trial of a method with 'curve'")
    return files.frame_to_csv(curves.points(run))


def choose(run: results.Run, reference: str | None, metric: str | None) -> results.Run:
    """Return a run with another reference or metric that its report can show; None keeps the current one."""
    changes = {name: value for name, value in (("metric", metric), ("reference", reference)) if value is not None}
    return run.replace(**changes) if changes else run


def present_power(
    run: results.Run,
    difference: float,
    console: Console,
    *,
    power: float,
    methods: Sequence[str] = (),
    as_json: bool = False,
) -> str:
    """Return the power analysis of a run as JSON; without `as_json` it is printed and the result is empty."""
    size = difference / 100.0 if run.settings.score.percent else difference
    plan = run.power(size, power=power, methods=methods or None)
    report = across_datasets.power_report(run, plan)
    if as_json:
        return files.to_json(report, files.POWER)
    terminal.show(report, console)
    return ""


def present_table(name: str, form: Form, console: Console) -> str:
    """Return the analysis of a published table in a format; for the terminal it is printed and the result is empty."""
    registry = load_registry()
    table = read_published(name, registry, Path())
    score = score_named(table.about.metric, registry)[1] if table.about.metric else Score()
    report = report_of_table(table, score, reanalyse(table, score, form.reference), statistics=form.statistics)
    return _present(report, form, console)


def _present(report: Report, form: Form, console: Console) -> str:
    if form.name == "figure":
        return _chart(report, str(form.figure))
    if form.name != "terminal":
        return rendered(report, form.name)
    terminal.show(report, console)
    return ""


def rendered(report: Report, form: str) -> str:
    """Return a report in a form: md, latex, html, json or csv."""
    return _RENDERERS[form](report)


def _chart(report: Report, name: str) -> str:
    chart = report.chart(name)
    if chart is None or chart.spec is None:
        raise UnknownNameError("figure", name, [chart.name for chart in report.drawable], owner="this report")
    return picture(chart, "svg", report.title).decode()


def page_path(run: results.Run) -> Path:
    """Return the path of a run's page: in its folder, or beside its bundle and named like it."""
    if run.bundle is None:
        return run.path / pages.FILE
    return run.bundle.with_name(f"{run.bundle.name.removesuffix('.zip')}.html")


def write_page(run: results.Run, registry: Registry | None = None) -> Path:
    """Write the page of a run beside its results and return its path."""
    path = page_path(run)
    write_text(path, pages.page_of(run, registry or load_registry()))
    return path


def open_page(run: results.Run) -> Path:
    """Write the page of a run and show it in the user's browser."""
    import webbrowser

    path = write_page(run)
    webbrowser.open(path.resolve().as_uri())
    return path


def charts_of(run: results.Run) -> list[Chart]:
    """Return every chart of a run that can be drawn."""
    return contents.report_of(run, load_registry(), everything=True).drawable


def write_charts(run: results.Run, folder: Path, form: str = "svg") -> list[Path]:
    """Write every chart of a run as a file of its own."""
    charts = charts_of(run)
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


WIDTH = 10_000
"""Characters per line: wide tables scroll."""


class Run(results.Run):  # noqa: D101 - that of its base
    __doc__ = results.Run.__doc__

    def chart(self, name: str) -> Any:
        """Return a chart of the run's report.

        Parameters
        ----------
        name : str
            For example "critical-difference"; `charts` lists all.

        Returns
        -------
        altair.Chart or another Altair chart
            Notebooks display it; ``save("chart.pdf")`` writes a file.

        Raises
        ------
        UnknownNameError
            If the report of the run has no such chart.
        """
        import altair

        charts = charts_of(self)
        chart = next((chart for chart in charts if chart.name == name), None)
        if chart is None:
            raise UnknownNameError("chart", name, self.charts, owner="this run")
        return altair.Chart.from_dict(specification(chart, chart.title))

    @property
    def charts(self) -> list[str]:
        """Names of the charts available for this run."""
        return [chart.name for chart in charts_of(self)]

    def _repr_html_(self) -> str:
        """Return the notebook view: the scores, a line per method, failures, and the conclusion."""
        return to_fragment(brief.brief_report(self, WIDTH))
