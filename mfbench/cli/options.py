"""Options shared by several commands."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Argument, Option

Command = TypeVar("Command", bound=Callable[..., None])
DEFAULT_OUT = Path("reports")

Text = str | None
Texts = list[str] | None
Out = Annotated[Path, Option(metavar="DIR", help="Folder that holds all runs.")]
Strict = Annotated[bool, Option("--strict", help="Fail if a plugin cannot be loaded, instead of warning.")]
DataDir = Annotated[Path | None, Option(metavar="DIR", help="Mirror of datasets. [default: MFBENCH_DATA_DIR]")]
Offline = Annotated[bool, Option("--offline", help="Do not use the network.")]
Part = Annotated[Text, Option(metavar="NAME", help="Run only this part of the suite, listed by 'mfbench suites'.")]
Only = Annotated[Texts, Option(metavar="GLOB", help="Run only matching datasets and methods. Can be repeated.")]
Reference = Annotated[Text, Option(metavar="LABEL", help="Method to compare with. [default: the suite's, or the best]")]
Metric = Annotated[Text, Option(metavar="NAME", help="Metric that the report shows. [default: the run's first]")]
AsJson = Annotated[bool, Option("--json", help="Write JSON.")]
Add = Annotated[Texts, Option(metavar="METHOD", help="Add 'LABEL = [SELECTOR ->] CLASSIFIER'. Can be repeated.")]
SuiteName = Annotated[str, Argument(metavar="NAME|FILE", help="An installed suite, or the path of a .toml file.")]
Target = Annotated[Text, Option(help="Label column of a table. [default: the last one, or the repository's]")]
Categorical = Annotated[Texts, Option(metavar="COLUMN", help="A numeric column that is categorical. Can be repeated.")]


def _value(kind: type, metavar: str | None, text: str) -> tuple[Any, None]:
    return Annotated[kind | None, Option(metavar=metavar, help=text)], None


def _flag(name: str, text: str) -> tuple[Any, bool]:
    return Annotated[bool, Option(name, help=text)], False


# The options of suite commands: for each field of a `Request`, its option and default.
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "profile": _value(str, None, "quick, standard, full, or one that the suite defines. [default: the suite's]"),
    "jobs": (Annotated[int, Option("--jobs", "-j", min=0, help="Worker processes; 0 means one per processor.")], 0),
    "part": (Part, None),
    "only": (Only, None),
    "add": (Add, None),
    "add_data": _value(list[str], "DATASET", "Add a dataset, such as file:mine.csv. Can be repeated."),
    "target": _value(str, "COLUMN", "Label column of the datasets of --add-data. [default: the last one]"),
    "metric": _value(
        list[str], "METRIC", "Score by this metric too, and judge by the first one given. Can be repeated."
    ),
    "groups": _value(str, "COLUMN", "Column of the datasets of --add-data: rows of one group stay in one part."),
    "time": _value(str, "COLUMN", "Column of the datasets of --add-data: training rows are earlier than test rows."),
    "weights": _value(str, "COLUMN", "Column of the datasets of --add-data: how much each row counts."),
    "reference": (Reference, None),
    "out": (Out, DEFAULT_OUT),
    "fresh": _flag("--fresh", "Delete the earlier run with the same suite and options, and start over."),
    "retry_failed": _flag("--retry-failed", "Repeat trials that failed."),
    "budget": _value(str, "TIME", "Wall time after which the run ends, complete or not, such as 90s or 1h30m."),
    "seed": _value(int, None, "Override the suite's seed."),
    "max_rows": _value(int, "N", "Sample the training rows of a fold if there are more than N. [default: the suite's]"),
    "data_dir": (DataDir, None),
    "offline": (Offline, False),
    "strict": (Strict, False),
    "executor": (Annotated[str, Option(metavar="NAME", help="local, or an executor of 'mfbench plugins'.")], "local"),
    "scheduler": _value(str, "ADDRESS", "Address of the executor's scheduler. [default: the executor's]"),
    "wait_for_workers": _value(str, "TIME", "How long to wait while the executor has no worker. [default: 5m]"),
    "shard": _value(str, "I/N|FILE", "Run shard I of N, or that of a file of 'mfbench batch'; see 'mfbench merge'."),
    "reuse": _value(list[Path], "FILE", "Use a bundle's results of the same trials. Can be repeated."),
    "race": _value(str, "plan|truth", "Drop methods early: keep the winner of the complete plan, or the truly best."),
}
RUN_OPTIONS = tuple(_OPTIONS)
PLAN_OPTIONS = (
    "profile", "part", "only", "add", "add_data", "target", "groups", "time", "weights", "metric", "reference", "seed",
    "max_rows", "out", "data_dir", "offline", "strict",
)  # fmt: skip
"""The options that determine the trials, as opposed to how they run."""


def taking(names: Sequence[str]) -> Callable[[Command], Command]:
    """Return a decorator that expands a command's ``**options`` into the named run options."""

    def declare(command: Command) -> Command:
        first, *own, _ = inspect.signature(command, eval_str=True).parameters.values()
        taken = {each.name for each in own}  # 'mfbench batch slurm --time' is that of a job
        shared = [
            first.replace(name=name, annotation=_OPTIONS[name][0], default=_OPTIONS[name][1])
            for name in names
            if name not in taken
        ]
        parameters = [first, *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*shared, *own))]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return declare


def keywords(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that have a value, as keyword arguments of a `Request`."""
    return {name: value for name, value in options.items() if value is not None}
