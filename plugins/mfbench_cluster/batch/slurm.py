"""Job arrays for Slurm: shards of equal predicted time, and the scripts that submit them and merge their results."""

from __future__ import annotations

import hashlib
import heapq
import math
import re
import shlex
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import jinja2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mfbench.base.text import shell_command
from mfbench.errors import ExitCode, MfbenchError, NeverStartedError, RunError, UsageError, explained, printable
from mfbench.host.registry import Registry
from mfbench.model.trials import Status, Trial
from mfbench.run.forecast.costs import startup_seconds
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.run.workers.trial_queue import fit_groups
from mfbench.suite.costs import DeclaredCosts
from mfbench.suite.plan import Plan, Shard, digest_of, shard_folder_name


def shard_of(plan: Plan, number: int, of: int, run: str, registry: Registry) -> Plan:
    """Return a plan restricted to a shard: all datasets and methods, but only part of the trials."""
    # Shards have nearly equal declared costs: stored times would differ between machines, which must agree on the
    # split. Trials that share a selector fit stay in one shard.
    costs = DeclaredCosts(plan, registry)
    parts = divide(plan.trials, of, fit_groups(plan, registry), lambda trial: costs.of(trial).seconds)
    return restricted(plan, number, of, run, parts[number - 1])


def restricted(plan: Plan, number: int, of: int, run: str, positions: tuple[int, ...], batch: str = "") -> Plan:
    """Return a plan restricted to the trials at some positions, which form a shard."""
    digest = digest_of(trial.key for trial in plan.trials)
    shard = Shard(number, of, run, digest, len(plan.trials), positions, batch)
    return replace(
        plan, trials=[plan.trials[position] for position in positions], shard=shard, folder=shard.folder_name
    )


def balanced(costs: Sequence[float], number: int) -> list[list[int]]:
    """Partition items into parts of nearly equal cost, greedily: most expensive first, always to the cheapest part."""
    parts: list[list[int]] = [[] for _ in range(number)]
    loads = [(0.0, 0, part) for part in range(number)]  # (cost, items): the count also spreads items of zero cost
    for item in sorted(range(len(costs)), key=lambda item: (-costs[item], item)):
        load, size, part = loads[0]
        parts[part].append(item)
        heapq.heapreplace(loads, (load + costs[item], size + 1, part))
    return parts


def divide(
    trials: Sequence[Trial],
    number: int,
    group_of: Callable[[Trial], Hashable | None],
    weigh: Callable[[Trial], float],
    chosen: Iterable[int] | None = None,
) -> list[tuple[int, ...]]:
    """Partition trials into shards of nearly equal predicted cost, keeping groups together."""
    by_key: dict[Hashable, list[int]] = {}
    for position in range(len(trials)) if chosen is None else chosen:
        key = group_of(trials[position])
        by_key.setdefault(position if key is None else ("group", key), []).append(position)
    groups = list(by_key.values())
    # Round: machines must agree on the split, but their mathematical functions may differ in the last digits.
    costs = [float(f"{math.fsum(weigh(trials[position]) for position in group):.6g}") for group in groups]
    return [tuple(sorted(position for group in part for position in groups[group])) for part in balanced(costs, number)]


class ShardFile(BaseModel):
    """A shard of a batch, as stored in its file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1] = 1  # version of this format
    suite: str  # the suite's name
    run: str  # name of the whole run's folder
    batch: str  # distinguishes the shards of one batch from another's
    number: int  # number, of: position of the shard in the batch, from 1
    of: int
    command: list[str]  # the command that created the batch
    keys: Annotated[list[str], Field(min_length=1)]  # the keys of the trials

    @property
    def name(self) -> str:
        """The shard's name in messages."""
        return f"shard {self.number} of {self.of}"

    def folder(self, out: Path) -> Path:
        """Return the shard's run folder within the folder of all runs."""
        return out / self.suite / shard_folder_name(self.run, self.number, self.of, self.batch)


