"""The file of a shard of a batch, which lists the keys of its trials."""

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
from mfbench.suite.shards import shard_folder_name
from mfbench_cluster.shards import restricted


class ShardFile(BaseModel):
    """A shard of a batch, as its file describes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1] = 1  # the version of this form
    suite: str  # the suite's name
    run: str  # the name of the folder of the whole run
    batch: str  # what distinguishes the shards of a batch from those of another
    number: int  # number, of: which shard of the batch, from 1
    of: int
    command: list[str]  # the command that wrote the batch
    keys: Annotated[list[str], Field(min_length=1)]  # the keys of the trials

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"shard {self.number} of {self.of}"

    def folder(self, out: Path) -> Path:
        """Return the run folder of the shard in the folder of all runs."""
        return out / self.suite / shard_folder_name(self.run, self.number, self.of, self.batch)


def read_shard(path: Path) -> ShardFile:
    """Read the file of a shard."""
    with explained(UsageError, partial(_unreadable, path), OSError):
        content = path.read_bytes()
    try:
        return ShardFile.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{part}: " for part in first["loc"])
        reason = printable(f"{place}{first['msg']}")
        raise UsageError(f"{path} is not a shard that 'mfbench batch' wrote: {reason}") from error


def _unreadable(path: Path, reason: str) -> str:
    return f"cannot read the shard {path}: {reason}"


def shard_in(plan: Plan, file: ShardFile, run: str) -> Plan:
    """Return a plan restricted to the trials of a shard of a batch."""
    again = "to write the batch again, run: " + shell_command(file.command)
    if (file.suite, file.run) != (plan.loaded.suite.suite.name, run):
        raise UsageError(
            f"{file.name} belongs to the run {printable(file.suite)}/{printable(file.run)}, not to "
            f"{plan.loaded.suite.suite.name}/{run}; {again}"
        )
    positions = {trial.key: position for position, trial in enumerate(plan.trials)}
    missing = [key for key in file.keys if key not in positions]
    if missing:
        reasons = [f"{label}: {reason}" for label, reason in plan.left_out.items()]
        why = f"here, where {reasons[0]}" if reasons else "of these versions of code, libraries and data"
        raise RunError(f"{len(missing)} of {len(file.keys)} trials of {file.name} are not in the plan {why}; {again}")
    own = tuple(sorted(positions[key] for key in file.keys))
    return restricted(plan, file.number, file.of, run, own, file.batch)


def ended_exit_code(file: ShardFile, out: Path) -> ExitCode | None:
    """Return the exit code of a shard whose trials all have a result; None if one is missing."""
    folder = file.folder(out)
    if not (folder / FILE_NAME).is_file():
        return None
    try:
        with Store(folder, read_only=True) as store:
            statuses = dict(store.raw("SELECT key, status FROM trials"))
    except NeverStartedError:
        return None
    ended = [statuses.get(key) for key in file.keys]
    if None in ended:
        return None
    if Status.OK not in ended:
        return ExitCode.NOTHING_MEASURED
    return ExitCode.OK if set(ended) == {Status.OK} else ExitCode.FAILED
