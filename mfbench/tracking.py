"""The Python functions behind ``mfbench track``: add a run to a history, merge two histories, show the trends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from mfbench.analysis.results import Run
from mfbench.compare.history.calibration import calibrate, this_machine
from mfbench.compare.history.commits import Commit, project_commit
from mfbench.compare.history.entries import Entry, Machine
from mfbench.compare.history.record import entry_of
from mfbench.compare.history.series import TIME, select_series
from mfbench.compare.history.storage import Addition, add_entries, read_entries
from mfbench.compare.history.trends import Trend, trend_of
from mfbench.errors import UsageError
from mfbench.report.history import history_report, show_history
from mfbench.report.render.json import HISTORY, to_json
from mfbench.wording import counted


@dataclass(frozen=True)
class Tracked:
    """What `track_run` did.

    Attributes
    ----------
    entry : Entry
    addition : Addition
    left_out : list of str
        A sentence about each cell that was not added.
    """

    entry: Entry
    addition: Addition
    left_out: list[str]

    @property
    def sentences(self) -> list[str]:
        """What to report: what was added, and what was not."""
        new, commit = self.addition.n_measurements, self.entry.commit[:7]
        if new:
            lines = [f"added {counted(new, 'measurement')} of commit {commit} on {self.entry.machine}"]
        else:
            lines = ["nothing to add: the history already has every measurement of this run"]
        elsewhere = [other[:7] for other in self.addition.commits if other != self.entry.commit]
        if elsewhere:
            lines.append(
                f"results that were measured at {', '.join(elsewhere)} and are reused were not added again; "
                "'mfbench suite --fresh' measures them at this commit"
            )
        if self.entry.calibration is None:
            lines.append(
                f"the calibration kernels were not measured: the run is from {self.entry.machine}, "
                f"and this machine is {this_machine()}"
            )
        if self.left_out:
            lines.append(f"left out: {'; '.join(self.left_out)}")
        return lines


def track_run(run: Run, history: Path | str, *, commit: str | None = None, folder: Path | None = None) -> Tracked:
    """Add a run to a history; adding it again changes nothing.

    Parameters
    ----------
    run : Run
    history : Path or str
        The file; created if it does not exist.
    commit : str or None, default=None
        Hash of the measured commit; None reads it from the Git repository.
    folder : Path or None, default=None
        A folder of that repository; None means the working directory.

    Returns
    -------
    Tracked

    Raises
    ------
    UsageError
        If there is no commit, or the run has no complete cell or is that of a bundle.
    HistoryError
        If the file is not a history or cannot be written to.
    """
    if run.bundle is not None:
        raise UsageError(
            f"{run.bundle} is a bundle: its times are a claim, and it does not name the commit that was measured; add "
            "the folder of the run itself"
        )
    measured = project_commit(folder or Path.cwd(), commit, run.meta.environment.git_commit)
    calibration = calibrate() if Machine.of(run.meta.environment) == this_machine() else None
    added = datetime.now(UTC).isoformat(timespec="seconds")
    entry, left_out = entry_of(run, Commit(measured.name, measured.time), calibration, added)
    return Tracked(entry, add_entries(Path(history), [entry]), left_out)


def merge_histories(other: Path | str, history: Path | str) -> Addition:
    """Add everything of another history to a history; doing it again changes nothing.

    Parameters
    ----------
    other : Path or str
        The history to read.
    history : Path or str
        The history to write to; created if it does not exist.

    Raises
    ------
    UsageError, HistoryError
        If a file is missing, is not a history, or cannot be written to.
    """
    return add_entries(Path(history), read_entries(Path(other)))


def trends_of(history: Path | str, *, measure: str = TIME, method: str = "*", dataset: str = "*") -> list[Trend]:
    """Return the trends of a history with their changes, one for each series on one kind of machine.

    Parameters
    ----------
    history : Path or str
    measure : str, default="time"
        "time", "fit", "predict", "wall", "memory", or a metric.
    method, dataset : str, default="*"
        Shell patterns.

    Raises
    ------
    UsageError
        If there is no such file or measure, or nothing matches.
    MfbenchError
        If the file cannot be read.
    """
    entries = read_entries(Path(history))
    if not entries:
        raise UsageError(f"{history} has no run yet; 'mfbench track add RUN --history {history}' adds one")
    return [trend_of(series) for series in select_series(entries, measure, method, dataset)]


def present_history(
    history: Path | str,
    console: Console,
    *,
    measure: str = TIME,
    method: str = "*",
    dataset: str = "*",
    as_json: bool = False,
) -> str:
    """Return the trends of a history as JSON; without `as_json` they are printed, and the text is empty.

    Parameters
    ----------
    history, measure, method, dataset
        As in `trends_of`.
    console : rich.console.Console
    as_json : bool, default=False

    Raises
    ------
    MfbenchError
        As in `trends_of`.
    """
    trends = trends_of(history, measure=measure, method=method, dataset=dataset)
    report = history_report(str(history), measure, trends)
    if as_json:
        return to_json(report, HISTORY)
    show_history(report, trends, console)
    return ""
