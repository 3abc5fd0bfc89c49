"""The tasks of a batch: the files that list the trials of each."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mfbench.base.untrusted import shell_command
from mfbench.errors import ExitCode, NeverStartedError, RunError, UsageError, explained, printable
from mfbench.model.trials import Status
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.suite.plan import Plan
from mfbench.suite.shares import Share, digest_of, share_folder_name
from mfbench_cluster.shards import restricted

LARGEST = 2**28
"""Bytes of a file that are read at most."""

Key = Annotated[str, Field(pattern=r"^[0-9a-f]{32}\z")]
Name = Annotated[str, Field(pattern=r"^[^/\\\x00]{1,255}\z")]


class BatchTask(BaseModel):
    """A task of a batch, as its file describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1] = 1  # the version of this form
    suite: Name  # the suite's name
    run: Name  # the name of the folder of the whole run
    # What distinguishes the tasks of a batch from those of another.
    batch: Annotated[str, Field(pattern=r"^[0-9a-f]{8}\z")]
    number: Annotated[int, Field(ge=1)]  # number, of: which task of the batch, from 1
    of: Annotated[int, Field(ge=1, le=10**6)]
    command: Annotated[list[str], Field(max_length=10_000)]  # the command that wrote the batch
    keys: Annotated[list[Key], Field(min_length=1)]  # the keys of the trials

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"task {self.number} of {self.of}"

    def folder(self, out: Path) -> Path:
        """Return the run folder of the task."""
        return out / self.suite / share_folder_name(self.run, "task", self.number, self.of, self.batch)


def read_task(path: Path) -> BatchTask:
    """Read a task's file."""
    with explained(UsageError, partial(_unreadable, path), OSError), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UsageError(f"{path} is not a task of mfbench: it is too large")
    try:
        task = BatchTask.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        reason = printable(f"{place}: {first['msg']}" if place else first["msg"])
        raise UsageError(f"{path} is not a task of mfbench: {reason}") from error
    if task.number > task.of or len(set(task.keys)) < len(task.keys):
        raise UsageError(f"{path} is not a task of mfbench: its number or its keys contradict each other")
    if task.suite in (".", "..") or task.run in (".", ".."):
        raise UsageError(f"{path} is not a task of mfbench: it names no suite or run")
    return task


def _unreadable(path: Path, reason: str) -> str:
    return f"cannot read the task {path}: {reason}"


def task_of(plan: Plan, task: BatchTask, run: str) -> Plan:
    """Return a plan restricted to the trials of a task."""
    again = "to write the batch again, run: " + shell_command(task.command)
    if (task.suite, task.run) != (plan.loaded.suite.suite.name, run):
        raise UsageError(
            f"{task.name} belongs to the run {printable(task.suite)}/{printable(task.run)}, not to "
            f"{plan.loaded.suite.suite.name}/{run}; {again}"
        )
    positions = {trial.key: position for position, trial in enumerate(plan.trials)}
    missing = [key for key in task.keys if key not in positions]
    if missing:
        reasons = [f"{label}: {reason}" for label, reason in plan.left_out.items()]
        why = f"here, where {reasons[0]}" if reasons else "of these versions of code, libraries and data"
        raise RunError(f"{len(missing)} of {len(task.keys)} trials of {task.name} are not in the plan {why}; {again}")
    digest = digest_of(trial.key for trial in plan.trials)
    own = tuple(sorted(positions[key] for key in task.keys))
    return restricted(plan, Share("task", task.number, task.of, run, digest, len(plan.trials), own, batch=task.batch))


def ended_exit_code(task: BatchTask, out: Path) -> ExitCode | None:
    """Return the exit code of a task whose trials all have a result; None if one is missing."""
    folder = task.folder(out)
    if not (folder / FILE_NAME).is_file():
        return None
    try:
        with Store(folder, read_only=True) as store:
            statuses = dict(store.raw("SELECT key, status FROM trials"))
    except NeverStartedError:
        return None
    if any(key not in statuses for key in task.keys):
        return None
    successes = sum(statuses[key] == Status.OK for key in task.keys)
    if not successes:
        return ExitCode.NOTHING_MEASURED
    return ExitCode.OK if successes == len(task.keys) else ExitCode.FAILED
