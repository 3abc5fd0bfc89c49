"""A dossier: the figures of a paper beside ours with their verdicts, and what one must know to read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from mfbench import Cell, Run, Section, Table
from mfbench.base.text import counted
from mfbench.host.registry import Registry
from mfbench.model.sections import Report
from mfbench.report.cells import size_text, table_of
from mfbench.report.heading import Form, regeneration_commands
from mfbench.report.sections.published import published
from mfbench.stats.published import ABOVE, BELOW, COMPARED, EQUIVALENT, MOST_REPEATS, UNDECIDED
from mfbench.suite.published import read_published
from mfbench_papers.paper import Erratum, Paper
from mfbench_papers.statements import answer_of, evaluate, section_of

LISTED = 40
_DECIDED = (EQUIVALENT, ABOVE, BELOW)


def dossier_of(name: str, paper: Paper, runs: Mapping[str, Run], registry: Registry) -> Report:
    """Return the dossier of a paper from the run of each suite; suites without one have no figures."""
    frame = pd.concat([runs[suite].published for suite in runs] or [pd.DataFrame(columns=["table", "verdict"])])
    counts = _counts(paper, frame, registry)
    total = counts.drop(columns=["table", "title"]).sum()
    statements = evaluate(paper.statements, runs)
    return Report(
        f"{paper.title}: printed and ours",
        paper.citation,
        [
            _verdicts(paper, counts, total, runs),
            section_of(statements),
            *(_figures(suite, run) for suite, run in runs.items() if len(run.published)),
            *(_success(suite, run) for suite, run in runs.items() if run.detects),
            _undecided(frame, runs),
            _listing("Deviations", ["what", "why"], [(part.what, part.why) for part in paper.deviations]),
            _listing("Errata", ["where", "printed, right, and the evidence"], map(_erratum, paper.errata)),
            _listing("Not computed", ["what", "why"], [(part.what, part.why) for part in paper.missing]),
        ],
        {"paper": name, "tables": counts.to_dict("records"), "statements": statements.to_dict("records")},
        answer=[*_answer(total), *answer_of(statements)],
        problems=[
            f"The suite {part.suite} has no results here: mfbench paper {name} --quick runs it."
            for part in paper.runs
            if part.suite not in runs
        ],
    )


def _counts(paper: Paper, frame: pd.DataFrame, registry: Registry) -> pd.DataFrame:
    """Return for each table the number of printed figures, of those computed, and of each verdict."""
    rows = []
    for table in dict.fromkeys(table for part in paper.runs for table in part.tables):
        printed = read_published(table, registry, Path())
        verdicts = frame.loc[frame["table"] == table, "verdict"]
        of_each = {verdict: int((verdicts == verdict).sum()) for verdict in COMPARED}
        compared = sum(of_each.values())
        rows.append(
            {"table": table, "title": printed.title, "printed": len(printed.values), "ours": len(verdicts)}
            | {"comparable": compared, **of_each}
        )
    return pd.DataFrame(rows, columns=["table", "title", "printed", "ours", "comparable", *COMPARED])


def _verdicts(paper: Paper, counts: pd.DataFrame, total: pd.Series[Any], runs: Mapping[str, Run]) -> Section:
    columns = ["printed", "ours", "comparable", *COMPARED]
    rows = [[row["title"], *(row[name] for name in columns), _decided(row)] for row in counts.to_dict("records")]
    if len(rows) > 1:
        rows.append(["all", *(int(total[name]) for name in columns), _decided(total)])
    tables = [table_of(["table", *columns, "decided"], rows, footer_rows=int(len(rows) > 1))] if rows else []
    notes = [paper.protocol]
    if rows:
        notes.append(
            "Printed: figures in the paper. Ours: those whose dataset and method a run here has. Comparable: of these, "
            "complete ones on data of the printed size. Decided: equivalent, above or below."
        )
    for suite, run in runs.items():
        done, planned = int((run.outcomes["status"] == "ok").sum()), len(run.outcomes)
        command = " && ".join(regeneration_commands(run, Form("md")))
        notes.append(f"{suite}: profile {run.meta.profile}, {done:,} of {planned:,} trials. {command}")
    return Section("Verdicts" if rows else "Protocol", tables, notes=notes)


def _decided(row: Mapping[Any, Any] | pd.Series[Any]) -> str:
    decided = sum(int(row[verdict]) for verdict in _DECIDED)
    return f"{100 * decided / row['comparable']:.0f} %" if row["comparable"] else "–"


def _answer(total: pd.Series[Any]) -> list[str]:
    if not total["printed"]:
        return []
    printed = counted(int(total["printed"]), "printed figure")
    if not total["comparable"]:
        return [f"None of {printed} can be compared yet."]
    verdicts = ", ".join(f"{int(total[verdict])} {verdict}" for verdict in (*_DECIDED, UNDECIDED))
    return [f"{int(total['comparable'])} of {printed} can be compared with ours: {verdicts}."]


def _success(suite: str, run: Run) -> Section:
    """Return the success index of each method on each dataset."""
    trials = run.trials[run.trials["status"] == "ok"]
    sizes = {label: (len(run.relevant(label)), len(run.feature_names(label))) for label in run.datasets["dataset"]}
    shares = {label: count / (total - count) for label, (count, total) in sizes.items() if count < total}
    index = 100 * (trials["detection"] - trials["dataset"].map(shares).clip(upper=0.5) * trials["false_alarm"])
    frame = index.groupby([trials["dataset"], trials["method"]], sort=False).mean().unstack().loc[list(shares)]
    rows = [[label, *(str(round(value)) for value in values)] for label, *values in frame.reset_index().to_numpy()]
    notes = [
        "100 (detection rate - a · false-alarm rate) with a = min(1/2, relevant features / irrelevant features): the "
        "index of Bolón-Canedo, Sánchez-Maroño and Alonso-Betanzos (2013), mean over rounds. 100 means all relevant "
        "features and no others."
    ]
    return Section(f"Success index of {suite}", [table_of(["dataset", *frame.columns], rows)], notes=notes)


def _figures(suite: str, run: Run) -> Section:
    section = published(run)
    return replace(section, title=f"Figures of {suite}", data={}, rows=None)


def _undecided(frame: pd.DataFrame, runs: Mapping[str, Run]) -> Section:
    """Return the undecided figures with the number of repeats that would decide them, the fewest first."""
    rest = frame[frame["verdict"] == UNDECIDED]
    if not len(rest):
        return Section("What would decide the rest")
    titles = {name: table.title for run in runs.values() for name, table in run.meta.published.tables.items()}
    scores = {name: score for run in runs.values() for name, score in run.meta.scores.items()}
    decidable = rest[rest["repeats_to_decide"] > 0].sort_values("repeats_to_decide", kind="stable")
    rows = []
    for row in decidable.head(LISTED).to_dict("records"):
        percent = scores[row["metric"]].percent
        sizes = [size_text(row[name], percent, "z") for name in ("ours", "published")]
        rows.append([row["dataset"], row["method"], titles[row["table"]], *sizes, f"{row['repeats_to_decide']:.0f}"])
    columns = ["dataset", "method", "table", "ours", "printed", "repeats"]
    others = counted(len(rest) - len(decidable), "undecided figure")
    notes = [
        "Repeats of the protocol after which a figure would be equivalent, above or below if difference and spread "
        f"stayed as they are. {others} would need more than {MOST_REPEATS}, or cannot be decided: the paper's own "
        "splits are too uncertain, or a run has fewer than three scores."
    ]
    if len(decidable) > LISTED:
        notes.append(f"The first {LISTED} of {len(decidable)}.")
    return Section("What would decide the rest", [table_of(columns, rows)] if rows else [], notes=notes)


def _erratum(erratum: Erratum) -> tuple[str, str]:
    return erratum.where, f"Printed: {erratum.printed}. Right: {erratum.ours}. {erratum.evidence}"


def _listing(title: str, columns: list[str], parts: Iterable[tuple[str, str]]) -> Section:
    rows = [[Cell(text) for text in part] for part in parts]
    return Section(title, [Table(columns, rows, wrap=1)] if rows else [])
