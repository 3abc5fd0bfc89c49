"""From a loaded suite to a plan: methods resolved, datasets loaded once, every trial with its key and seed."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from mfbench.data.catalog import find, needs_lookup
from mfbench.data.lookup import Lookup, content_hash
from mfbench.data.prepare import dropped_classes, restrict_classes
from mfbench.data.reference import Reference, RegisteredReference
from mfbench.data.rounds import check_rounds
from mfbench.errors import DataError, DataUnavailableError, PluginError, SuiteError, UsageError
from mfbench.host.code_hashes import factory_name, forget, host_code, method_code, numeric_versions
from mfbench.host.expressions import Registered, canonical_text
from mfbench.host.factories import is_for_two_classes
from mfbench.host.registry import Registry
from mfbench.model.specs import Dataset, DatasetSpec
from mfbench.model.trials import Trial, Unavailable
from mfbench.suite.forms import KINDS
from mfbench.suite.loading import LoadedSuite, Restriction
from mfbench.suite.methods import PlannedDataset, ResolvedMethod, Step, curve_sizes
from mfbench.suite.protocols import EvaluationProtocol, key_settings, make_protocol, seed_of
from mfbench.suite.published import PublishedCount, PublishedFigure, PublishedTable, load_published, match, match_counts
from mfbench.suite.resolve import DatasetEntry, resolve_datasets, resolve_methods
from mfbench.suite.schema import Method, ProtocolSettings, check_trials


@dataclass(frozen=True, slots=True)
class Cost:
    """What a trial costs."""

    unlimited: float  # wall seconds on one worker without a time limit
    memory: int  # bytes by which the memory of its worker rises
    limit: float = math.inf  # seconds after which it is stopped

    @property
    def seconds(self) -> float:
        """Wall seconds on one worker, at most the limit."""
        return min(self.unlimited, self.limit)

    @property
    def is_too_long(self) -> bool:
        """Whether it is expected to be stopped."""
        return self.unlimited >= self.limit


class Costs(Protocol):
    """The costs of the trials of a plan, declared or learned from earlier trials."""

    def of(self, trial: Trial) -> Cost:
        """Return what a trial of the plan costs."""


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to cost, for displays that follow it."""

    costs: Costs
    jobs: int  # trials that run at the same time
    startup: float = 0.0  # seconds before the first trial

    def wall(self, trials: Iterable[Trial]) -> float:
        """Return the seconds that trials take together: at least as long as the longest of them."""
        seconds = [self.costs.of(trial).seconds for trial in trials]
        if not seconds:
            return 0.0
        return self.startup + max(math.fsum(seconds) / self.jobs, max(seconds))

    def too_long(self, trials: Iterable[Trial]) -> list[tuple[str, str, int]]:
        """Return datasets and methods with trials that are expected to exceed their time limit, and how many."""
        counts = Counter((trial.dataset, trial.method) for trial in trials if self.costs.of(trial).is_too_long)
        return [(*cell, number) for cell, number in counts.items()]


_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_FOLDER = re.compile(r".+-shard-[0-9]+-of-[0-9]+(?:-[0-9a-f]+)?")


@dataclass(frozen=True)
class Shard:
    """A part of a plan."""

    number: int  # number, of: from 1 to `of`
    of: int
    run: str  # the name of the folder of the whole run
    digest: str  # of the whole plan, as `digest_of` returns it
    n_trials: int  # number of trials of the whole plan
    positions: tuple[int, ...]  # those of the shard's trials in the whole plan, ascending
    batch: str = ""  # what distinguishes the shards of a batch from those of another; empty outside a batch

    @property
    def folder_name(self) -> str:
        """The name of the shard's run folder."""
        return shard_folder_name(self.run, self.number, self.of, self.batch)


def shard_folder_name(run: str, number: int | str, of: int | str, batch: str = "") -> str:
    """Return the name of the run folder of a shard."""
    return f"{run}-shard-{number}-of-{of}" + (f"-{batch}" if batch else "")


