"""The command ``mfbench paper``."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.options import AsJson, Text, keywords, make_console, print_line, taking
from mfbench.errors import UsageError


@taking(("jobs", "out", "data_dir", "offline", "budget"))
def paper(
    name: Annotated[Text, typer.Argument(metavar="[NAME]", help="The paper. [default: list all]")] = None,
    places: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="Runs or bundles. [default: those in --out]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="First run what takes minutes.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="First run everything; the same command resumes.")] = False,
    as_json: AsJson = False,
    as_md: Annotated[bool, typer.Option("--md", help="Write Markdown.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Write the tables as LaTeX.")] = False,
    as_html: Annotated[bool, typer.Option("--html", help="Write a page.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
    **options: Any,
) -> None:
    """Compare every figure that a paper prints with ours.

    Each has a verdict: equivalent within two points, above, below, or undecided with the repeats that would decide it.
    The dossier also lists what is done otherwise here, printed errors with their evidence, and what cannot be computed.
    """
    from mfbench.api import write_report
    from mfbench.host.registry import load_registry
    from mfbench.report.render import files as forms
    from mfbench.report.render import terminal
    from mfbench.report.render.html.page import to_html
    from mfbench_papers.dossier import dossier_of
    from mfbench_papers.paper import papers, read_paper
    from mfbench_papers.runs import stored_runs

    flags = {"json": as_json, "md": as_md, "latex": as_latex, "html": as_html}
    chosen = [form for form, is_set in flags.items() if is_set]
    if len(chosen) > 1 or (quick and whole) or (places and (quick or whole)):
        raise UsageError("choose one of --json, --md, --latex and --html, and one of --quick, --whole and RUN")
    if output is not None and not chosen:
        raise UsageError("--output needs one of --json, --md, --latex and --html")
    console, code = make_console(), 0
    if name is None:
        for each in papers():
            print_line(console, f"{each:20s} {read_paper(each).citation}")
        return
    described, out = read_paper(name), options.get("out") or Path("reports")
    if quick or whole:
        # A document on the standard output stands alone.
        shown = Console(stderr=True) if chosen and output is None else console
        code = _run(described, "quick" if quick else "whole", {**keywords(options), "out": out}, shown)
    runs = stored_runs(described, places or (), out)
    report = dossier_of(name, described, runs, load_registry())
    renderers = {"json": forms.to_json, "md": forms.to_markdown, "latex": forms.to_latex, "html": to_html}
    if not chosen:
        for line in report.problems:
            print_line(console, line)
        terminal.show(report, console)
    elif output is None:
        write_document(str(renderers[chosen[0]](report)))  # type: ignore[operator]
    else:
        write_report(output, str(renderers[chosen[0]](report)))  # type: ignore[operator]
    raise typer.Exit(code)


def _run(described: Any, scale: str, options: dict[str, Any], console: Any) -> int:
    """Run the suites of a paper one after the other; return the largest exit code."""
    from mfbench.api import resume_command, run_request
    from mfbench.report.progress import Downloads, follow
    from mfbench_papers.runs import request_of

    codes = []
    outlive_output()
    for part in described.runs:
        with closing(follow(console)) as display:
            outcome = run_request(request_of(part, scale, **options), display, Downloads(console))
        codes.append(int(outcome.exit_code))
        for line in outcome.show(console, resume_command(sys.argv[1:]), with_page=False):
            print_line(console, line)
    return max(codes)
