"""A job array for Slurm: tasks of equal predicted time, and the scripts that submit them and merge their results."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
import sys
from collections.abc import Callable, Sequence
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
from mfbench.suite.shares import share_folder_name
from mfbench_cluster.batch.tasks import BatchTask
from mfbench_cluster.shards import divide

RUNS = "runs"
_TASKS = "tasks"
_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("job.sh", "merge.sh", "submit.sh")
_TIME = re.compile(r"(?:(\d{1,4})-)?(\d{1,6})(?::(\d{1,2}))?(?::(\d{1,2}))?")
_MEMORY = re.compile(r"\d{1,9}[KMGT]?")
USUAL_LARGEST_ARRAY = 1000


@dataclass(frozen=True)
class SlurmOptions:
    """What the tasks of an array ask for."""

    time: str = "2:00:00"  # the limit of a task, in a form that Slurm reads
    cpus: int = 1  # processors of a task, each for a worker process
    memory: str = ""  # memory of a task as Slurm reads it, such as "8G"; empty for the cluster's default
    options: Sequence[str] = ()  # more options of `sbatch`, such as "--partition=long"
    tasks: int | None = None  # number of tasks; None divides by `task_seconds`
    task_seconds: float | None = None  # predicted wall seconds of a task; None takes half the limit

    def __post_init__(self) -> None:
        if slurm_seconds(self.time) <= 0:
            raise UsageError(f"--time {self.time!r} is not a time that Slurm reads: write hours as in 2:00:00")
        if self.memory and not _MEMORY.fullmatch(self.memory):
            raise UsageError(f"--mem {self.memory!r} is not an amount of memory that Slurm reads: write it as in 8G")
        for text in self.options:
            if not text.startswith("-") or not text.isprintable():
                raise UsageError(
                    f"--sbatch-option {text!r} is not an option of sbatch: write it as in --partition=long"
                )
        if self.tasks is not None and self.task_seconds is not None:
            raise UsageError("choose one of --tasks and --task-time")

    def n_tasks(self, seconds: float, startup: float = 0.0) -> int:
        """Return the number of tasks for trials that take some seconds on one processor together."""
        if self.tasks is not None:
            return self.tasks
        each = slurm_seconds(self.time) / 2 if self.task_seconds is None else self.task_seconds
        # Tasks that would do little more than start do at least as much work as that.
        return max(1, math.ceil(seconds / (max(each - startup, startup) * self.cpus)))


def slurm_seconds(text: str) -> float:
    """Return the seconds of a time as Slurm reads it; 0 if it is not one."""
    match = _TIME.fullmatch(text)
    if match is None:
        return 0.0
    days, *parts = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    limits = (math.inf if days is None else 24, 60, 60)  # the largest unit has none
    if any(number >= limit for number, limit in zip(numbers, limits, strict=False)):
        return 0.0
    if days is not None:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, minutes, seconds = 0, *[*numbers, 0][:2]
    return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)


@dataclass(frozen=True)
class Batch:
    """A batch that was written."""

    folder: Path  # it has the scripts, and the files, logs and runs of the tasks
    n_trials: int  # n_trials, n_stored: trials of the plan, and those of them that the run has already
    n_stored: int
    # Predicted wall seconds of each task; empty if there is nothing to run, and then nothing was written.
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
) -> Batch:
    """Write the scripts and files of a job array for the trials that a run does not have yet."""
    stored = _stored_keys(run)
    pending = [position for position, trial in enumerate(plan.trials) if trial.key not in stored]
    n_stored = len(plan.trials) - len(pending)
    if not pending:
        return Batch(into, len(plan.trials), n_stored, [])
    costs = declared_costs(plan, registry)

    def weigh(trial: Trial) -> float:
        return costs.of(trial).seconds

    total = math.fsum(weigh(plan.trials[position]) for position in pending)
    startup = startup_seconds(plan, registry)
    tasks = _tasks(plan, pending, options.n_tasks(total, startup), run.name, command, registry, weigh)
    seconds = [startup + math.fsum(weigh(plan.trials[place]) for place in part) / options.cpus for part, _ in tasks]
    files = _files(plan, run, options, into, [task for _, task in tasks], strict=strict)
    _write(into, files, tasks[0][1])
    return Batch(into, len(plan.trials), n_stored, seconds, _earlier_runs(into, tasks[0][1]))


def _stored_keys(run: Path) -> set[str]:
    if not (run / FILE_NAME).is_file():
        return set()
    with Store(run, read_only=True) as store:
        return store.finished()


def _tasks(
    plan: Plan,
    pending: Sequence[int],
    number: int,
    run: str,
    command: Sequence[str],
    registry: Registry,
    weigh: Callable[[Trial], float],
) -> list[tuple[tuple[int, ...], BatchTask]]:
    """Return the tasks with the positions of their trials; there are no empty ones."""
    parts = [part for part in divide(plan.trials, number, fit_groups(plan, registry), weigh, pending) if part]
    keys = [[plan.trials[position].key for position in part] for part in parts]
    batch = hashlib.sha256("\n".join(",".join(own) for own in keys).encode()).hexdigest()[:8]
    return [
        (
            part,
            BatchTask(
                suite=plan.loaded.suite.suite.name,
                run=run,
                batch=batch,
                number=place,
                of=len(parts),
                command=list(command),
                keys=own,
            ),
        )
        for place, (part, own) in enumerate(zip(parts, keys, strict=True), 1)
    ]


def _files(
    plan: Plan, run: Path, options: SlurmOptions, into: Path, tasks: Sequence[BatchTask], *, strict: bool
) -> dict[str, str]:
    """Return the text of each file of a batch by its path."""
    folder, own = into.resolve(), _own_command()
    words = [*plan.loaded.request, *(word for pattern in plan.only for word in ("--only", pattern))]
    words += ["--strict"] if strict else []
    words += ["--out", str(folder / RUNS), "--jobs", str(options.cpus), "--no-page"]
    stores = folder / RUNS / tasks[0].suite / share_folder_name(tasks[0].run, "task", "*", tasks[0].of, tasks[0].batch)
    start, end = str(stores).rsplit("*", 1)
    context = {
        "job_name": f"mfbench-{re.sub(r'[^A-Za-z0-9_.-]', '-', tasks[0].suite)}",
        "n_tasks": len(tasks),
        "time": options.time,
        "cpus": options.cpus,
        "memory": options.memory,
        "options": options.options,
        "working_directory": str(Path.cwd()),
        "command": [_quoted(word) for word in [*own, "suite", *words]],
        "merge": [_quoted(word) for word in [*own, "merge"]],
        "tasks": str(folder / _TASKS),
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
    files = {name: environment.get_template(f"{name}.jinja").render(context) for name in _SCRIPTS}
    return files | {f"{_TASKS}/{task.number}.json": task.model_dump_json() + "\n" for task in tasks}


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


def _write(folder: Path, files: dict[str, str], first: BatchTask) -> None:
    with explained(MfbenchError, lambda reason: f"cannot write to {folder}: {reason}", OSError):
        if folder.is_dir() and any(folder.iterdir()) and not _holds(folder, first):
            raise UsageError(f"{folder} holds a batch of another run or other files; choose another folder with --into")
        for name in (_TASKS, "logs", RUNS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        # The tasks' files come first: a folder without scripts is not mistaken for a complete batch.
        for path, text in sorted(files.items()):
            (folder / path).write_text(text, encoding="utf-8", newline="\n")
        for name in _SCRIPTS:
            (folder / name).chmod(0o755)
        for left in (folder / _TASKS).glob("*.json"):  # of a batch with more tasks
            if f"{_TASKS}/{left.name}" not in files:
                left.unlink()


def _holds(folder: Path, task: BatchTask) -> bool:
    """Return whether a folder holds a batch of the same run."""
    try:
        other = BatchTask.model_validate_json((folder / _TASKS / "1.json").read_bytes())
    except (OSError, ValueError):
        return False
    return (other.suite, other.run) == (task.suite, task.run)


def _earlier_runs(folder: Path, task: BatchTask) -> str:
    """Return a pattern of the run folders that a batch of the same run has left in this folder; empty without any."""
    runs = task.folder(folder / RUNS).parent
    names = share_folder_name(task.run, "task", "*", "*", "*")
    if all(path.name.endswith(f"-{task.batch}") for path in runs.glob(names)):
        return ""
    return _quoted(str(runs / names.partition("*")[0])) + "*"