def is_shard_folder_name(name: str) -> bool:
    """Tell whether a run folder has the name of that of a shard."""
    return _FOLDER.fullmatch(name) is not None


def parse_shard(text: str) -> tuple[int, int] | Path:
    """Return the number of a shard and how many there are, or the file of a shard."""
    match = _SHARD.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if 1 <= number <= of:
        return number, of
    if text.endswith(".json"):
        return Path(text)
    raise UsageError(f"--shard {text!r} is not a shard: write its number and how many there are, such as 1/{of or 3}")


def digest_of(keys: Iterable[str]) -> str:
    """Return a text that is the same for plans with the same trials in the same order."""
    digest = hashlib.sha256()
    for key in keys:
        digest.update(f"{key}\n".encode())
    return digest.hexdigest()[:16]


M = TypeVar("M", Method, ResolvedMethod)


@dataclass
class Plan:
    """The trials of a run, with the methods, datasets and tables that they need."""

    loaded: LoadedSuite
    methods: dict[str, ResolvedMethod]
    only: tuple[str, ...] = ()  # the patterns of `--only` that restrict the plan
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    # Ordered by dataset, repeat and fold, so that neighbours share data.
    trials: list[Trial] = field(default_factory=list)
    # Datasets and methods that could not be used, each with the reason.
    left_out: dict[str, str] = field(default_factory=dict)
    # Datasets of `left_out` that are only unavailable; the others in `left_out` are failures.
    unavailable: dict[str, Unavailable] = field(default_factory=dict)
    published: list[PublishedTable] = field(default_factory=list)  # tables that the report compares the results with
    figures: list[PublishedFigure] = field(default_factory=list)  # their figures for the plan's datasets and methods
    # Their counts of wins, ties and losses for the plan's methods.
    counts: list[PublishedCount] = field(default_factory=list)
    # The content of the trial keys, except for repeat, fold and seeds.
    ingredients: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    # The datasets with more than two classes of each method that is for two; they have no trials of it.
    unsuited: dict[str, list[str]] = field(default_factory=dict)
    forecast: Forecast | None = None  # what its run is expected to cost; None until the run begins
    shard: Shard | None = None  # which part of a plan the trials are; None for a whole plan

    @property
    def failures(self) -> list[str]:
        """The datasets and methods left out that are failures."""
        return [label for label in self.left_out if label not in self.unavailable]

    @property
    def protocol(self) -> EvaluationProtocol:
        """The protocol object of this plan."""
        return make_protocol(self.loaded.protocol.model_dump(), self.loaded.suite.suite.seed)


def make_plan(loaded: LoadedSuite, registry: Registry, only: Sequence[str] = (), lookup: Lookup | None = None) -> Plan:
    """Resolve a suite into trials."""
    forget()  # a plugin may have been edited since this process last made a plan
    lookup = lookup or Lookup()
    published = load_published(loaded, registry)
    methods, left_out = resolve_methods(loaded, registry)
    references = resolve_datasets(loaded, registry, lookup)
    methods, left_out, references = _restrict(
        methods, left_out, references, loaded.restrictions(only), loaded.added_methods
    )
    plan = Plan(loaded, methods, tuple(only), left_out=left_out, published=published)
    check_trials(len(references), len(methods), plan.protocol.folds, plan.protocol.repeats, str(loaded.path))
    _add_datasets(plan, references, registry, lookup)
    for planned in plan.datasets.values():
        plan.trials.extend(_trials(plan, planned, registry))
    for table in published:
        # An added method may have the label of a published one by accident.
        printed = [label for label in plan.methods if label not in loaded.added_methods]
        plan.figures += match(table, plan.datasets, printed, plan.protocol.decisions)
        plan.counts += match_counts(table, printed)
    return plan


