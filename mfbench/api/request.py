"""A request to run a suite: one frozen object, built from Python arguments or command-line options alike."""

import json
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from mfbench.data.cache import DataOptions
from mfbench.data.lookup import Follower, Lookup
from mfbench.errors import RunError, UsageError, whole_number
from mfbench.host.features import feature_hooks
from mfbench.host.registry import LOCAL, Registry, check_executor, load_registry
from mfbench.model.earlier import EarlierRun
from mfbench.report.present import Run
from mfbench.run.forecast.estimate import Estimate, estimate
from mfbench.run.forecast.order import seconds_of
from mfbench.run.runner import RunOptions, run_folder
from mfbench.run.store.file import FILE_NAME
from mfbench.suite.additions import additions_of, items_of, with_additions
from mfbench.suite.loading import LoadedSuite, load_suite, matching
from mfbench.suite.plan import Plan, is_shard_folder_name, make_plan, parse_shard

DEFAULT_OUT = Path("reports")


def load_run(path: Path | str) -> Run:
    """Open the results of a run."""
    folder = Path(path)
    if folder.is_file() and (run := feature_hooks().first("mfbench_open_run", path=folder)) is not None:
        return cast(Run, run)
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise RunError(f"{folder} cannot be read: you have no permission to; ask its owner for it (chmod a+rX)")
    if not (folder / FILE_NAME).is_file():
        # A shard is only part of a run, so a suite's name never refers to one.
        runs = [(not is_shard_folder_name(f.parent.name), f.stat().st_mtime, f) for f in folder.glob(f"*/{FILE_NAME}")]
        if folder.is_file():
            raise UsageError(f"{folder} is not the folder of a run, but a file")
        if not runs:
            suites = sorted({file.parent.parent.name for file in folder.parent.glob(f"*/*/{FILE_NAME}")})
            there = f"; there are runs of {', '.join(suites)}" if suites else ""
            raise UsageError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' creates one{there}")
        folder = max(runs)[-1].parent
    return Run(folder)


def find_run(run: str, out: Path | str = DEFAULT_OUT) -> Run:
    """Open the results of a run by its path, or by the name of its suite within the folder of all runs."""
    place, stored = Path(run), Path(out) / run
    # A folder with the suite's name need not be a run: bundles may have been written to it, for example.
    other = run == place.name and stored.is_dir() and not _holds_runs(place)
    return load_run(stored if other or not place.exists() else place)


def _holds_runs(folder: Path) -> bool:
    return (folder / FILE_NAME).is_file() or any(folder.glob(f"*/{FILE_NAME}"))


@contextmanager
def opened_runs(names: Sequence[str], out: Path | str = DEFAULT_OUT) -> Iterator[Run]:
    """Open a run, or join several runs of one suite for the duration of the context."""
    from mfbench.processes.temporary import temporary_folder
    from mfbench.run.merging import merge_runs

    runs = [find_run(name, out) for name in names]
    paths = list(dict.fromkeys(run.path.resolve() for run in runs))
    if len(paths) == 1:
        yield runs[0]
        return
    with temporary_folder("joined") as folder:
        target = folder / "joined"
        try:
            remarks = merge_runs([run.path for run in runs], target)
        except RunError as error:
            if not any(run.claims for run in runs):
                raise
            raise RunError(_with_bundles(str(error), runs)) from error
        joined = Run(target)
        yield joined.replace(
            claims=tuple(dict.fromkeys(name for run in runs for name in run.claims)),
            remarks=[*joined.remarks, *(_with_bundles(remark, runs) for remark in remarks)],
        )


def _with_bundles(text: str, runs: Sequence[Run]) -> str:
    """Replace the temporary folders of bundles in a text by the names of the bundles."""
    for run in runs:
        text = text.replace(str(run.path), str(run.bundle or run.path))
    return text


FEATURES = {"reuse": "mfbench_claims", "race": "mfbench_race"} | dict.fromkeys(
    ("scheduler", "wait_for_workers", "shard"), "mfbench_cluster"
)
"""The package behind each field that requires an optional package."""


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _seconds(duration: str | float | None) -> float | None:
    return None if duration is None else seconds_of(duration)


def _whole(name: str) -> Callable[[int | None], int | None]:
    # Range checks on integers depend on the suite, which is not loaded yet.
    return lambda value: value if value is None or isinstance(value, int) else whole_number(value, name, 0)


_NORMALISED: dict[str, Callable[[Any], Any]] = {
    "only": _texts,
    "add": items_of,
    "add_data": _texts,
    "metric": _texts,
    "seed": _whole("a seed"),
    "max_rows": _whole("the number of rows"),
    "out": Path,
    "data_dir": lambda path: None if path is None else Path(path),
    "jobs": lambda number: whole_number(number, "the number of workers", 0),
    "budget": _seconds,
    "wait_for_workers": _seconds,
    "shard": lambda shard: parse_shard(shard) if isinstance(shard, str) else shard,
    "reuse": lambda paths: tuple(map(Path, (paths,) if isinstance(paths, str | Path) else paths)),
}
"""The fields whose values have several forms, each with a function that returns the one that is kept."""


