"""The HTML page of a run: its full report, plus verdicts per group of datasets."""

from collections.abc import Sequence
from dataclasses import replace

from mfbench.base.text import plain
from mfbench.errors import MfbenchError
from mfbench.host.expressions import parse
from mfbench.host.registry import Registry
from mfbench.report.brief import problems
from mfbench.report.contents import answer_of, report_of
from mfbench.report.heading import Form, regeneration_commands
from mfbench.report.leaderboard import leaderboards_of, question_of, size_of, state_of
from mfbench.report.render.html.page import Opening, to_html
from mfbench.report.render.html.tables import Group, score_data
from mfbench.report.sections.scores import by_mean, score_table
from mfbench.stats.results import Run

FILE = "report.html"
LEAST_DATASETS = 2


def page_of(run: Run, registry: Registry | None = None, command: str = "") -> str:
    """Return the HTML page of a run."""
    report = report_of(run, registry, statistics=True)
    report = replace(report, problems=problems(run))
    command = command or " && ".join(regeneration_commands(run, Form("open")))
    own = (section for section in report.sections if not section.plugin and "wins_ties_losses" in section.data)
    table = next((table for section in own for table in section.tables), None)
    if table is None:
        return to_html(report, command)
    boards = leaderboards_of(run) if report.answer else []
    opening = Opening(plain(question_of(run)), size_of(run), plain(state_of(run)), boards) if boards else None
    return to_html(report, command, score_data(run, table, groups_of(run, registry)), opening)


def groups_of(run: Run, registry: Registry | None = None) -> list[Group]:
    """Return groups of datasets with their verdicts: all datasets, each collection, and those available offline."""
    everything = list(dict.fromkeys(run.outcomes["dataset"]))
    parts = {f"the collection {name}": datasets for name, datasets in run.collections.items()}
    if registry is not None:
        parts["the embedded datasets"] = [dataset for dataset in everything if _is_embedded(dataset, registry)]
    methods = by_mean(run)
    groups = [_group(f"all {len(everything)} datasets", run, methods)]
    for title, datasets in parts.items():
        own = [dataset for dataset in everything if dataset in datasets]
        if LEAST_DATASETS <= len(own) < len(everything):
            groups.append(_group(f"{title} ({len(own)})", run.restricted(own), methods))
    return groups


def _group(title: str, run: Run, methods: Sequence[str]) -> Group:
    table = score_table(run, methods)
    rows = table.rows[len(table.rows) - table.footer_rows :]
    return Group(title, [[cell.text for cell in row] for row in rows], answer_of(run))


def _is_embedded(label: str, registry: Registry) -> bool:
    registered = registry.listed("dataset").get(_name(label))
    return registered is not None and bool(getattr(registered.spec, "embedded", False))


def _name(expression: str) -> str:
    try:
        return parse(expression).name
    except MfbenchError:
        return expression