def plan_datasets(
    loaded: LoadedSuite, registry: Registry, only: Sequence[str] = (), lookup: Lookup | None = None
) -> Plan:
    """Load the datasets of a suite without looking up its methods, which another process does."""
    lookup = lookup or Lookup()
    references = resolve_datasets(loaded, registry, lookup)
    written = {method.label: method for method in loaded.suite.methods}
    written, _, references = _restrict(written, {}, references, loaded.restrictions(only), loaded.added_methods)
    suite = loaded.suite.model_copy(update={"methods": list(written.values())})
    plan = Plan(replace(loaded, suite=suite), {}, tuple(only))
    _add_datasets(plan, references, registry, lookup)
    return plan


def _restrict(
    methods: dict[str, M],
    left_out: dict[str, str],
    references: dict[str, DatasetEntry],
    restrictions: Sequence[Restriction],
    added: Collection[str] = (),
) -> tuple[dict[str, M], dict[str, str], dict[str, DatasetEntry]]:
    """Return the methods, the methods left out and the datasets that every restriction leaves, or are added."""
    for restriction in restrictions:
        of_methods, of_datasets = restriction.kept([[*methods, *left_out], list(references)])
        of_methods |= set(added)
        of_datasets |= {label for label, entry in references.items() if entry.added}
        methods = {label: method for label, method in methods.items() if label in of_methods}
        left_out = {label: reason for label, reason in left_out.items() if label in of_methods}
        references = {label: reference for label, reference in references.items() if label in of_datasets}
    return methods, left_out, references


def _add_datasets(plan: Plan, entries: Mapping[str, DatasetEntry], registry: Registry, lookup: Lookup) -> None:
    if any(needs_lookup(entry.reference, registry) for entry in entries.values()):
        _ = lookup.mirror  # a wrong mirror path must raise one error, not one per dataset
    for label, entry in entries.items():
        _add_dataset(plan, label, entry, registry, lookup)


def _add_dataset(plan: Plan, label: str, entry: DatasetEntry, registry: Registry, lookup: Lookup) -> None:
    """Load a dataset into the plan; one that cannot be used is left out with the reason."""
    settings, reference = plan.loaded.protocol, entry.reference
    try:
        if not KINDS[settings.kind].predicts:
            whole = check_rounds(reference, registry)
            assert isinstance(reference, RegisteredReference)  # `check_rounds` rejects the others
            plan.datasets[label] = _planned(label, whole, entry, reference=reference)
            return
        located = find(reference, registry, lookup)
        collections = _collections(reference, registry)
        planned = _planned(label, located.data, entry, collections=collections, location=located.location)
        plan.protocol.splits(label, planned.data.y, 0)
    except UsageError as error:  # such as a target column that the file does not have
        raise SuiteError(f"{entry.place}: {error}") from None
    except (DataError, PluginError) as error:
        if entry.added:  # what the run is about must not be missing from it
            kind = PluginError if isinstance(error, PluginError) else DataError
            raise kind(f"{entry.place}: {error}") from error
        if isinstance(error, PluginError) and registry.strict:
            raise
        plan.left_out[label] = str(error)
        if isinstance(error, DataUnavailableError):
            plan.unavailable[label] = Unavailable(error.can_pull, error.attempt)
        return
    plan.datasets[label] = planned


def _planned(label: str, whole: Dataset, entry: DatasetEntry, **origin: Any) -> PlannedDataset:
    data = restrict_classes(whole, entry.classes)
    dropped = dropped_classes(whole, data)
    return PlannedDataset(label, data, content_hash(data), classes=entry.classes, dropped=dropped, **origin)


def _collections(reference: Reference, registry: Registry) -> Mapping[str, str]:
    """Return the papers' labels of a dataset; with parameters, or from elsewhere, it is not the papers' dataset."""
    if not isinstance(reference, RegisteredReference) or reference.expression.params:
        return {}
    spec: DatasetSpec = registry.dataset(reference.expression.name).spec
    return spec.collections


