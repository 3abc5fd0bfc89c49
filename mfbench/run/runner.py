"""The runner: from a plan to a filled store, resumable at any moment."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import filelock

from mfbench.data.prepare import Columns
from mfbench.data.reference import FileReference, parse_reference
from mfbench.errors import NothingPlannedError, RunError, explained
from mfbench.host.registry import Registry
from mfbench.isolation.working_directory import check_working_directory
from mfbench.run import environment
from mfbench.run.executors.local import LocalPool
from mfbench.run.job import Job, write_arrays
from mfbench.run.metadata import Environment, metadata_of
from mfbench.run.owners import owners_of_method, owners_of_plugin
from mfbench.run.reuse import recorded_reuse, reuse_results
from mfbench.run.store import Store
from mfbench.run.store_file import FILE_NAME
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.plan import Plan
from mfbench.trials import Status, Trial, TrialResult

RETRIED = (Status.ERROR, Status.TIMEOUT, Status.MEMORY, Status.CRASH)
_WORK = ".work"
_REASONS_SHOWN = 10
_GIB = 2**30


class Observer(Protocol):
    """An object that follows a run, such as a progress display."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Follow the start: called once, before the first trial."""

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Follow a trial: called after its result is stored."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; none of them changes a result.

    Parameters
    ----------
    jobs : int, default=0
        Worker processes; 0 means one for each available processor.
    fresh : bool, default=False
        Delete the results in the folder and start over.
    retry_failed : bool, default=False
        Repeat trials that failed.
    """

    jobs: int = 0
    fresh: bool = False
    retry_failed: bool = False


@dataclass
class Progress:
    """The trials resumed, executed and failed in one call of `execute`."""

    resumed: int = 0
    executed: int = 0
    failures: dict[str, int] = field(default_factory=dict)


def run_folder(out: Path, loaded: LoadedSuite, only: Sequence[str] = ()) -> Path:
    """Return the folder of a run: a function of the suite's content and of the options that determine its trials.

    Parameters
    ----------
    out : Path
        Folder of all reports.
    loaded : LoadedSuite
        The suite with its profile.
    only : sequence of str
        Patterns that restrict it.
    """
    content = {
        "suite": loaded.suite.model_dump(
            mode="json", include={"suite": {"name", "seed"}, "datasets": True, "methods": True}
        ),
        "protocol": loaded.protocol.model_dump(mode="json", exclude={"timeout", "memory"}),
        "folder": str(loaded.path.resolve().parent) if _has_files(loaded) else "",
        "only": sorted(only),
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
    # Titles, limits and the report's settings are left out: a change of them must not start a new run.
    return out / loaded.suite.suite.name / f"{loaded.profile}-{digest}"


def _has_files(loaded: LoadedSuite) -> bool:
    return any(
        isinstance(parse_reference(text), FileReference) for group in loaded.suite.datasets for text in group.use
    )


def execute(plan: Plan, folder: Path, registry: Registry, options: RunOptions, observer: Observer) -> Progress:
    """Run the trials that are not in a folder's store yet.

    Parameters
    ----------
    plan : Plan
        The trials to run.
    folder : Path
        The run folder; created if needed.
    registry : Registry
        Its plugins are recorded in ``environment.json``.
    options : RunOptions
    observer : Observer
        Called at the start and after every result.

    Returns
    -------
    Progress

    Raises
    ------
    RunError
        If the folder is in use by another run, cannot be written to, or the disk is full.
    NothingPlannedError
        If the plan is empty but the folder holds the results of a run.
    UsageError
        If the working directory configures numba.
    """
    check_working_directory()  # before anything is written
    jobs = options.jobs or environment.available_cpus()
    memory = int(plan.loaded.protocol.memory * _GIB) or environment.default_memory(jobs)
    with _locked(folder), explained(RunError, _file_error(folder), OSError):
        if not plan.trials:
            _keep_results(plan, folder)
        if options.fresh:
            _clear(folder)
        with Store(folder) as store:
            _record_start(plan, folder, store, environment.describe(registry, jobs, memory))
            if options.retry_failed:
                store.forget(RETRIED)
            if plan.loaded.has_additions and not options.fresh:
                reuse_results(plan, store, (Status.OK,) if options.retry_failed else (Status.OK, Status.ERROR))
            keys = store.finished()
            done = [trial for trial in plan.trials if trial.key in keys]
            pending = [trial for trial in plan.trials if trial.key not in keys]
            observer.started(plan, done, pending)
            progress = Progress(resumed=len(done))
            if pending:
                with _arrays(plan, folder, pending) as (data_folder, stems):
                    job = _job(plan, folder, data_folder, stems, memory, registry)
                    _work(job, jobs, pending, store, observer, progress)
            return progress


def _keep_results(plan: Plan, folder: Path) -> None:
    """Refuse to replace a stored plan by an empty one: one broken plugin must not hide the results of a run."""
    if not (folder / FILE_NAME).is_file():
        return
    with Store(folder, read_only=True) as store:
        if not store.has_plan():
            return
    reasons = [f"{label}: {reason}" for label, reason in plan.left_out.items()]
    more = [f"… and {len(reasons) - _REASONS_SHOWN} more"] if len(reasons) > _REASONS_SHOWN else []
    raise NothingPlannedError(
        "\n".join(
            [
                f"nothing of {plan.loaded.suite.suite.name!r} can be run, so the results in {folder} stay as they are",
                *reasons[:_REASONS_SHOWN],
                *more,
            ]
        )
    )


def _work(job: Job, jobs: int, pending: list[Trial], store: Store, observer: Observer, progress: Progress) -> None:
    with LocalPool(job, min(jobs, len(pending)), job.settings.timeout) as pool:
        for trial, result in pool.run(pending):
            store.add(trial, result)
            progress.executed += 1
            if result.status is not Status.OK:
                progress.failures[result.status] = progress.failures.get(result.status, 0) + 1
            observer.finished(trial, result)


def _job(plan: Plan, folder: Path, data_folder: Path, stems: dict[str, str], memory: int, registry: Registry) -> Job:
    references = {label: p.reference for label, p in plan.datasets.items() if p.reference is not None}
    return Job(
        methods=plan.methods,
        datasets={label: Columns.of(planned.data) for label, planned in plan.datasets.items()},
        files=stems,
        data_folder=data_folder,
        protocol=plan.protocol,
        settings=plan.loaded.protocol,
        true_pairs={label: tuple(planned.data.interactions or ()) for label, planned in plan.datasets.items()},
        references=references,
        memory_limit=memory,
        log=folder.resolve() / "workers.log",
        plugins=tuple(registry.plugins.values()),
        owners={label: owners_of_method(method, registry) for label, method in plan.methods.items()},
        round_owners={
            label: owners_of_plugin(registry.dataset(reference.expression.name).plugin)
            for label, reference in references.items()
        },
        path=tuple(sys.path),
    )


def _record_start(plan: Plan, folder: Path, store: Store, described: Environment) -> None:
    _write(folder / "environment.json", json.dumps(described.model_dump(), indent=2) + "\n")
    metadata = metadata_of(plan, folder, described, recorded_reuse(store))
    datasets = [
        {
            "label": planned.label,
            "sha256": planned.sha256,
            "n_samples": planned.data.n_samples,
            "n_features": planned.data.n_features,
            "class_names": planned.data.class_names,
            "feature_names": planned.data.feature_names,
            "relevant": planned.data.relevant,
            "interactions": planned.data.interactions,
            "collections": dict(planned.collections),
            "source": planned.data.source,
            "truth": planned.data.y,
        }
        for planned in plan.datasets.values()
    ]
    left_out = [(label, reason, plan.unavailable.get(label)) for label, reason in plan.left_out.items()]
    store.begin(metadata, datasets, left_out)
    store.set_plan(plan.trials)
    for planned in plan.datasets.values():
        stored = store.split_repeats(planned.sha256, f"{metadata.protocol_key}:{planned.label}")
        for repeat in sorted(set(range(plan.protocol.repeats)) - stored):
            splits = plan.protocol.splits(planned.label, planned.data.y, repeat)
            shape = (planned.data.n_samples, planned.data.n_features)
            store.add_splits(planned.sha256, f"{metadata.protocol_key}:{planned.label}", repeat, splits, shape)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder; the system releases the lock when the process ends, even if it crashes."""
    lock = filelock.FileLock(folder / ".lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout:
        raise RunError(
            f"another mfbench is running in {folder}; wait for it to finish, or choose another folder with --out"
        ) from None
    except OSError as error:
        raise RunError(
            f"cannot write to {folder}: {error.strerror or error}; choose another folder with --out"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _file_error(folder: Path) -> Callable[[str], str]:
    return lambda reason: (
        f"cannot write all files of the run to {folder}: {reason}; free some space or choose another folder with --out"
    )


@contextmanager
def _arrays(plan: Plan, folder: Path, pending: list[Trial]) -> Iterator[tuple[Path, dict[str, str]]]:
    """Write the arrays that pending trials need to files that workers map into memory; remove them afterwards."""
    work = folder.resolve() / _WORK
    work.mkdir(exist_ok=True)
    needed = dict.fromkeys(trial.dataset for trial in pending)
    stems = {label: f"{number:04d}" for number, label in enumerate(needed)}
    try:
        for label, stem in stems.items():
            write_arrays(plan.datasets[label], work, stem)
        yield work, stems
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.name.startswith(FILE_NAME) or path.suffix in (".json", ".md", ".html", ".log"):
            path.unlink()
    shutil.rmtree(folder / _WORK, ignore_errors=True)


def _write(path: Path, text: str) -> None:
    """Write a file atomically: it appears complete or not at all."""
    partial = path.with_suffix(path.suffix + ".part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
