"""The functions behind the commands: compare stored results, measure two versions, keep a history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mfbench.api import load_run, write_report
from mfbench.api.request import DEFAULT_OUT, find_run
from mfbench.base.text import counted, plain_text
from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Lookup
from mfbench.errors import UsageError
from mfbench.host.registry import load_registry
from mfbench.run.forecast.order import parse_duration
from mfbench.run.store.file import FILE_NAME
from mfbench.stats.results import Run
from mfbench.suite.additions import additions_of, with_additions
from mfbench.suite.loading import load_suite
from mfbench_gate.comparison import Comparison, StoredResult, WorseLimits, parse_limits
from mfbench_gate.formats import to_bencher, to_github_action_benchmark, to_junit, to_markdown, to_pytest_benchmark
from mfbench_gate.gate.environments import prepare_side
from mfbench_gate.gate.gate import run_gate
from mfbench_gate.gate.measure import plan_gate
from mfbench_gate.history.record import Commit, entry_of, project_commit
from mfbench_gate.history.storage import Addition, Machine, add_entries, read_entries
from mfbench_gate.history.trends import TIME, Trend, calibrate, select_series, this_machine, trend_of
from mfbench_gate.readers import read_benchmark_file, read_run
from mfbench_gate.stored import compare_stored

_WRITERS: dict[str, Callable[[Comparison], str]] = {
    "markdown": to_markdown,
    "junit": to_junit,
    "pytest_benchmark": to_pytest_benchmark,
    "github_action_benchmark": to_github_action_benchmark,
    "bencher": to_bencher,
}


def compare_results(
    base: Run | Path | str,
    head: Run | Path | str,
    *,
    limits: WorseLimits | Sequence[str] = (),
    level: float = 0.05,
    only: Sequence[str] = (),
    undecided_ok: bool = False,
    out: Path | str = DEFAULT_OUT,
) -> Comparison:
    """Compare two stored results: runs, timing runs, or pytest-benchmark files.

    Scores on the same folds are judged. Times and memory were not measured in one job, so they are only shown as a
    trend.

    Parameters
    ----------
    base, head : Run, Path or str
        A run, a run folder, a folder of runs, a suite name, a bundle, or a pytest-benchmark JSON file.
    limits : Limits or sequence of str, default=()
        Accepted score losses, for example ``["accuracy=0.02"]``; 0.01 for all other metrics.
    level : float, default=0.05
        Probability of any false alarm.
    only : sequence of str, default=()
        Shell patterns for datasets, methods or benchmark names.
    undecided_ok : bool, default=False
        Whether undecided cells count as no worse in `Comparison.exit_code`.
    out : Path or str, default="reports"
        Folder of all runs, for looking up suite names.

    Returns
    -------
    Comparison
        With the lists ``cells``, ``changes``, ``omissions`` and ``notes``, and an ``exit_code``.

    Raises
    ------
    UsageError
        If an option is not valid, or the results are not comparable.
    RunError
        If a run cannot be read.

    Examples
    --------
    >>> import json, mfbench, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [Path(folder, name) for name in ("a.json", "b.json")]
    ...     for file, seconds in zip(files, (0.50, 0.55)):
    ...         benchmark = {"fullname": "test_fit", "stats": {"median": seconds}}
    ...         _ = file.write_text(json.dumps({"version": "5.1.0", "benchmarks": [benchmark]}))
    ...     comparison = mfbench.compare_results(*files)
    >>> [(cell.method, round(cell.ratio, 2), str(cell.verdict)) for cell in comparison.cells]
    [('test_fit', 1.1, 'trend')]
    """
    if not 0.0 < level < 0.5:
        raise UsageError(f"the level {level:g} is not between 0 and 0.5: it is the probability of a false alarm")
    accepted = limits if isinstance(limits, WorseLimits) else parse_limits(limits)
    before, after = read_result(base, out), read_result(head, out)
    return compare_stored(before, after, accepted, level=level, only=only, undecided_ok=undecided_ok)


def read_result(result: Run | Path | str, out: Path | str = DEFAULT_OUT) -> StoredResult:
    """Read one side of a comparison.

    Parameters
    ----------
    result, out
        As in `compare_results`.

    Raises
    ------
    UsageError, RunError
        As in `compare_results`.
    """
    if isinstance(result, Run):
        return read_run(result, plain_text(result.path))
    path = Path(result)
    if path.is_file() and path.suffix.lower() != ".zip":
        return read_run(load_run(path.parent), str(path)) if path.name == FILE_NAME else read_benchmark_file(path)
    return read_run(find_run(str(result), out), str(result))


def write_formats(comparison: Comparison, files: Mapping[str, Path | None]) -> None:
    """Write a comparison in the formats of other tools.

    Parameters
    ----------
    comparison : Comparison
    files : mapping of str to (Path or None)
        Output files by format: "markdown", "junit", "pytest_benchmark", "github_action_benchmark" and "bencher".

    Raises
    ------
    MfbenchError
        If a file cannot be written.
    """
    for name, path in files.items():
        if path is not None:
            write_report(path, _WRITERS[name](comparison))


BUDGET = "10m"
PROFILE = "gate"
CLOCKS = ("cpu", "wall")


def gate(
    base: str,
    head: str,
    suite: str,
    *,
    profile: str | None = None,
    part: str | None = None,
    only: Sequence[str] = (),
    add: Any = (),
    limits: Iterable[str] = (),
    level: float = 0.05,
    budget: str = BUDGET,
    clock: str = "cpu",
    data_dir: Path | str | None = None,
    offline: bool = False,
    undecided_ok: bool = False,
    folder: Path | str = ".",
    say: Callable[[str], None] = lambda sentence: None,
) -> Comparison:
    """Measure two versions of a package in one job, and judge whether the head is worse.

    Parameters
    ----------
    base, head : str
        Python interpreters, or revisions as ``"git:REVISION"``; ``"git:merge-base"`` is the merge base of HEAD and the
        main branch.
    suite : str
        The name of an installed suite, or the path of a TOML file; determines the methods and data to measure.
    profile : str or None, default=None
        The suite's profile; None uses ``"gate"`` if the suite defines it, and the suite's default otherwise.
    part : str or None, default=None
        The part of the suite to measure, as named in ``[parts.NAME]``; None means the whole suite.
    only : sequence of str, default=()
        Shell patterns; only datasets and methods with matching names are measured.
    add : mapping, or sequence of str and (label, method), default=()
        Methods to add to the suite, as in `run_suite`; their classes must be importable here and on both sides.
    limits : iterable of str, default=()
        What counts as worse, for example ``"time=1.05,memory=1.10"`` and ``"accuracy=0.01"``.
    level : float, default=0.05
        Probability of any false alarm.
    budget : str, default="10m"
        Time for all measurements: a number with s, m or h, or "1h30m".
    clock : {"cpu", "wall"}, default="cpu"
        The time to judge.
    data_dir : Path, str or None, default=None
        A mirror of datasets; None uses the environment variable ``MFBENCH_DATA_DIR``.
    offline : bool, default=False
        Do not use the network for data.
    undecided_ok : bool, default=False
        Whether undecided cells count as no worse in `Comparison.exit_code`.
    folder : Path or str, default="."
        Folder inside the repository that contains the revisions.
    say : callable, optional
        Called with progress messages.

    Returns
    -------
    Comparison

    Raises
    ------
    UsageError
        If an argument is not valid.
    MfbenchError
        If an environment cannot be created, or none of its processes starts.

    Notes
    -----
    The verdicts are described in ``docs/gate.md``.
    """
    if not 0.0 < level < 1.0:
        raise UsageError(f"the level {level:g} is not between 0 and 1: 0.05 accepts one false alarm in twenty jobs")
    if clock not in CLOCKS:
        raise UsageError(f"{clock!r} is not a clock: choose from {', '.join(CLOCKS)}")
    accepted, seconds = parse_limits(limits), parse_duration(budget)
    registry = load_registry(isolated=True)
    loaded = load_suite(suite, registry, profile, part=part, preferred=PROFILE)
    loaded = with_additions(loaded, registry, additions_of(add, registry))
    plan = plan_gate(loaded, registry, only, Lookup(DataOptions.of(data_dir, offline)))
    say(f"preparing {base}")
    first = prepare_side(base, Path(folder))
    say(f"preparing {head}")
    second = prepare_side(head, Path(folder))
    return run_gate(
        plan, first, second, say, limits=accepted, level=level, budget=seconds, clock=clock, undecided_ok=undecided_ok
    )


def track_run(run: Run, history: Path | str, *, commit: str | None = None, folder: Path | None = None) -> list[str]:
    """Add a run to a history; adding it again changes nothing.

    Parameters
    ----------
    run : Run
    history : Path or str
        The history file; created if it does not exist.
    commit : str or None, default=None
        Hash of the measured commit; None reads it from the Git repository.
    folder : Path or None, default=None
        A folder of that repository; None means the working directory.

    Returns
    -------
    list of str
        Sentences on what was and was not added.

    Raises
    ------
    UsageError
        If there is no commit, or the run has no complete cell or was read from a bundle.
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
    addition = add_entries(Path(history), [entry])
    if addition.n_measurements:
        n_new = counted(addition.n_measurements, "measurement")
        sentences = [f"added {n_new} of commit {entry.commit[:7]} on {entry.machine}"]
    else:
        sentences = ["nothing to add: the history already has every measurement of this run"]
    if elsewhere := [other[:7] for other in addition.commits if other != entry.commit]:
        sentences.append(
            f"results that were measured at {', '.join(elsewhere)} and are reused were not added again; "
            "'mfbench suite --fresh' measures them at this commit"
        )
    if calibration is None:
        sentences.append(
            f"the calibration kernels were not measured: the run is from {entry.machine}, "
            f"and this machine is {this_machine()}"
        )
    return sentences + [f"left out: {'; '.join(left_out)}"] * bool(left_out)


def merge_histories(other: Path | str, history: Path | str) -> Addition:
    """Add everything in another history to a history; repeating it changes nothing.

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
