"""A job array for Slurm: shards of equal predicted time, and the scripts that submit them and merge their results."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.host.registry import Registry
from mfbench.model.trials import Trial
from mfbench.run.forecast.costs import startup_seconds
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.run.workers.fit_groups import fit_groups
from mfbench.suite.costs import declared_costs
from mfbench.suite.plan import Plan
from mfbench.suite.shards import shard_folder_name
from mfbench_cluster.batch.shard_file import ShardFile
from mfbench_cluster.shards import divide

RUNS = "runs"
_SHARDS = "shards"
_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("job.sh", "merge.sh", "submit.sh")
_TIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
USUAL_LARGEST_ARRAY = 1000


@dataclass(frozen=True)
class SlurmOptions:
    """What the jobs of an array ask for."""

    time: str = "2:00:00"  # the limit of a job, in a form that Slurm reads
    cpus: int = 1  # processors of a job, each for a worker process
    memory: str = ""  # memory of a job as Slurm reads it, such as "8G"; empty for the cluster's default
    options: Sequence[str] = ()  # more options of `sbatch`, such as "--partition=long"
    shards: int | None = None  # number of shards; None divides by `shard_seconds`
    shard_seconds: float | None = None  # predicted wall seconds of a shard; None takes half the limit

    def __post_init__(self) -> None:
        if slurm_seconds(self.time) <= 0:
            raise UsageError(f"--time {self.time!r} is not a time that Slurm reads: write hours as in 2:00:00")
        if self.shards is not None and self.shard_seconds is not None:
            raise UsageError("choose one of --shards and --shard-time")

    def n_shards(self, seconds: float, startup: float = 0.0) -> int:
        """Return the number of shards for trials that take some seconds on one processor together."""
        if self.shards is not None:
            return self.shards
        each = slurm_seconds(self.time) / 2 if self.shard_seconds is None else self.shard_seconds
        # Jobs that would do little more than start do at least as much work as that.
        return max(1, math.ceil(seconds / (max(each - startup, startup) * self.cpus)))


def slurm_seconds(text: str) -> float:
    """Return the seconds of a time as Slurm reads it; 0 if it is not one."""
    match = _TIME.fullmatch(text)
    if match is None:
        return 0.0
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is None and len(numbers) < 3:  # it begins with minutes
        numbers.insert(0, 0)
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


@dataclass(frozen=True)
class JobArray:
    """The files of a job array that were written."""

    n_trials: int  # n_trials, n_stored: trials of the plan, and those of them that the run has already
    n_stored: int
    # Predicted wall seconds of each shard; empty if there is nothing to run, and then nothing was written.
    seconds: list[float]
    # A pattern, as a word for a shell, of the run folders that an earlier batch in the folder has left: the new scripts
    # do not merge them. Empty if there are none.
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
    """Write the scripts and files of a job array for the trials that a run does not have yet."""
    stored: set[str] = set()
    if (run / FILE_NAME).is_file():
        with Store(run, read_only=True) as store:
            stored = store.finished()
    pending = [position for position, trial in enumerate(plan.trials) if trial.key not in stored]
    n_stored = len(plan.trials) - len(pending)
    if not pending:
        return JobArray(len(plan.trials), n_stored, [])
    costs = declared_costs(plan, registry)

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
    """Return the text of each script by its name."""
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
        autoescape=False,  # these are shell scripts, in which every text passes the filter `quote`
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quote"] = _quoted
    return {name: environment.get_template(f"{name}.jinja").render(context) for name in _SCRIPTS}


def _own_command() -> list[str]:
    """Return the words that start mfbench in this environment."""
    script = Path(sys.executable).with_name("mfbench")
    # Preferred: "python -m" would also import modules from the working directory.
    return [str(script)] if script.is_file() else [sys.executable, "-m", "mfbench"]


def _quoted(text: str) -> str:
    """Return a text as a word of a shell script."""
    if "\x00" in text or "\ud800" <= max(text, default="") <= "\udfff":
        raise UsageError(f"{text!r} cannot be part of a script; choose another name")
    return shlex.quote(text)


def _write(folder: Path, scripts: dict[str, str], shards: Sequence[ShardFile]) -> None:
    with explained(MfbenchError, lambda reason: f"cannot write to {folder}: {reason}", OSError):
        if folder.is_dir() and any(folder.iterdir()) and not _holds(folder, shards[0]):
            raise UsageError(f"{folder} holds a batch of another run or other files; choose another folder with --into")
        for name in (_SHARDS, "logs", RUNS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for left in (folder / _SHARDS).glob("*.json"):  # of an earlier batch
            left.unlink()
        # The scripts come last: a folder without them is not mistaken for a complete batch.
        for shard in shards:
            (folder / _SHARDS / f"{shard.number}.json").write_text(f"{shard.model_dump_json()}\n", encoding="utf-8")
        for name, text in scripts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
            (folder / name).chmod(0o755)


def _holds(folder: Path, shard: ShardFile) -> bool:
    """Return whether a folder holds a batch of the same run."""
    try:
        other = ShardFile.model_validate_json((folder / _SHARDS / "1.json").read_bytes())
    except (OSError, ValueError):
        return False
    return (other.suite, other.run) == (shard.suite, shard.run)


def _earlier_runs(folder: Path, shard: ShardFile) -> str:
    """Return a pattern of the run folders that a batch of the same run has left in this folder; empty without any."""
    pattern = shard.folder(folder / RUNS).with_name(shard_folder_name(shard.run, "*", "*", "*"))
    if all(path.name.endswith(f"-{shard.batch}") for path in pattern.parent.glob(pattern.name)):
        return ""
    return _quoted(str(pattern.parent / f"{shard.run}-shard-")) + "*"
