"""The commands ``mfbench suite`` and ``mfbench report``."""

import sys
from contextlib import closing
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from mfbench.base.console import make_console, print_line
from mfbench.cli import options as shared
from mfbench.cli.entry import outlive_output
from mfbench.cli.forms import TERMINAL, AsLatex, AsMarkdown, Output, chosen_form, write
from mfbench.cli.options import DEFAULT_OUT, AsJson, Metric, Out, Reference, Text, Texts
from mfbench.errors import MfbenchError, UsageError, explained

A_RUN = "A run folder, a folder of runs, the name of a suite, or a bundle."


class PictureForm(StrEnum):
    """The file format of pictures."""

    SVG = "svg"
    PDF = "pdf"
    PNG = "png"


@shared.taking(shared.RUN_OPTIONS)
def suite(
    name: shared.SuiteName,
    no_page: Annotated[bool, Option("--no-page", help="Do not write report.html beside the results.")] = False,
    explain_key: Annotated[bool, Option("--explain-key", help="Print what result keys depend on, and exit.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Print what a run would do; download nothing.")] = False,
    **options: Any,
) -> None:
    """Run a suite, or the trials that are still missing, and print the report."""
    from mfbench.api import resume_command, run_request
    from mfbench.api.request import Request, estimate_suite, explain_keys, prepare_suite
    from mfbench.host.features import feature_hooks
    from mfbench.report.progress import Downloads, follow, show_estimate

    request = Request(name, **shared.keywords(options))
    if dry_run and explain_key:
        raise UsageError("--dry-run and --explain-key each print something else: choose one of them")
    console = make_console()
    if dry_run:
        estimate = estimate_suite(request)
        show_estimate(estimate, name, console)
        raise typer.Exit(estimate.exit_code)
    if explain_key:
        with Downloads(console) as downloads:
            plan, _, _ = prepare_suite(request, follower=downloads)
        for text in explain_keys(plan):
            sys.stdout.write(f"{text}\n")
        return
    ended = feature_hooks().first("mfbench_finished", request=request)
    if ended is not None:
        sys.stdout.write(f"{ended[0]}\n")
        raise typer.Exit(ended[1])
    outlive_output()
    with closing(follow(console)) as display:
        outcome = run_request(request, display, Downloads(console))
    for line in outcome.show(console, resume_command(sys.argv[1:]), with_page=not no_page):
        print_line(console, line)
    raise typer.Exit(outcome.exit_code)


def report(
    runs: Annotated[Texts, Argument(metavar="RUN", help=f"{A_RUN} Several of one suite are joined.")] = None,
    published: Annotated[Text, Option(metavar="TABLE", help="Analyse a published table, by name or CSV file.")] = None,
    reference: Reference = None,
    metric: Metric = None,
    statistics: Annotated[bool, Option("--statistics", help="Add all pairs, win probabilities and times.")] = False,
    full: Annotated[bool, Option("--full", help="Print all tables, charts, tests and remarks.")] = False,
    as_json: AsJson = False,
    as_csv: Annotated[bool, Option("--csv", help="Write CSV, one line per dataset and method.")] = False,
    as_curves: Annotated[bool, Option("--curves", help="Write the curves as CSV.")] = False,
    as_md: AsMarkdown = False,
    as_latex: AsLatex = False,
    as_html: Annotated[bool, Option("--html", help="Write the page: one HTML file, for a bundle beside it.")] = False,
    opens: Annotated[bool, Option("--open", help="Write the page and show it in a browser.")] = False,
    figure: Annotated[Text, Option(metavar="NAME", help="Write a chart as SVG, such as critical-difference.")] = None,
    figures: Annotated[Path | None, Option(metavar="DIR", help="Write all charts as files; --md shows them.")] = None,
    form_of_figures: Annotated[
        PictureForm | None, Option("--format", metavar="svg|pdf|png", help="Form of --figures. [default: svg]")
    ] = None,
    output: Output = None,
    out: Out = DEFAULT_OUT,
) -> None:
    """Show or export the report of a run, or analyse a published table."""
    from mfbench.api.request import opened_runs
    from mfbench.report.heading import Form
    from mfbench.report.present import choose, open_page, page_path, present_run, present_table, write_charts

    switches = {"json": as_json, "csv": as_csv, "curves": as_curves, "md": as_md, "latex": as_latex, "html": as_html}
    name = chosen_form(output, **switches, figure=figure is not None)
    picture_form = form_of_figures or PictureForm.SVG
    if bool(runs) == (published is not None):
        raise UsageError("name either a run or, with --published, a table")
    if form_of_figures is not None and figures is None:
        raise UsageError("--format is the form of the files of --figures: name a folder")
    joined = tuple(runs or ()) if len(runs or ()) > 1 else ()
    form = Form(name, figure, statistics, full, reference, output, joined, figures, picture_form)
    if published is not None:
        if opens or figures is not None or as_curves or metric is not None:
            raise UsageError("--open, --figures, --curves and --metric need a run, not a published table")
        write(present_table(published, form, make_console()), output)
        return
    if opens and (name != TERMINAL or full or statistics or figures is not None):
        raise UsageError("--open stands alone: leave out the form of the report")
    if figures is not None and (full or ((name != TERMINAL or statistics) and name != "md")):
        raise UsageError("--figures stands alone, or goes with --md, whose text then shows the pictures")
    with opened_runs(runs or [], out) as opened:
        stored = choose(opened, reference, metric)
        if figures is not None and name == TERMINAL:
            for path in write_charts(stored, figures, picture_form):
                sys.stdout.write(f"{path}\n")
        elif opens:
            if form.joined:
                raise UsageError("--open needs a single run; write the page of joined runs with --html and --output")
            sys.stdout.write(f"{open_page(stored)}\n")
        elif as_html and output is None and stored.bundle is not None:
            path = page_path(stored)
            text = present_run(stored, replace(form, output=path), make_console())
            with explained(MfbenchError, lambda reason: f"{reason}; name another place with --output", MfbenchError):
                write(text, path)
            sys.stdout.write(f"{path}\n")
        else:
            write(present_run(stored, form, make_console()), output)


def power(
    run: Annotated[str, Argument(metavar="RUN", help=A_RUN)],
    difference: Annotated[float, Option(metavar="SIZE", help="Difference to find; of shares, in percentage points.")],
    probability: Annotated[float, Option("--power", metavar="PROBABILITY", help="Probability of finding it.")] = 0.8,
    reference: Reference = None,
    method: Annotated[Texts, Option(metavar="LABEL", help="Compare only this method. Can be repeated.")] = None,
    metric: Metric = None,
    as_json: AsJson = False,
    out: Out = DEFAULT_OUT,
) -> None:
    """Show which differences a run can find, and the repeats, rows or datasets that a smaller one needs."""
    from mfbench.api.request import find_run
    from mfbench.report.present import choose, present_power

    chosen, console = choose(find_run(run, out), reference, metric), make_console()
    text = present_power(chosen, difference, console, power=probability, methods=method or (), as_json=as_json)
    write(text, None)
