"""The contents of a report: the sections of each kind of run, in order.

A section is built of what it prints, and is empty if it does not apply to the run. The terminal and all exports render
the same list.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from mfbench.host.registered import Plugin
from mfbench.host.registry import Registry
from mfbench.model.sections import Chart, Report, Section
from mfbench.report.heading import data_of, environment_of, setting_of
from mfbench.report.render.json import plain
from mfbench.report.sections.across_datasets import section_across, section_of_pairs
from mfbench.report.sections.calibration import calibration
from mfbench.report.sections.curves import curve_details, curves
from mfbench.report.sections.detection import detection
from mfbench.report.sections.features import features
from mfbench.report.sections.interactions import interactions, pair_weights
from mfbench.report.sections.methods import methods
from mfbench.report.sections.other_scores import other_scores
from mfbench.report.sections.published import published
from mfbench.report.sections.remarks import remarks
from mfbench.report.sections.scores import scores
from mfbench.report.sections.time_ratios import time_ratios
from mfbench.report.sections.timing import timing
from mfbench.stats.results import Run
from mfbench.suite.forms import KINDS
from mfbench.suite.scores import SCORES

Kind = Literal["comparison", "detection", "calibration", "timing", "empty"]


class Entry(NamedTuple):
    """A section in the list of contents: its function, the kinds of run it is for, whether --statistics asks for it."""

    build: Callable[[Run], Section]
    kinds: tuple[Kind, ...]
    on_request: bool = False


def across_datasets_of(run: Run) -> Section:
    """Return the section on tests across datasets."""
    return section_across(run.overall(), SCORES[run.settings.metric].percent)


def pairs_of(run: Run) -> Section:
    """Return the section on all pairs of methods."""
    return section_of_pairs(run.overall(), SCORES[run.settings.metric].percent)


CONTENTS = (
    Entry(calibration, ("calibration",)),
    Entry(timing, ("timing",)),
    Entry(detection, ("detection",)),
    Entry(scores, ("comparison", "detection")),
    Entry(other_scores, ("comparison",)),
    Entry(methods, ("comparison", "detection", "calibration")),
    Entry(curves, ("comparison",)),
    Entry(across_datasets_of, ("comparison", "detection")),
    Entry(pairs_of, ("comparison", "detection"), on_request=True),
    Entry(lambda run: time_ratios(run.time_ratios), ("comparison", "detection"), on_request=True),
    Entry(curve_details, ("comparison",), on_request=True),
    Entry(features, ("comparison",), on_request=True),
    Entry(published, ("comparison", "detection")),
    Entry(interactions, ("comparison", "detection")),
    Entry(pair_weights, ("comparison",), on_request=True),
)
"""Every section, in the order of the report. The sections of plugins and the remarks follow."""


def kind_of(run: Run) -> Kind:
    """Return the kind of a run, which determines the sections of its report."""
    if not len(run.outcomes):
        return "empty"
    if run.equal_pairs:
        return "calibration"
    if KINDS[run.protocol.kind].times:
        return "timing"
    return "detection" if run.detects else "comparison"


def report_of(
    run: Run, registry: Registry | None = None, *, statistics: bool = False, everything: bool = False
) -> Report:
    """Return the report of a run."""
    kind = kind_of(run)
    entries: Sequence[Entry] = CONTENTS
    if not everything:
        entries = [entry for entry in entries if kind in entry.kinds and (statistics or not entry.on_request)]
    sections = [
        *(entry.build(run) for entry in entries),
        *(plugin_sections(run, registry) if registry is not None else []),
        remarks(run),
    ]
    return Report(run.meta.title, setting_of(run), sections, data_of(run), environment_of(run))


def plugin_sections(run: Run, registry: Registry) -> list[Section]:
    """Return the sections that plugins add; one more has a note for each plugin whose sections failed."""
    returned, problems = registry.report_sections(
        lambda: Run(run.path, reference=run.reference, metric=run.metric, presentation=run.presentation)
    )
    sections = [
        dataclasses.replace(
            section,
            plugin=plugin.name,
            charts=[_guarded_chart(chart, plugin) for chart in section.charts],
            data={key: _guarded(value, plugin) for key, value in section.data.items()},
            rows=None,
        )
        for plugin, section in returned
    ]
    return [*sections, Section("Plugins", notes=problems, data={"plugin_problems": lambda: problems})]


def _guarded_chart(chart: Chart, plugin: Plugin) -> Chart:
    """Return a chart that replaces itself by a sentence if drawing it as text fails."""
    # If its specification or its words fail, that is a ValueError, which those who draw pictures expect.

    def failure(error: Exception) -> str:
        return _failure(f"chart {chart.name!r}", plugin, error)

    def text(width: int) -> Sequence[str]:
        assert chart.text is not None
        try:
            return [str(line) for line in chart.text(width)]
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises, the report must go on
            return [failure(error)]

    def checked(make: Callable[[], Any]) -> Any:
        try:
            made = make()
            return made.to_dict() if hasattr(made, "to_dict") else made
        except Exception as error:
            raise ValueError(failure(error)) from error

    spec, alt = chart.spec, chart.alt
    return dataclasses.replace(
        chart, text=chart.text and text, spec=spec and (lambda: checked(spec)), alt=alt and (lambda: str(checked(alt)))
    )


def _guarded(value: Callable[[], Any], plugin: Plugin) -> Callable[[], Any]:
    """Return a function whose value is a sentence if the plugin's fails, or returns what JSON cannot hold."""

    def guarded() -> Any:
        try:
            content = plain(value())
            json.dumps(content)
            return content
        except Exception as error:  # noqa: BLE001 - as above
            return _failure("data", plugin, error)

    return guarded


def _failure(what: str, plugin: Plugin, error: Exception) -> str:
    return f"plugin {plugin.name!r} of {plugin}: {what} failed with {type(error).__name__}: {error}"
