"""The Python API of mfbench: everything the command line does, with objects as results."""

from __future__ import annotations

import inspect
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.api.request import Request, earlier_results, estimate_suite, load_run, prepare_suite, run_options
from mfbench.base.text import counted
from mfbench.data.cache import DataOptions
from mfbench.data.catalog import load
from mfbench.data.lookup import Follower
from mfbench.errors import ExitCode, MfbenchError, explained
from mfbench.host.features import feature_hooks
from mfbench.host.registry import Registry, load_registry
from mfbench.model.specs import Dataset
from mfbench.report.present import Run
from mfbench.report.progress import follow_in_notebook
from mfbench.run.forecast.order import duration_text
from mfbench.run.runner import Observer, Progress, execute
from mfbench.run.store.metadata import resume_command
from mfbench.suite.plan import Plan

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Outcome", "Request", "Run", "estimate_suite", "exit_code", "load_dataset", "load_run", "make", "prepare_suite",
    "resume_command", "run_request", "run_suite", "write_report",
]  # fmt: skip


def make(expression: str, kind: str | None = None, *, registry: Registry | None = None) -> Any:
    """Build a selector or classifier by its registered name.

    Parameters
    ----------
    expression : str
        A name, optionally with parameters: ``"relieff(n_neighbors=10)"``. If several packages register the name, append
        one of them: ``"relieff@my-package"``.
    kind : {"selector", "classifier"} or None, default=None
        What to build; required if the name is registered as both, with different classes.
    registry : Registry or None, default=None
        The plugins; None loads the installed ones.

    Returns
    -------
    estimator
        An unfitted scikit-learn estimator.

    Raises
    ------
    UsageError
        If the name or a parameter does not exist, or the name is ambiguous.

    Examples
    --------
    >>> import mfbench
    >>> mfbench.make("knn(n_neighbors=3)").n_neighbors
    3
    """
    return (registry or load_registry()).make(expression, kind)


def load_dataset(
    reference: str,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    task: str | None = None,
    data_dir: Path | str | None = None,
    offline: bool = False,
    registry: Registry | None = None,
) -> Dataset:
    """Load a dataset by its registered name, from a repository, or from a file.

    Parameters
    ----------
    reference : str
        ``"wine"``, ``"waveform-21(n_samples=1000)"``, ``"file:PATH"`` (CSV, ARFF or Parquet), ``"openml:61"``,
        ``"uci:53"``, ``"mirror:NAME"`` or ``"import:NAME"``.
    target : str or None, default=None
        Target column of a file or repository; None uses the last one, or the one that the repository declares.
    categorical : sequence of str or None, default=None
        Numeric columns of a file or repository to treat as categorical.
    task : str or None, default=None
        What the target of a file or repository is for: ``"regression"`` makes it a number; None means classes. A
        registered dataset has a task of its own.
    data_dir : Path, str or None, default=None
        A mirror, searched before the cache and the network; None uses the environment variable ``MFBENCH_DATA_DIR``.
    offline : bool, default=False
        Do not use the network.
    registry : Registry or None, default=None
        The plugins; None loads the installed ones.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If the name does not exist.
    DataUnavailableError
        If it is not in the mirror, in the cache or on the network; the message names the command to obtain it.
    DataError
        If it cannot be loaded.

    Examples
    --------
    >>> import mfbench
    >>> mfbench.load_dataset("wine").X.shape
    (178, 13)
    """
    options = DataOptions.of(data_dir, offline)
    return load(
        reference, registry or load_registry(), options=options, target=target, categorical=categorical, task=task
    )


