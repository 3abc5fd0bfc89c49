"""What a run has not reached: sentences on trials, folds and cells, and the command that goes on."""

from __future__ import annotations

import pandas as pd

from mfbench.base.wording import counted
from mfbench.report.answer import listed
from mfbench.run.forecast.budget import duration_text
from mfbench.stats.results import Run


def not_run_yet(run: Run) -> list[str]:
    """Return the number of trials that have not run and, if a budget ended the run, the cells without any result."""
    if not run.n_pending:
        return []
    count = f"Not run yet: {run.n_pending} of {counted(len(run.outcomes), 'trial')}"
    budget = run.meta.ended_budget
    if not budget:
        return [f"{count}."]
    ended = f"{count}, because the budget of {duration_text(budget)} ended."
    command = run.meta.resume_command
    if "--budget" not in command:  # it was not typed
        command += f" --budget {duration_text(budget)}"
    return [f"{ended} To go on, run: {command}", *_not_reached(run.outcomes, run.coverage)]


def _not_reached(outcomes: pd.DataFrame, coverage: pd.DataFrame) -> list[str]:
    methods = outcomes.groupby("dataset", sort=False)["method"].nunique()
    whole, parts = [], []
    for row in coverage.to_dict("records"):
        if len(row["not_reached"]) == methods[row["dataset"]]:
            whole.append(str(row["dataset"]))
        elif row["not_reached"]:
            parts.append(f"{listed(row['not_reached'])} on {row['dataset']}")
    parts += [f"every method on {listed(whole)}"] if whole else []
    return [f"Not reached: {'; '.join(parts)}."] if parts else []


def compared_folds(coverage: pd.DataFrame, trial_name: str) -> list[str]:
    """Return on how many folds the methods are compared, where that is not all of them; at most one sentence."""
    compared = coverage[coverage["compared"] > 0].to_dict("records")
    if not compared:
        return []
    parts = [f"{row['dataset']} ({row['compared']} of {row['planned']})" for row in compared]
    return [f"Compared on the {trial_name}s that all methods have, for scores, tests and times: {listed(parts)}."]
