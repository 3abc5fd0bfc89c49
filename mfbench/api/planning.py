"""The Python functions that plan a suite without running anything."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from mfbench.api.request import Request, check_features
from mfbench.data.lookup import Follower, Lookup
from mfbench.data.sources import DataOptions
from mfbench.errors import UsageError
from mfbench.host.executors import check_executor
from mfbench.host.features import feature_hooks
from mfbench.host.registry import Registry, load_registry
from mfbench.model.earlier import EarlierRun
from mfbench.run.forecast.estimate import Estimate, estimate
from mfbench.run.runner import RunOptions, run_folder
from mfbench.suite.additions import additions_of, with_additions
from mfbench.suite.loading import LoadedSuite, load_suite
from mfbench.suite.plan import Plan, make_plan
from mfbench.suite.restriction import matching


def prepare_suite(
    request: Request, *, registry: Registry | None = None, follower: Follower | None = None
) -> tuple[Plan, Path, Registry]:
    """Load a suite with its datasets and methods, without running anything."""
    features = feature_hooks()
    check_features(request, features.packages)
    registry = registry or load_registry(strict=request.strict, isolated=True)
    check_executor(registry, request.executor, request.scheduler or "")
    loaded = load_suite(
        request.suite, registry, request.profile, request.seed, part=request.part, max_rows=request.max_rows
    )
    add = additions_of(request.add, registry)
    loaded = with_additions(loaded, registry, add, request.add_data, request.target, request.reference)
    mirror = () if request.data_dir is None else ("--data-dir", str(request.data_dir))
    loaded = replace(loaded, request=(*loaded.request, *mirror, *(("--offline",) if request.offline else ())))
    data = DataOptions.of(request.data_dir, request.offline)
    plan = make_plan(loaded, registry, request.only, Lookup(data, follower))
    if request.reference is not None and request.reference not in (*plan.methods, *plan.left_out):
        raise UsageError(_left_out_reference(request.reference, loaded))
    folder = run_folder(request.out, loaded, request.only)
    asked = {"request": request, "plan": plan, "folder": folder, "registry": registry}
    plan = features.first("mfbench_part_of_plan", **asked) or plan
    return plan, folder if plan.shard is None else folder.with_name(plan.shard.folder_name), registry


def _left_out_reference(reference: str, loaded: LoadedSuite) -> str:
    """Return that the run does not have the reference, and what to do."""
    if loaded.part is not None and not matching(loaded.part_patterns, [reference]):
        return f"--reference {reference!r} is not in the part {loaded.part!r}; name a method of it, or leave --part out"
    return f"--reference {reference!r} is left out by --only; add --only {shlex.quote(reference)}"


def run_options(request: Request) -> RunOptions:
    """Return the options with which the plan of a request is run."""
    return RunOptions(
        request.jobs,
        request.fresh,
        request.retry_failed,
        request.executor,
        request.scheduler or "",
        request.budget or 0.0,
        RunOptions.wait_for_workers if request.wait_for_workers is None else request.wait_for_workers,
    )


def earlier_results(request: Request, plan: Plan) -> list[Iterable[EarlierRun]]:
    """Return the runs that features offer, whose results need not be computed again."""
    return list(feature_hooks().all("mfbench_earlier_results", request=request, plan=plan))


def estimate_suite(request: Request) -> Estimate:
    """Return what a request would do and cost; nothing is run, downloaded or written."""
    plan, folder, registry = prepare_suite(replace(request, offline=True))
    return estimate(plan, folder, registry, run_options(request), earlier_results(request, plan))


def explain_keys(plan: Plan) -> Iterator[str]:
    """Yield, for each dataset and method of a plan, the JSON text of everything that its trial keys depend on."""
    # The key and the coordinates are those of the first trial.
    for (dataset, method), ingredients in plan.ingredients.items():
        trial = next((t for t in plan.trials if (t.dataset, t.method) == (dataset, method)), None)
        if trial is None:  # a shard may have none
            continue
        coordinates = {"repeat": trial.repeat, "fold": trial.fold, "seed": trial.seed}
        content = {"key": trial.key, "dataset": dataset, "method": method, **coordinates, "depends_on": ingredients}
        yield json.dumps(content, indent=2, default=repr)