@dataclass(frozen=True)
class Request:
    """A requested run, as described in `run_suite`."""

    # Lists are tuples, durations are seconds, files and folders are paths, and missing values are None or empty.

    suite: str
    profile: str | None = None
    part: str | None = None
    only: tuple[str, ...] = ()
    add: tuple[Any, ...] = ()
    add_data: tuple[str, ...] = ()
    target: str | None = None
    metric: tuple[str, ...] = ()
    groups: str | None = None
    time: str | None = None
    weights: str | None = None
    reference: str | None = None
    seed: int | None = None
    max_rows: int | None = None
    out: Path = DEFAULT_OUT
    data_dir: Path | None = None
    offline: bool = False
    strict: bool = False
    jobs: int = 0
    fresh: bool = False
    retry_failed: bool = False
    budget: float | None = None
    executor: str = LOCAL
    scheduler: str | None = None
    wait_for_workers: float | None = None
    shard: tuple[int, int] | Path | None = None
    reuse: tuple[Path, ...] = ()
    race: str | None = None

    def __post_init__(self) -> None:
        for name, normalise in _NORMALISED.items():
            object.__setattr__(self, name, normalise(getattr(self, name)))
        if self.scheduler == "":  # for example from an unset shell variable
            raise UsageError("--scheduler is empty: write an address, or leave the option out")
        if self.wait_for_workers is not None and self.executor == LOCAL:
            raise UsageError("--wait-for-workers needs --executor: the processes of this machine are always there")


def check_features(request: Request, installed: Collection[str]) -> None:
    """Raise an error if a request uses an option whose package is not installed."""
    for field, package in FEATURES.items():
        if getattr(request, field) not in (None, ()) and package not in installed:
            raise UsageError(f"--{field.replace('_', '-')} needs the package {package}, which is not installed here")


def prepare_suite(
    request: Request, *, registry: Registry | None = None, follower: Follower | None = None
) -> tuple[Plan, Path, Registry]:
    """Load a suite with its datasets and methods, without running anything."""
    features = feature_hooks()
    check_features(request, features.packages)
    registry = registry or load_registry(strict=request.strict, isolated=True)
    check_executor(registry, request.executor, request.scheduler or "")
    loaded = load_suite(
        request.suite,
        registry,
        request.profile,
        request.seed,
        part=request.part,
        max_rows=request.max_rows,
        metrics=request.metric,
    )
    add = additions_of(request.add, registry)
    columns = {name: getattr(request, name) for name in ("target", "groups", "time", "weights")}
    loaded = with_additions(loaded, registry, add, request.add_data, reference=request.reference, **columns)
    mirror = () if request.data_dir is None else ("--data-dir", str(request.data_dir))
    loaded = replace(loaded, request=(*loaded.request, *mirror, *(("--offline",) if request.offline else ())))
    data = DataOptions.of(request.data_dir, request.offline)
    plan = make_plan(loaded, registry, request.only, Lookup(data, follower))
    if request.reference is not None and request.reference not in (*plan.methods, *plan.left_out):
        raise UsageError(_left_out_reference(request.reference, loaded))
    folder = run_folder(request.out, loaded, request.only)
    asked = {"request": request, "plan": plan, "folder": folder, "registry": registry}
    plan = features.first("mfbench_part_of_plan", **asked) or plan
    return plan, folder.with_name(plan.folder or folder.name), registry


def _left_out_reference(reference: str, loaded: LoadedSuite) -> str:
    """Return a message that the run lacks the reference, and what to do about it."""
    if loaded.part is not None and not matching(loaded.part_patterns, [reference]):
        return f"--reference {reference!r} is not in the part {loaded.part!r}; name a method of it, or leave --part out"
    return f"--reference {reference!r} is left out by --only; add --only {shlex.quote(reference)}"


def run_options(request: Request) -> RunOptions:
    """Return the options for running the plan of a request."""
    wait = RunOptions.wait_for_workers if request.wait_for_workers is None else request.wait_for_workers
    place = (request.executor, request.scheduler or "")
    return RunOptions(request.jobs, request.fresh, request.retry_failed, *place, request.budget or 0.0, wait)


def earlier_results(request: Request, plan: Plan) -> list[Iterable[EarlierRun]]:
    """Return the runs offered by features, whose results can be reused."""
    return list(feature_hooks().all("mfbench_earlier_results", request=request, plan=plan))


def estimate_suite(request: Request) -> Estimate:
    """Return a request's estimated size and cost, without running, downloading or writing anything."""
    plan, folder, registry = prepare_suite(replace(request, offline=True))
    return estimate(plan, folder, registry, run_options(request), earlier_results(request, plan))


def explain_keys(plan: Plan) -> Iterator[str]:
    """Yield, for each dataset and method of a plan, everything that its trial keys depend on, as JSON."""
    # The key and coordinates shown are those of the first trial.
    for (dataset, method), ingredients in plan.ingredients.items():
        trial = next((t for t in plan.trials if (t.dataset, t.method) == (dataset, method)), None)
        if trial is None:  # a shard may contain none
            continue
        coordinates = {"repeat": trial.repeat, "fold": trial.fold, "seed": trial.seed}
        content = {"key": trial.key, "dataset": dataset, "method": method, **coordinates, "depends_on": ingredients}
        yield json.dumps(content, indent=2, default=repr)
