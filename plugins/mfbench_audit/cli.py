"""The commands ``mfbench audit`` and ``mfbench rank``."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.options import AsJson, Text, Texts, keywords, make_console, print_line, taking
from mfbench.errors import UsageError

_OPTIONS = ("profile", "jobs", "out", "fresh", "budget", "seed", "strict", "executor", "scheduler")


@taking(_OPTIONS)
def audit(
    selectors: Annotated[
        Texts,
        typer.Argument(
            metavar="SELECTOR",
            help="Selectors with their parameters, such as 'knockoffs(q=0.2)'. [default: those of the suite audit]",
        ),
    ] = None,
    **options: Any,
) -> None:
    """Check whether selectors keep the error rates that they promise.

    Each is fitted to rounds of generated data on which the irrelevant features are known: independent, correlated,
    discrete, with heavy tails, and others. Like 'mfbench suite audit', it resumes, and writes a page.
    """
    from mfbench.api import resume_command, run_request
    from mfbench.api.request import Request
    from mfbench.report.progress import Downloads, follow

    labels = [_label(text, number) for number, text in enumerate(selectors or (), 1)]
    added = tuple(f"{label} = {text} -> top positive" for label, text in zip(labels, selectors or (), strict=True))
    request = Request("audit", add=added, only=tuple(labels), **keywords(options))
    console = make_console()
    outlive_output()
    with closing(follow(console)) as display:
        outcome = run_request(request, display, Downloads(console))
    for line in outcome.show(console, resume_command(sys.argv[1:]), with_page=True):
        print_line(console, line)
    raise typer.Exit(outcome.exit_code)


def rank(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="CSV, TSV, JSON or Parquet; several files make one table.")
    ],
    metric: Annotated[Text, typer.Option(metavar="NAME", help="Which score, if the table has several.")] = None,
    lower: Annotated[bool, typer.Option("--lower", help="Smaller scores are better.")] = False,
    higher: Annotated[bool, typer.Option("--higher", help="Larger scores are better.")] = False,
    folds: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Folds of one repeat. [default: all of a dataset]")
    ] = None,
    reference: Annotated[
        Text, typer.Option(metavar="LABEL", help="Method named before the scores were seen. [default: the best]")
    ] = None,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Level of tests and intervals.")] = 0.05,
    as_json: AsJson = False,
    as_md: Annotated[bool, typer.Option("--md", help="Write Markdown.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Write the tables as LaTeX.")] = False,
    as_html: Annotated[bool, typer.Option("--html", help="Write a page.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.")] = None,
) -> None:
    """Rank the methods of a table of scores, and say what the table cannot show.

    A row per score with the columns dataset, method, score and possibly fold; or a row per dataset and a column per
    method. Results of benchopt, TabArena and sdufseval, evaluations of OpenML runs and scikit-learn's cv_results_ are
    recognised.
    """
    from mfbench.api import write_report
    from mfbench.report.render import files as forms
    from mfbench.report.render import terminal
    from mfbench.report.render.html.page import to_html
    from mfbench_audit.rank_report import report_of_ranking
    from mfbench_audit.ranking import compare
    from mfbench_audit.reading import read_scores

    chosen = [
        name for name, is_set in (("json", as_json), ("md", as_md), ("latex", as_latex), ("html", as_html)) if is_set
    ]
    if len(chosen) > 1 or (lower and higher):
        raise UsageError("choose one of --json, --md, --latex and --html, and one of --lower and --higher")
    if output is not None and not chosen:
        raise UsageError("--output needs one of --json, --md, --latex and --html")
    greater = False if lower else True if higher else None
    table = read_scores(files, metric)
    ranking = compare(table, greater_is_better=greater, folds=folds, alpha=alpha, reference=reference)
    report = report_of_ranking(ranking, f"{ranking.table.metric or 'Scores'} of {files[0].name}")
    if not chosen:
        console = make_console()
        for line in report.problems:
            print_line(console, line)
        terminal.show(report, console)
        return
    renderers = {"json": forms.to_json, "md": forms.to_markdown, "latex": forms.to_latex, "html": to_html}
    text = str(renderers[chosen[0]](report))  # type: ignore[operator]
    if output is None:
        write_document(text)
    else:
        write_report(output, text)


_LONGEST = 24


def _label(text: str, number: int) -> str:
    """Return a label of at most 24 characters, without signs that have a meaning in patterns."""
    words = "".join(character if character.isalnum() or character in "-.=" else " " for character in text)
    label = " ".join(words.replace("=", " ").split())
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 4].strip()} {number}"
