"""The command ``mfbench paper``."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from mfbench.base.console import make_console, print_line
from mfbench.cli.entry import outlive_output
from mfbench.cli.forms import TERMINAL, AsHtml, AsLatex, AsMarkdown, Output, chosen_form, deliver
from mfbench.cli.options import AsJson, Text, keywords, taking
from mfbench.errors import UsageError


@taking(("jobs", "out", "data_dir", "offline", "budget"))
def paper(
    name: Annotated[Text, typer.Argument(metavar="[NAME]", help="The paper. [default: list all]")] = None,
    places: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN]...", help="Runs or bundles. [default: those in --out]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run a version that takes minutes first.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Run everything first; the same command resumes.")] = False,
    as_json: AsJson = False,
    as_md: AsMarkdown = False,
    as_latex: AsLatex = False,
    as_html: AsHtml = False,
    output: Output = None,
    bundle: Annotated[
        Path | None, typer.Option("--bundle", metavar="FOLDER", help="Write all forms, and a bundle of each run.")
    ] = None,
    **options: Any,
) -> None:
    """Compare every figure that a paper prints with ours.

    Each has a verdict: equivalent within two points, above, below, or undecided with the repeats that would decide it.
    The dossier also tests statements without a number, and lists what is done otherwise here, printed errors with their
    evidence, and what cannot be computed.
    """
    from mfbench.host.registry import load_registry
    from mfbench_papers.dossier import dossier_of
    from mfbench_papers.paper import papers, read_paper
    from mfbench_papers.runs import stored_runs, write_bundle

    form = chosen_form(output, json=as_json, md=as_md, latex=as_latex, html=as_html)
    if (quick and whole) or (places and (quick or whole)):
        raise UsageError("choose one of --quick, --whole and RUN")
    console, code = make_console(), 0
    if name is None:
        for each in papers():
            print_line(console, f"{each:20s} {read_paper(each).citation}")
        return
    described, out = read_paper(name), options.get("out") or Path("reports")
    if quick or whole:
        # A document on the standard output stands alone.
        shown = console if form == TERMINAL or output is not None else Console(stderr=True)
        code = _run(described, "quick" if quick else "whole", {**keywords(options), "out": out}, shown)
    runs = stored_runs(described, places or (), out)
    dossier = dossier_of(name, described, runs, load_registry())
    if bundle is not None:
        write_bundle(dossier, runs, bundle)
    deliver(dossier, form, output)
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