def read_shard(path: Path) -> ShardFile:
    """Read a shard file."""
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
    """Return a plan restricted to the trials of a batch's shard."""
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
    """Return the exit code of a shard whose trials all have a result, or None if any is missing."""
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


RUNS = "runs"
_SHARDS = "shards"
_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("job.sh", "merge.sh", "submit.sh")
_TIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
USUAL_LARGEST_ARRAY = 1000


@dataclass(frozen=True)
class SlurmOptions:
    """Resource requests of the jobs in an array."""

    time: str = "2:00:00"  # time limit of a job, in Slurm's format
    cpus: int = 1  # processors per job, one per worker process
    memory: str = ""  # memory per job in Slurm's format ("8G"); empty for the cluster's default
    options: Sequence[str] = ()  # further `sbatch` options ("--partition=long")
    shards: int | None = None  # number of shards; None derives it from `shard_seconds`
    shard_seconds: float | None = None  # predicted wall seconds per shard; None uses half the limit

    def __post_init__(self) -> None:
        if slurm_seconds(self.time) <= 0:
            raise UsageError(f"--time {self.time!r} is not a time that Slurm reads: write hours as in 2:00:00")
        if self.shards is not None and self.shard_seconds is not None:
            raise UsageError("choose one of --shards and --shard-time")

    def n_shards(self, seconds: float, startup: float = 0.0) -> int:
        """Return the number of shards for trials with a given total of predicted seconds on one processor."""
        if self.shards is not None:
            return self.shards
        each = slurm_seconds(self.time) / 2 if self.shard_seconds is None else self.shard_seconds
        # A job should do at least as much work as its startup costs.
        return max(1, math.ceil(seconds / (max(each - startup, startup) * self.cpus)))


def slurm_seconds(text: str) -> float:
    """Return the seconds of a Slurm time string; 0 if it is invalid."""
    match = _TIME.fullmatch(text)
    if match is None:
        return 0.0
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:  # starts with minutes
        numbers.insert(0, 0)
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


@dataclass(frozen=True)
class JobArray:
    """The written files of a job array."""

    n_trials: int  # n_trials, n_stored: trials in the plan, and those already stored in the run
    n_stored: int
    # Predicted wall seconds of each shard; empty if there is nothing to run, in which case nothing is written.
    seconds: list[float]
    # A shell pattern for the run folders left by an earlier batch in the same folder, which the new scripts do not
    # merge; empty if there are none.
    earlier: str = ""


def write_batch(
    plan: Plan,
    run: Path,
    registry: Registry,
    options: SlurmOptions,
    into: Path,
    command: Sequence[str],
    *,
    strict: bool = False,
) -> JobArray:
    """Write the scripts and files of a job array for the trials that a run is missing."""
    stored: set[str] = set()
    if (run / FILE_NAME).is_file():
        with Store(run, read_only=True) as store:
            stored = store.finished()
    pending = [position for position, trial in enumerate(plan.trials) if trial.key not in stored]
    n_stored = len(plan.trials) - len(pending)
    if not pending:
        return JobArray(len(plan.trials), n_stored, [])
    costs = DeclaredCosts(plan, registry)

    def weigh(trial: Trial) -> float:
        return costs.of(trial).seconds

    def total(positions: Sequence[int]) -> float:
        return math.fsum(weigh(plan.trials[position]) for position in positions)

    startup = startup_seconds(plan, registry)
    number = options.n_shards(total(pending), startup)
    parts = [part for part in divide(plan.trials, number, fit_groups(plan, registry), weigh, pending) if part]
    keys = [[plan.trials[position].key for position in part] for part in parts]
    batch = hashlib.sha256("\n".join(",".join(own) for own in keys).encode()).hexdigest()[:8]
    suite, of = plan.loaded.suite.suite.name, len(parts)
    shards = [
        ShardFile(suite=suite, run=run.name, batch=batch, number=number, of=of, command=list(command), keys=own)
        for number, own in enumerate(keys, 1)
    ]
    _write(into, _scripts(plan, run, options, into, shards[0], strict=strict), shards)
    seconds = [startup + total(part) / options.cpus for part in parts]
    return JobArray(len(plan.trials), n_stored, seconds, _earlier_runs(into, shards[0]))