def run_suite(suite: str, *, observer: Observer | None = None, **options: Any) -> Run:
    """Run a suite, or its missing trials, and return the results.

    Parameters
    ----------
    suite : str
        The name of an installed suite, or the path of a TOML file.
    profile : str or None, default=None
        ``"quick"``, ``"standard"``, ``"full"`` or one defined by the suite; None uses the suite's default.
    jobs : int, default=0
        Number of worker processes; 0 means one per available processor.
    part : str or None, default=None
        The part of the suite to run, as named in ``[parts.NAME]``; None means the whole suite.
    only : sequence of str, default=()
        Shell patterns; only datasets and methods with matching names are run.
    out : Path or str, default="reports"
        Folder of all runs. Results of the same trials in its other runs are reused.
    fresh : bool, default=False
        Delete the earlier run with the same suite and options, and start from scratch.
    retry_failed : bool, default=False
        Repeat trials that failed.
    seed : int or None, default=None
        Overrides the suite's seed.
    max_rows : int or None, default=None
        Overrides the suite's limit of training rows: a larger training part is sampled, stratified by class.
    add : mapping, or sequence of str and (label, method), default=()
        Methods to add to the suite: ``{"MINE": MyClassifier(alpha=2)}``, ``{"MINE": (MySelector, "knn")}`` or
        ``["MINE = my-selector -> top 5 -> knn"]``. A method is an estimator, a class, an expression, or a pair of
        selector and classifier. A class of a notebook or the main script is saved as a module.
    add_data : str or sequence of str, default=()
        Datasets to add, as in `load_dataset`.
    target : str or None, default=None
        Label column of the added files and repository datasets.
    metric : str or sequence of str, default=()
        Metrics to score by in addition to the suite's, as in ``"sklearn:average_precision"`` or ``"fbeta(beta=2)"``;
        methods are tuned, compared and ranked by the first one.
    groups, time : str or None, default=None
        Columns of the added datasets: rows of one group (a patient, a site) stay in one part of each split; training
        rows are earlier than test rows.
    weights : str or None, default=None
        Column of the added datasets with the weight of each row in fits and scores.
    reference : str or None, default=None
        Method that the report compares the others with; None means the suite's.
    strict : bool, default=False
        Raise if a plugin cannot be loaded, instead of warning.
    data_dir : Path, str or None, default=None
        A mirror of datasets, searched before the cache and the network; None uses the environment variable
        ``MFBENCH_DATA_DIR``. Results do not depend on where the data come from.
    offline : bool, default=False
        Do not use the network; unavailable datasets are left out.
    executor : str, default="local"
        What runs the trials: the processes of this machine, or an executor registered by a plugin (``"dask"``). Results
        do not depend on it.
    scheduler : str or None, default=None
        Address of the executor's scheduler; None uses its default.
    observer : Observer or None, default=None
        Called with every result as soon as it is stored, and periodically with the running trials. None prints progress
        lines in a notebook, and nothing elsewhere.
    budget : str, float or None, default=None
        Wall time after which the run ends, complete or not: ``"2h"``, ``"1h30m"``, or seconds; None for no limit.
        Methods and datasets advance fold by fold, cheapest first; the next call resumes the run.
    wait_for_workers : str, float or None, default=None
        How long to wait while an executor has no worker: ``"2h"``, or seconds; None means five minutes. Requires an
        `executor`, since local processes are always available.
    shard : str, Path or None, default=None
        Run only part of the trials: ``"3/10"`` is the third of ten shards of nearly equal predicted time; or a shard
        file written by ``mfbench batch``. Each shard has its own folder; `merge` joins them.
    reuse : Path, str or sequence of these, default=()
        Bundles whose results are reused for the same trials, so that only the others run. They are not verified: see
        `verify_bundle`.
    race : str or None, default=None
        Drop methods early, after planned numbers of folds: ``"plan"`` keeps the method that the complete plan would put
        first, ``"truth"`` the one that is best on tables like these. Either loses it with a probability below 5 %. The
        run has its own folder; its results and comparisons are those of the methods that are left.

    Returns
    -------
    Run
        With the data frames ``trials``, ``scores``, ``summary()`` and ``wins_ties_losses()``.

    Raises
    ------
    SuiteError, UsageError
        If the suite or an option is not valid, or a bundle is rejected.
    RunError
        If the run folder is in use or not writable, or no worker of the executor can run trials.
    PluginError
        If the executor cannot be used, for example because a package is missing.

    Notes
    -----
    Worker processes import the main script, so a script must call this function under
    ``if __name__ == "__main__":``.

    Examples
    --------
    >>> import mfbench, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = mfbench.run_suite("uci", only=["iris", "1NN", "DUM"], out=folder, jobs=1)
    >>> run.scores.set_index("method")["mean"].round(2).to_dict()
    {'1NN': 1.0, 'DUM': 0.5}
    """
    outcome = run_request(Request(suite, **options), observer)
    if outcome.interrupt is not None:
        raise outcome.interrupt
    return outcome.run


# For `help` and editors, show the fields of a request as the options.
_SUITE, *_OPTIONS = inspect.signature(Request).parameters.values()
_OPTIONS = [option.replace(kind=option.KEYWORD_ONLY) for option in _OPTIONS]
_OPTIONS.append(inspect.signature(run_suite).parameters["observer"])
run_suite.__signature__ = inspect.Signature([_SUITE, *_OPTIONS], return_annotation=Run)  # type: ignore[attr-defined]


