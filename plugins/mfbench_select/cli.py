"""The command ``mfbench select``."""

from __future__ import annotations

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from mfbench.api import resume_command
from mfbench.base.console import make_console, print_line
from mfbench.base.text import counted, plain
from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.options import AsJson, Text, Texts, taking
from mfbench.errors import ExitCode, UsageError

_EXTENSIONS = (".gz", ".csv", ".tsv", ".txt", ".data", ".parquet", ".feather", ".arff", ".xlsx", ".xls")


@taking(("jobs", "out", "fresh"))
def select(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, Feather, ARFF or Excel.")],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column to predict.")],
    task: Annotated[
        Text, typer.Option(metavar="TASK", help="classification or regression. [default: by the target]")
    ] = None,
    metric: Annotated[
        Text, typer.Option(metavar="NAME", help="accuracy, balanced_accuracy or r2. [default: accuracy, r2]")
    ] = None,
    budget: Annotated[Text, typer.Option(metavar="TIME", help="Wall time, such as 90s or 10m. [default: 2m]")] = None,
    max_trials: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Number of trials instead: the same answer anywhere.")
    ] = None,
    drop: Annotated[Texts, typer.Option(metavar="COLUMN", help="Leave a column out. Can be repeated.")] = None,
    category: Annotated[Texts, typer.Option(metavar="COLUMN", help="A column of categories. Can be repeated.")] = None,
    groups: Annotated[Text, typer.Option(metavar="COLUMN", help="Rows of one group stay in one part.")] = None,
    time: Annotated[Text, typer.Option(metavar="COLUMN", help="Training rows are earlier than test rows.")] = None,
    weight: Annotated[Text, typer.Option(metavar="COLUMN", help="How much each row counts.")] = None,
    sep: Annotated[Text, typer.Option(metavar="SIGN", help="Separator of a text file. [default: recognised]")] = None,
    decimal: Annotated[Text, typer.Option(metavar="SIGN", help="Decimal sign. [default: recognised]")] = None,
    na: Annotated[Texts, typer.Option(metavar="TEXT", help="Another sign for a missing value.")] = None,
    encoding: Annotated[Text, typer.Option(metavar="NAME", help="Encoding of the text. [default: recognised]")] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of folds and methods.")] = 0,
    code: Annotated[bool, typer.Option("--code", help="Print the Python of the recommended pipeline.")] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the fitted pipeline with joblib; loading such a file runs code."),
    ] = None,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Select features of one table: which, how many, and what score to expect on new rows.

    Selectors, learners and numbers of features are tried by cross-validation within the budget. The score is that of
    the best pipeline after correcting for its choice, with a 95 % interval. A page has the curve, the stability of the
    selection, pairs of features, and everything that was tried.
    """
    from mfbench.host.registry import load_registry
    from mfbench.report.present import write_page
    from mfbench.report.progress import Downloads, follow
    from mfbench_select.api import Selection, prepare, run_prepared
    from mfbench_select.leader import Leader
    from mfbench_select.report import data_of, lines_of
    from mfbench_select.tables import read_table, tidy

    if task not in (None, "classification", "regression"):
        raise UsageError(f"--task {task!r}: use classification or regression")
    if budget is not None and max_trials is not None:
        raise UsageError("choose one of --budget and --max-trials")
    if code and as_json:
        raise UsageError("choose one of --code and --json")
    if sep == "\\t":
        sep = "\t"
    for name, sign, allowed in (("sep", sep, None), ("decimal", decimal, ".,")):
        if sign is not None and (len(sign) != 1 or (allowed and sign not in allowed)):
            raise UsageError(f"--{name} {sign!r}: use one character{' , or .' if allowed else ''}")
    console = make_console()
    notes = Console(stderr=True) if as_json else console
    outlive_output()
    columns = {role: column for role, column in (("groups", groups), ("time", time), ("weights", weight)) if column}
    frame = read_table(file, sep=sep, decimal=decimal, na=na or (), encoding=encoding)
    table = tidy(
        frame,
        target,
        where=str(file),
        drop=drop or (),
        category=category or (),
        kept=tuple(columns.values()),
        task=task,
    )
    out, jobs = options["out"], options["jobs"]
    prepared = prepare(
        table,
        _stem(file),
        out=out,
        metric=metric,
        budget=budget,
        max_trials=max_trials,
        jobs=jobs,
        seed=seed,
        columns=columns,
    )
    if not as_json:
        _introduce(console, table.taken, table.remarks)
    metric = metric or ("r2" if table.is_regression else "accuracy")
    with closing(follow(notes)) as display:
        outcome = run_prepared(
            prepared,
            out=out,
            budget=budget,
            max_trials=max_trials,
            jobs=jobs,
            fresh=options["fresh"],
            observer=Leader(display, metric, partial(print_line, notes)),
            downloads=Downloads(notes),
        )
    if outcome.interrupt is not None:
        print_line(console, f"Interrupted. To resume, run: {resume_command(sys.argv[1:])}")
        raise typer.Exit(ExitCode.INTERRUPTED)
    registry = load_registry()
    selection = Selection(outcome.run, table, registry)
    answer = selection.answer
    page = write_page(outcome.run, registry)
    if as_json:
        import json

        write_document(json.dumps(data_of(answer), indent=2) + "\n")
    else:
        _show(console, lines_of(answer))
        if prepared.left_out:
            limit = "--budget" if max_trials is None else "--max-trials"
            print_line(console, f"{counted(prepared.left_out, 'pipeline')} left out to keep within {limit}.")
        print_line(console, f"Page: {page}")
    if save is not None:
        _save(selection, save)
        print_line(notes, f"Saved: {save}. Loading such a file runs the code in it, so load only what you trust.")
    if code:
        console.print()
        console.print(selection.code(), markup=False, highlight=False, soft_wrap=True)


def _stem(file: Path) -> str:
    name = file.name
    while (ending := Path(name).suffix.lower()) in _EXTENSIONS:
        name = name[: -len(ending)]
    return plain(name)


def _introduce(console: Console, taken: dict[str, str], remarks: list[str]) -> None:
    """Print what the columns were taken for, those of a kind together."""
    kinds: dict[str, list[str]] = {}
    for name, kind in taken.items():
        kinds.setdefault(kind, []).append(name)
    for kind, names in kinds.items():
        shown = ", ".join(plain(name) for name in names[:6])
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        print_line(console, f"{kind}: {shown}{more}")
    for remark in remarks:
        print_line(console, remark)


def _show(console: Console, lines: list[tuple[str, str]]) -> None:
    from rich.table import Table
    from rich.text import Text as Plain

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column()
    for name, text in lines:
        grid.add_row(Plain(plain(name)), Plain(plain(text)))
    console.print(grid)


def _save(selection: Any, path: Path) -> None:
    import joblib
    import sklearn

    import mfbench
    from mfbench.errors import MfbenchError, explained

    estimator = selection.fitted()
    versions = {"mfbench": mfbench.__version__, "scikit-learn": sklearn.__version__}
    with explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError):
        joblib.dump({"pipeline": estimator, "versions": versions, "target": selection.table.target}, path)
