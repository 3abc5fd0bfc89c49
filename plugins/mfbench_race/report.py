"""What a report shows of a race: the methods dropped, after which look, and the trials and time saved."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from mfbench import Run, Section
from mfbench.base.text import counted, listing
from mfbench.errors import RunError, explained
from mfbench.report.cells import p_text, size_text, table_of, time_cell
from mfbench_race.rule import ALPHA, PLAN, TRUTH
from mfbench_race.stages import RECORD

_GOALS = {
    PLAN: "the method that the complete plan would put first",
    TRUTH: "the method that is best on tables like these",
}


def sections_of(run: Run) -> list[Section]:
    """Return the section on the race of a run."""
    path = run.path / RECORD
    with explained(RunError, lambda reason: f"{path} cannot be read: {reason}", OSError, ValueError):
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    dropped, percent = record["dropped"], run.meta.scores[run.metrics[0]].percent
    rows = [
        [
            entry["name"],
            counted(entry["look"], "fold"),
            entry["leader_name"],
            f"−{size_text(entry['gap'], percent)}",
            p_text(entry["p_value"]),
            f"{entry['trials_saved']:,} of {entry['trials'] + entry['trials_saved']:,}",
            time_cell(entry["seconds_saved"]),
        ]
        for entry in dropped
    ]
    heads = ["method", "dropped after", "behind", "gap", "p", "trials saved", "time saved"]
    tables = [table_of(heads, rows)] if rows else []
    return [Section("Race", tables, notes=_notes(run, record), data={"race": lambda: record}, leads=True)]


def _notes(run: Run, record: dict[str, Any]) -> list[str]:
    dropped, looks = record["dropped"], [str(look) for look in record["looks"]]
    ran, saved = (sum(entry[name] for entry in dropped) for name in ("trials", "trials_saved"))
    spent, spared = (sum(entry[name] for entry in dropped) for name in ("seconds", "seconds_saved"))
    spent += float(np.nansum(run.outcomes["duration"].astype(float)))
    notes = [
        f"The race keeps {_GOALS[record['target']]}: the probability of losing it is below {100 * ALPHA:g} %. Methods "
        f"may be dropped after {listing(looks)} folds of each dataset.",
        f"Dropped: {len(dropped)} of {counted(record['methods'], 'method')}. That saved "
        f"{_share(saved, record['trials'])} of {record['trials']:,} trials and about "
        f"{_share(spared, spent + spared)} of their time.",
        "Comparisons, ranks and tests are of the other methods: one that was dropped has too few folds for any.",
    ]
    reference = run.meta.report.reference
    names = {entry["method"]: entry["name"] for entry in dropped}
    if reference in names:
        other = run.meta.display_names[str(run.settings.reference)]
        notes.append(f"The reference, {names[reference]}, was dropped: comparisons are with {other} instead.")
    if len(run.outcomes) + ran + saved < record["trials"]:
        notes.append("The race has not ended; give the command again to continue it.")
    return notes


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "0 %"
