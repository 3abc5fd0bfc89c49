"""The Python functions that plan a suite without running anything."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mfbench.data.lookup import Follower, Lookup
from mfbench.data.sources import DataOptions
from mfbench.errors import UsageError
from mfbench.host.registry import Registry, load_registry
from mfbench.run.batch_tasks import BatchTask, task_of
from mfbench.run.estimate import Estimate, estimate
from mfbench.run.runner import RunOptions, run_folder
from mfbench.run.shards import shard_of
from mfbench.runs import DEFAULT_OUT
from mfbench.suite.additions import additions_of, with_additions
from mfbench.suite.loading import LoadedSuite, load_suite
from mfbench.suite.plan import Plan, make_plan
from mfbench.suite.restriction import matching
from mfbench.suite.shares import parse_shard


def prepare_suite(
    suite: str,
    *,
    profile: str | None = None,
    part: str | None = None,
    only: Sequence[str] = (),
    out: Path | str = DEFAULT_OUT,
    seed: int | None = None,
    max_rows: int | None = None,
    add: Any = (),
    add_data: str | Sequence[str] = (),
    target: str | None = None,
    reference: str | None = None,
    data_dir: Path | str | None = None,
    offline: bool = False,
    registry: Registry | None = None,
    follower: Follower | None = None,
    shard: str | None = None,
    task: BatchTask | None = None,
) -> tuple[Plan, Path, Registry]:
    """Load a suite with its datasets and methods, without running anything.

    Parameters
    ----------
    suite, profile, part, only, out, seed, max_rows, add, add_data, target, reference, data_dir, offline, \
shard : optional
        As in `run_suite`.
    registry : Registry or None, default=None
        The plugins; None loads the installed ones.
    follower : Follower or None, default=None
        Shows the progress of downloads.
    task : BatchTask or None, default=None
        The trials of a batch to which the plan is restricted.

    Returns
    -------
    plan : Plan
    folder : Path
        The run folder.
    registry : Registry

    Raises
    ------
    UsageError
        If the shard is not valid.
    RunError
        If trials of the task are not in the plan.
    """
    numbers = None if shard is None else parse_shard(shard)
    registry = registry or load_registry(isolated=True)
    loaded = load_suite(suite, registry, profile, seed, part=part, max_rows=max_rows)
    data = (add_data,) if isinstance(add_data, str) else add_data
    loaded = with_additions(loaded, registry, additions_of(add, registry), data, target, reference)
    mirror = () if data_dir is None else ("--data-dir", str(data_dir))
    loaded = replace(loaded, request=(*loaded.request, *mirror, *(("--offline",) if offline else ())))
    plan = make_plan(loaded, registry, only, Lookup(DataOptions.of(data_dir, offline), follower))
    labels = [*plan.methods, *plan.left_out]
    if reference is not None and reference not in labels:
        raise UsageError(_left_out_reference(reference, loaded, only))
    folder = run_folder(Path(out), loaded, only)
    if numbers is not None:
        plan = shard_of(plan, *numbers, folder.name, registry)
    elif task is not None:
        plan = task_of(plan, task, folder.name)
    return plan, folder if plan.share is None else folder.with_name(plan.share.folder_name), registry


def _left_out_reference(reference: str, loaded: LoadedSuite, only: Sequence[str]) -> str:
    """Return that the run does not have the reference, and what to do."""
    if loaded.part is not None and not matching(loaded.part_patterns, [reference]):
        return f"--reference {reference!r} is not in the part {loaded.part!r}; name a method of it, or leave --part out"
    return f"--reference {reference!r} is left out by --only; add --only {shlex.quote(reference)}"


def estimate_suite(
    suite: str,
    *,
    profile: str | None = None,
    jobs: int = 0,
    part: str | None = None,
    only: Sequence[str] = (),
    out: Path | str = DEFAULT_OUT,
    fresh: bool = False,
    retry_failed: bool = False,
    seed: int | None = None,
    max_rows: int | None = None,
    add: Any = (),
    add_data: str | Sequence[str] = (),
    target: str | None = None,
    reference: str | None = None,
    strict: bool = False,
    data_dir: Path | str | None = None,
) -> Estimate:
    """Return what `run_suite` would do and cost; nothing is run, downloaded or written.

    Parameters
    ----------
    suite, profile, jobs, part, only, out, fresh, retry_failed, seed, max_rows, add, add_data, target, reference, \
strict, data_dir : optional
        As in `run_suite`.

    Returns
    -------
    Estimate
        Trials, predicted seconds and memory, also of each dataset and method, and what would be left out.

    Raises
    ------
    SuiteError, UsageError
        If the suite or an option is not valid.
    RunError
        If the store of an earlier run cannot be read.

    Examples
    --------
    >>> from mfbench.api import estimate_suite
    >>> one = estimate_suite("uci", only=["iris", "1NN", "DUM"], out="nowhere", jobs=2)
    >>> one.planned, one.stored, one.pending, one.jobs
    (10, 0, 10, 2)
    """
    plan, folder, registry = prepare_suite(
        suite,
        profile=profile,
        part=part,
        only=only,
        out=out,
        seed=seed,
        max_rows=max_rows,
        add=add,
        add_data=add_data,
        target=target,
        reference=reference,
        data_dir=data_dir,
        offline=True,
        registry=load_registry(strict=strict, isolated=True),
    )
    return estimate(plan, folder, registry, RunOptions(jobs, fresh, retry_failed))


def explain_keys(plan: Plan) -> Iterator[str]:
    """Yield, for each dataset and method of a plan, the JSON text of everything that its trial keys depend on.

    The key and the coordinates are those of the first trial.
    """
    for (dataset, method), ingredients in plan.ingredients.items():
        trial = next((t for t in plan.trials if (t.dataset, t.method) == (dataset, method)), None)
        if trial is None:  # a share may have none
            continue
        coordinates = {"repeat": trial.repeat, "fold": trial.fold, "seed": trial.seed}
        content = {"key": trial.key, "dataset": dataset, "method": method, **coordinates, "depends_on": ingredients}
        yield json.dumps(content, indent=2, default=repr)