def run_request(
    request: Request,
    observer: Observer | None = None,
    downloads: AbstractContextManager[Follower | None] = nullcontext(),  # noqa: B008 - nullcontext is reusable
) -> Outcome:
    """Run the missing trials of a request; `downloads` follows while datasets load, `observer` from then on."""
    with downloads as follower:
        plan, folder, registry = prepare_suite(request, follower=follower)
    progress, interrupt = Progress(), None
    options, make_pool = run_options(request), partial(feature_hooks().first, "mfbench_pool")
    observer, ends = observer or follow_in_notebook(), time.monotonic() + options.budget
    stages = plan.stages(folder, observer.remarked) if plan.stages else [plan]
    try:
        for stage in stages:
            plan = stage
            sources, executed = earlier_results(request, plan), progress.executed
            progress = execute(plan, folder, registry, options, observer, sources, make_pool)
            progress.executed += executed
            if progress.pending:  # the budget ended
                break
            left = max(ends - time.monotonic(), 1e-3) if options.budget else 0.0
            options = replace(options, fresh=False, budget=left)
    except KeyboardInterrupt as error:
        if not folder.exists():  # interrupted while opening the sources of earlier results
            raise
        interrupt = error
    return Outcome(request, plan, folder, registry, progress, interrupt)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a request."""

    request: Request
    plan: Plan
    folder: Path
    registry: Registry
    progress: Progress
    interrupt: KeyboardInterrupt | None = None

    @cached_property
    def run(self) -> Run:
        """The results; for an interrupted run, those so far."""
        return load_run(self.folder)

    @property
    def is_empty_shard(self) -> bool:
        """Whether this shard has no trials because there are fewer groups of trials than shards."""
        shard = self.plan.shard
        return shard is not None and not self.plan.trials and shard.n_trials > 0

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that describes the outcome."""
        if self.interrupt is not None:
            return ExitCode.INTERRUPTED
        return ExitCode.OK if self.is_empty_shard else exit_code(self.run)

    def show(self, console: Console, command: str, *, with_page: bool) -> Iterator[str]:
        """Write the page, print the report, and yield the closing lines; `command` resumes the run."""
        from mfbench.report.present import show_run, write_page

        if self.is_empty_shard:
            yield "Nothing to run: the plan has fewer groups of trials than shards."
            yield self.run.remarks[0]
            return
        page, trouble = None, None
        if with_page and self.interrupt is None:
            try:
                page = write_page(self.run, self.registry)
            except Exception as error:  # noqa: BLE001 - show the results first, then report the error
                trouble = error
        show_run(self.run, console, self.registry, page)
        if trouble is not None and not isinstance(trouble, MfbenchError):
            raise trouble
        if trouble is not None:  # a full disk, for example, does not undo the run
            later = shlex.join(["mfbench", "report", str(self.folder), "--html", "--output"])
            yield f"The results are stored, but not the page: {trouble}. To write it later: {later} FILE"
        if self.interrupt is not None:
            yield f"Interrupted. To resume, run: {command}"
        elif self.progress.pending:
            n_trials = len(self.plan.trials)
            count = f"{n_trials - self.progress.pending} of {counted(n_trials, 'trial')}"
            budget = self.request.budget
            ended = f"The budget of {duration_text(budget)} ended after {count}." if budget else f"{count} have run."
            if budget and not self.progress.executed:
                ended += " It is shorter than the start of the workers and the first trial: give a longer one."
            yield f"{ended} To go on, run: {command}"


def exit_code(run: Run) -> ExitCode:
    """Return the exit code that describes a run.

    An unavailable dataset is not a failure: the run did what was possible, and the report lists the dataset.
    """
    if not len(run.outcomes) or not (run.outcomes["status"] == "ok").any():
        return ExitCode.NOTHING_MEASURED
    return ExitCode.FAILED if len(run.failures) or set(run.left_out) - set(run.unavailable) else ExitCode.OK


def write_report(path: Path, text: str) -> None:
    """Write a report to a file, creating its folder if needed.

    Raises
    ------
    MfbenchError
        If the file cannot be written.
    """
    with explained(MfbenchError, lambda reason: f"cannot write {path}: {reason}", OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
