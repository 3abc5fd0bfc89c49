"""The commands ``mfbench audit`` and ``mfbench rank``."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from mfbench.base.console import make_console, print_line
from mfbench.cli.entry import outlive_output
from mfbench.cli.forms import AsHtml, AsLatex, AsMarkdown, Output, chosen_form, deliver
from mfbench.cli.options import AsJson, Text, Texts, keywords, taking
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
    as_md: AsMarkdown = False,
    as_latex: AsLatex = False,
    as_html: AsHtml = False,
    output: Output = None,
) -> None:
    """Rank the methods of a table of scores, and say what the table cannot show.

    A row per score with the columns dataset, method, score and possibly fold; or a row per dataset and a column per
    method. Results of benchopt, TabArena and sdufseval, evaluations of OpenML runs and scikit-learn's cv_results_ are
    recognised.
    """
    from mfbench_audit.rank_report import report_of_ranking
    from mfbench_audit.ranking import compare
    from mfbench_audit.reading import read_scores

    form = chosen_form(output, json=as_json, md=as_md, latex=as_latex, html=as_html)
    if lower and higher:
        raise UsageError("choose one of --lower and --higher")
    greater = False if lower else True if higher else None
    table = read_scores(files, metric)
    ranking = compare(table, greater_is_better=greater, folds=folds, alpha=alpha, reference=reference)
    report = report_of_ranking(ranking, f"{ranking.table.metric or 'Scores'} of {files[0].name}")
    deliver(report, form, output)


_LONGEST = 24


def _label(text: str, number: int) -> str:
    """Return a label of at most 24 characters, without signs that have a meaning in patterns."""
    words = "".join(character if character.isalnum() or character in "-.=" else " " for character in text)
    label = " ".join(words.replace("=", " ").split())
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 4].strip()} {number}"
