"""The table of contents: the sections of each kind of run, in order.

Each section decides for itself whether it applies to the run, and is empty if not. The terminal and all exports render
the same list.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, NoReturn

from rich.cells import cell_len

from mfbench.host.expressions import Plugin
from mfbench.host.registry import HOST, Registry, load_registry
from mfbench.model.sections import Chart, Report, Section, Table
from mfbench.report.answer import answer_across
from mfbench.report.cells import MARK
from mfbench.report.heading import data_of, environment_of, setting_of
from mfbench.report.render.files import plain_value
from mfbench.report.sections import across_datasets, curves, features, published, remarks, scores, timing
from mfbench.stats.results import Run

Kind = Literal["comparison", "rounds", "calibration", "own", "empty"]


class ListedSection(NamedTuple):
    """An entry in the table of contents: a section function, its kinds of run, and whether --statistics enables it."""

    build: Callable[[Run], Section]
    kinds: tuple[Kind, ...]
    on_request: bool = False


def across_datasets_of(run: Run) -> Section:
    """Return the section of tests across datasets."""
    return across_datasets.section_across(
        run.overall(), run.settings.metric, run.settings.score, run.meta.display_names
    )


def ranks_of(run: Run) -> Section:
    """Return the section of tests of ranks."""
    return across_datasets.section_of_ranks(run.overall(), run.settings.score)


CONTENTS = (
    ListedSection(across_datasets.calibration, ("calibration",)),
    ListedSection(scores.scores, ("comparison", "rounds")),
    ListedSection(scores.other_scores, ("comparison",)),
    ListedSection(scores.methods, ("comparison", "rounds", "calibration")),
    ListedSection(curves.curves, ("comparison",)),
    ListedSection(across_datasets_of, ("comparison", "rounds")),
    ListedSection(ranks_of, ("comparison", "rounds"), on_request=True),
    ListedSection(lambda run: timing.time_ratios(run.time_ratios), ("comparison", "rounds"), on_request=True),
    ListedSection(curves.curve_details, ("comparison",), on_request=True),
    ListedSection(features.features, ("comparison",), on_request=True),
    ListedSection(published.published, ("comparison", "rounds")),
    ListedSection(features.interactions, ("comparison", "rounds")),
    ListedSection(features.pair_weights, ("comparison",), on_request=True),
)
"""All sections, in report order; plugin sections and the remarks follow."""


def kind_of(run: Run) -> Kind:
    """Return the kind of a run, which determines the sections of its report."""
    if not len(run.outcomes):
        return "empty"
    if run.equal_pairs:
        return "calibration"
    if run.protocol.times or not run.protocol.compares:
        return "own"
    return "rounds" if run.detects else "comparison"


def answer_of(run: Run) -> list[str]:
    """Return the conclusion of a run in one or two sentences; empty for a shard, and if no scores are compared."""
    if run.meta.shard is not None or kind_of(run) not in ("comparison", "rounds"):
        return []
    answer = answer_across(run.overall(), run.settings.score, run.meta.display_names)
    done = int(run.outcomes["status"].notna().sum())
    if done < len(run.outcomes):
        first = answer[0][0].lower() + answer[0][1:] if answer[0].startswith(("On ", "No ")) else answer[0]
        answer[0] = f"So far, with {done:,} of {len(run.outcomes):,} trials: {first}"
    return answer


def report_of(
    run: Run, registry: Registry | None = None, *, statistics: bool = False, everything: bool = False
) -> Report:
    """Return the report of a run."""
    kind = kind_of(run)
    entries: Sequence[ListedSection] = CONTENTS
    if not everything:
        entries = [entry for entry in entries if kind in entry.kinds and (statistics or not entry.on_request)]
    added = plugin_sections(run, registry)
    sections = [
        *(section for section in added if section.leads),
        *(entry.build(run) for entry in entries),
        *(section for section in added if not section.leads),
        remarks.remarks(run),
    ]
    answer = answer_of(run)
    data = {**data_of(run), "answer": answer}
    return Report(run.meta.title, setting_of(run), sections, data, environment_of(run), answer)


def plugin_sections(run: Run, registry: Registry | None) -> list[Section]:
    """Return the plugin sections, followed by a section that lists the plugins whose sections failed."""
    returned, problems = (registry or load_registry(only=())).report_sections(
        lambda plugin: (
            run if plugin.distribution == HOST else type(run)(run.path, reference=run.reference, metric=run.metric)
        )
    )
    sections = [
        section
        if plugin.distribution == HOST
        else dataclasses.replace(
            section,
            plugin=plugin.name,
            charts=[_guarded_chart(chart, plugin) for chart in section.charts],
            data={key: _guarded(partial(_json_value, value), "data", plugin) for key, value in section.data.items()},
            rows=None,
        )
        for plugin, section in returned
    ]
    return [*sections, Section("Plugins", notes=problems, data={"plugin_problems": lambda: problems})]


def _guarded_chart(chart: Chart, plugin: Plugin) -> Chart:
    """Return a chart whose text says so if drawing it fails; its picture then is an error, as the renderers expect."""
    made = {"text": lambda reason: [reason], "spec": _refuse, "alt": _refuse}
    guarded: dict[str, Any] = {
        name: _guarded(getattr(chart, name), f"chart {chart.name!r}", plugin, instead)
        for name, instead in made.items()
        if getattr(chart, name)
    }
    return dataclasses.replace(chart, **guarded)


def _guarded(
    function: Callable[..., Any], what: str, plugin: Plugin, instead: Callable[[str], Any] = str
) -> Callable[..., Any]:
    """Return a plugin's function, which passes a sentence to `instead` if it fails."""

    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:  # noqa: BLE001 - the report must survive any plugin error
            return instead(f"plugin {plugin.name!r} of {plugin}: {what} failed with {type(error).__name__}: {error}")

    return guarded


def _refuse(reason: str) -> NoReturn:
    raise ValueError(reason)


def _json_value(value: Callable[[], Any]) -> Any:
    content = plain_value(value())
    json.dumps(content)
    return content


MARKED_ROLES = ("not-worse", "above", "below", "equivalent", "marked", "best-marked")
"""Cell roles whose text ends with a mark."""
GAP = 3
"""Spaces between two columns on a terminal."""


def needed_width(table: Table) -> int:
    """Return the width of a table on a terminal, in characters."""
    return sum(GAP + column_width(table, index) for index in range(len(table.columns))) - 1


def column_width(table: Table, index: int) -> int:
    """Return the width of a column on a terminal, in characters, including space for marks."""
    room = 1 + len(MARK) if index and has_marks(table) else 0
    heading = max(map(cell_len, table.columns[index].split("\n")))
    widths = (cell_len(row[index].text) + (0 if row[index].role in MARKED_ROLES else room) for row in table.rows)
    return max([heading, *widths])


def has_marks(table: Table) -> bool:
    """Return whether a cell's text ends with a mark."""
    return any(cell.role in MARKED_ROLES for row in table.rows for cell in row)