def _scripts(
    plan: Plan, run: Path, options: SlurmOptions, into: Path, first: ShardFile, *, strict: bool
) -> dict[str, str]:
    """Return the text of each script, by name."""
    folder, own = into.resolve(), _own_command()
    words = [*plan.loaded.request, *(word for pattern in plan.only for word in ("--only", pattern))]
    words += ["--strict"] if strict else []
    words += ["--out", str(folder / RUNS), "--jobs", str(options.cpus), "--no-page"]
    stores = first.folder(folder / RUNS).with_name(shard_folder_name(first.run, "*", first.of, first.batch))
    start, end = str(stores).rsplit("*", 1)
    context = {
        "job_name": f"mfbench-{re.sub(r'[^A-Za-z0-9_.-]', '-', first.suite)}",
        "n_shards": first.of,
        "asked": options,
        "working_directory": str(Path.cwd()),
        "command": [_quoted(word) for word in [*own, "suite", *words]],
        "merge": [_quoted(word) for word in [*own, "merge"]],
        "shards": str(folder / _SHARDS),
        "folder": str(folder),
        "stores_start": start,
        "stores_end": end,
        "file_name": FILE_NAME,
        "target": str(run.resolve()),
    }
    environment = jinja2.Environment(  # nosec B701  # no HTML
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # shell scripts, in which every text passes through the filter `quote`
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quote"] = _quoted
    return {name: environment.get_template(f"{name}.jinja").render(context) for name in _SCRIPTS}


def _own_command() -> list[str]:
    """Return the command that starts mfbench in this environment."""
    script = Path(sys.executable).with_name("mfbench")
    # The script is preferred: "python -m" would also import modules from the working directory.
    return [str(script)] if script.is_file() else [sys.executable, "-m", "mfbench"]


def _quoted(text: str) -> str:
    """Quote a text as a shell word."""
    if "\x00" in text or "\ud800" <= max(text, default="") <= "\udfff":
        raise UsageError(f"{text!r} cannot be part of a script; choose another name")
    return shlex.quote(text)


def _write(folder: Path, scripts: dict[str, str], shards: Sequence[ShardFile]) -> None:
    with explained(MfbenchError, lambda reason: f"cannot write to {folder}: {reason}", OSError):
        if folder.is_dir() and any(folder.iterdir()) and not _holds(folder, shards[0]):
            raise UsageError(f"{folder} holds a batch of another run or other files; choose another folder with --into")
        for name in (_SHARDS, "logs", RUNS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for left in (folder / _SHARDS).glob("*.json"):  # left by an earlier batch
            left.unlink()
        # Write the scripts last, so that a folder without them is not mistaken for a complete batch.
        for shard in shards:
            (folder / _SHARDS / f"{shard.number}.json").write_text(f"{shard.model_dump_json()}\n", encoding="utf-8")
        for name, text in scripts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
            (folder / name).chmod(0o755)


def _holds(folder: Path, shard: ShardFile) -> bool:
    """Return whether a folder contains a batch of the same run."""
    try:
        other = ShardFile.model_validate_json((folder / _SHARDS / "1.json").read_bytes())
    except (OSError, ValueError):
        return False
    return (other.suite, other.run) == (shard.suite, shard.run)


def _earlier_runs(folder: Path, shard: ShardFile) -> str:
    """Return a pattern for the run folders left by an earlier batch of the same run; empty if there are none."""
    pattern = shard.folder(folder / RUNS).with_name(shard_folder_name(shard.run, "*", "*", "*"))
    if all(path.name.endswith(f"-{shard.batch}") for path in pattern.parent.glob(pattern.name)):
        return ""
    return _quoted(str(pattern.parent / f"{shard.run}-shard-")) + "*"