def _trials(plan: Plan, planned: PlannedDataset, registry: Registry) -> Iterator[Trial]:
    settings = plan.loaded.protocol
    seed = plan.loaded.suite.suite.seed
    bases = {}
    unsuited = _unsuited(plan, planned, registry)
    for label in unsuited:
        plan.unsuited.setdefault(label, []).append(planned.label)
    methods = [method for label, method in plan.methods.items() if label not in unsuited]
    for method in methods:
        ingredients = key_ingredients(planned, method, settings, registry)
        plan.ingredients[planned.label, method.label] = ingredients
        bases[method.label] = hashlib.sha256(json.dumps(ingredients, sort_keys=True, default=repr).encode())
    # The text of a list in JSON is put together from parts: to write it for each trial takes longer than to hash it.
    names = {method.label: json.dumps([planned.label, method.label])[1:-1] for method in methods}
    for repeat, fold in plan.protocol.coordinates():
        for label, name in names.items():
            digest = bases[label].copy()
            digest.update(f"[{name}, {repeat}, {fold}, {seed}]".encode())
            trial_seed = seed_of(f"[{seed}, {name}, {repeat}, {fold}]")
            yield Trial(digest.hexdigest()[:32], planned.label, label, repeat, fold, trial_seed)


def _unsuited(plan: Plan, planned: PlannedDataset, registry: Registry) -> set[str]:
    """Return the methods that are for two classes if a dataset has more, which are not decided one by one."""
    if planned.data.n_classes <= 2 or plan.loaded.protocol.decisions == "one-vs-rest":
        return set()
    classifiers = {m.label: m.classifier.expression.name for m in plan.methods.values() if m.classifier is not None}
    return {label for label, name in classifiers.items() if is_for_two_classes(registry.classifier(name))}


def key_ingredients(
    planned: PlannedDataset, method: ResolvedMethod, settings: ProtocolSettings, registry: Registry
) -> dict[str, Any]:
    """Return everything that determines a trial's result, besides its coordinates and seeds."""
    # This includes the dataset's content, the method with its parameters, the protocol, the code of the method, the
    # host's own code that computes results, and the versions of the numeric libraries. It does not include time and
    # memory limits: they can prevent a result but not change it.
    code: dict[str, str] = {}
    steps: dict[str, Any] = {}
    for kind, step in (("classifier", method.classifier), ("selector", method.selector)):
        if step is not None:
            entries = registry.entries(kind, step.expression)
            for entry in entries:
                code |= method_code(entry)
            steps[kind] = _step_ingredients(step, entries[0])
    values = {**settings.model_dump(), "classes": planned.classes}
    relevant = key_settings(values, tuned=bool(method.grid) and method.selection == "nested")
    if method.grid:
        relevant["selection"] = method.selection
    weights = {} if method.weights is None else {"weights": method.weights}
    # What a suite lists does not matter, only the sizes that it comes to.
    curve = {} if method.curve is None else {"curve": curve_sizes(method.curve, planned.data.n_features)}
    return {
        "dataset": planned.sha256 if planned.reference is None else _round_ingredients(planned.reference, registry),
        "steps": steps,
        "top": method.top,
        **weights,
        **curve,
        "grid": canonical_text(method.grid),
        "protocol": relevant,
        "code": code,
        "host": host_code(),
        "libraries": numeric_versions(),
    }


def _round_ingredients(reference: RegisteredReference, registry: Registry) -> dict[str, Any]:
    """Return everything but the seed that determines a round's data, which workers generate and nobody hashes."""
    expression = reference.expression
    registered = registry.dataset(expression.name)
    return {
        "expression": expression.canonical(),
        "factory": factory_name(registered),
        "code": method_code(registered),
    }


def _step_ingredients(step: Step, registered: Registered) -> dict[str, Any]:
    spec = registered.spec
    # The file of a built-in plugin is not an ingredient, so what its spec says about a fit is.
    settings = {name: getattr(spec, name, None) for name in ("raw_input", "targets", "path")}
    return {
        "expression": step.expression.canonical(),
        "factory": factory_name(registered),
        "defaults": canonical_text(spec.defaults),
        **{name: value for name, value in settings.items() if value},
    }
