"""The forms in which commands write a report, and where they write it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from mfbench.base.console import make_console, print_line
from mfbench.base.text import listing
from mfbench.cli.entry import write_document
from mfbench.errors import UsageError

if TYPE_CHECKING:
    from mfbench.model.sections import Report

AsMarkdown = Annotated[bool, Option("--md", help="Write Markdown.")]
AsLatex = Annotated[bool, Option("--latex", help="Write the tables as LaTeX.")]
AsHtml = Annotated[bool, Option("--html", help="Write a page.")]
Output = Annotated[Path | None, Option("--output", "-o", metavar="FILE", help="Write to a file.")]
TERMINAL = "terminal"


def chosen_form(output: Path | None, **switches: bool) -> str:
    """Return the form that is switched on, or `TERMINAL`."""
    forms = [name for name, is_set in switches.items() if is_set]
    names = listing([f"--{name}" for name in switches])
    if len(forms) > 1:
        raise UsageError(f"choose one of {names}")
    if output is not None and not forms:
        raise UsageError(f"--output needs one of {names}")
    return forms[0] if forms else TERMINAL


def deliver(report: Report, form: str, output: Path | None) -> None:
    """Show a report on the terminal, or write it in another form."""
    from mfbench.report.present import rendered
    from mfbench.report.render import terminal

    if form != TERMINAL:
        write(rendered(report, form), output)
        return
    console = make_console()
    for line in report.problems:
        print_line(console, line)
    terminal.show(report, console)


def write(text: str, output: Path | None) -> None:
    """Write a document to a file or to the standard output."""
    from mfbench.api import write_report

    if output is None:
        write_document(text)
    else:
        write_report(output, text)
