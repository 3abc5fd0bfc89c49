"""Remarks: datasets left out, trials that failed, have not run or raised warnings."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping

from mfbench.analysis.results import Run
from mfbench.data.sources import PULL_COMMAND
from mfbench.sections import Section

LONGEST_MESSAGE = 200


def remarks(run: Run) -> Section:
    """Return the section on what is missing from the run and what went wrong."""
    return Section(
        "Remarks",
        notes=[
            *([] if len(run.outcomes) else ["No trials: there was nothing to measure."]),
            *left_out(run.left_out, run.unavailable, run.meta["command"][2]),
            *_undefined(run),
            *_pending(run),
            *_failures(run),
            *_warnings(run),
        ],
        data={
            "left_out": lambda: run.left_out,
            "unavailable": lambda: run.unavailable,
            "failures": lambda: run.failures,
            "not_run": lambda: run.n_pending,
        },
    )


def left_out(reasons: Mapping[str, str], unavailable: Collection[str], suite: str) -> list[str]:
    """Return why datasets were left out; unavailable ones share a sentence with the command that downloads them.

    Parameters
    ----------
    reasons : mapping of str to str
        Reason by dataset.
    unavailable : collection of str
        Datasets that could not be obtained.
    suite : str
        Name or file of the suite, as given on the command line.

    Returns
    -------
    list of str

    Examples
    --------
    >>> left_out({"a": "no network; bring it with: mfbench datasets pull a", "b": "damaged"}, ["a"], "uci")[0]
    'Left out: b: damaged'
    """
    lines = [f"Left out: {dataset}: {reason}" for dataset, reason in reasons.items() if dataset not in unavailable]
    absent = {dataset: reason for dataset, reason in reasons.items() if dataset in unavailable}
    pulled = [dataset for dataset, reason in absent.items() if PULL_COMMAND in reason]
    others = [dataset for dataset in absent if dataset not in pulled]
    if pulled:
        command = shlex.join([*PULL_COMMAND.split(), suite])
        lines.append(
            f"Left out, unavailable: {', '.join(pulled)}; to download them, run: {command}, or name a mirror with "
            "--data-dir"
        )
        tried = next((reason for reason in absent.values() if "cannot fetch" in reason), "")
        lines += [f"The network did not help: {tried}"] if tried else []
    if others:
        lines.append(
            f"Left out, unavailable: {', '.join(others)}; no repository is known to have them: name a mirror that does "
            "with --data-dir, or import them with: mfbench datasets import"
        )
    return lines


def _undefined(run: Run) -> list[str]:
    incomplete = run.scores[run.scores["completed"].eq(run.scores["planned"]) & ~run.scores["complete"].astype(bool)]
    return [
        f"Undefined: {run.settings.metric} of {method} on {len(cells)} datasets; the classifier does not provide what "
        "the metric needs, or a test part lacks a class."
        for method, cells in incomplete.groupby("method", sort=False)
    ]


def _pending(run: Run) -> list[str]:
    if not run.n_pending:
        return []
    return [
        f"Not run yet: {run.n_pending} of {len(run.outcomes)} trials. All figures are computed from the trials that "
        "have run."
    ]


def _failures(run: Run) -> list[str]:
    lines = []
    for _, group in run.failures.groupby(["dataset", "method", "status"], sort=False):
        first = group.to_dict("records")[0]
        lines.append(
            f"Failed: {first['method']} on {first['dataset']}: {len(group)} × {first['status']}: "
            f"{first['error_type']}: {_one_line(first['error_message'])}"
        )
    return lines


def _warnings(run: Run) -> list[str]:
    if "n_warnings" not in run.outcomes:
        return []
    warned = run.outcomes[run.outcomes["n_warnings"].fillna(0) > 0]
    return [
        f"Warnings: {method}: in {len(group)} trial{'' if len(group) == 1 else 's'}, for example "
        f"{_one_line(str(group['warning'].iloc[0]))}"
        for method, group in warned.groupby("method", sort=False)
    ]


def _one_line(text: object) -> str:
    # A missing entry in a column of strings is None or, in pandas, NaN.
    words = " ".join(text.split()) if isinstance(text, str) and text.strip() else "no message"
    return words if len(words) <= LONGEST_MESSAGE else words[: LONGEST_MESSAGE - 1] + "…"
