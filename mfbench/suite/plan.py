"""From a loaded suite to a plan: resolved methods, datasets loaded once, and trials with keys and seeds."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from mfbench.data.catalog import find, needs_lookup
from mfbench.data.lookup import Lookup, content_hash
from mfbench.data.prepare import Columns, dropped_classes, restrict_classes
from mfbench.data.reference import Reference, RegisteredReference
from mfbench.data.rounds import check_rounds
from mfbench.data.structure import check_parts, with_structure
from mfbench.errors import DataError, DataUnavailableError, PluginError, SuiteError, UsageError
from mfbench.host.code_hashes import factory_name, forget, host_code, method_code, numeric_versions
from mfbench.host.expressions import Registered, canonical_text
from mfbench.host.factories import is_for_two_classes, takes_sparse, takes_weights
from mfbench.host.registry import Registry
from mfbench.model.specs import Dataset, DatasetSpec
from mfbench.model.trials import Trial, Unavailable
from mfbench.suite.loading import LoadedSuite, Restriction, shared_entries
from mfbench.suite.methods import PlannedDataset, ResolvedMethod, Step, curve_sizes
from mfbench.suite.protocols import EvaluationProtocol, key_settings, make_protocol, seed_of
from mfbench.suite.published import PublishedCount, PublishedFigure, PublishedTable, load_published, match, match_counts
from mfbench.suite.resolve import DatasetEntry, resolve_datasets, resolve_methods
from mfbench.suite.schema import Method, ProtocolSettings, check_trials
from mfbench.suite.splitters import check_splitter, structure_of
from mfbench.suite.tasks import strata_of


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a trial."""

    unlimited: float  # wall seconds on one worker without a time limit
    memory: int  # bytes by which its worker's memory grows
    limit: float = math.inf  # seconds after which it is stopped

    @property
    def seconds(self) -> float:
        """Wall seconds on one worker, at most the limit."""
        return min(self.unlimited, self.limit)

    @property
    def is_too_long(self) -> bool:
        """Whether it is expected to exceed the limit."""
        return self.unlimited >= self.limit


class Costs(Protocol):
    """The costs of a plan's trials, declared or learned from earlier trials."""

    def of(self, trial: Trial) -> Cost:
        """Return the cost of a trial of the plan."""


@dataclass(frozen=True)
class Forecast:
    """The expected cost of a run, for progress displays."""

    costs: Costs
    jobs: int  # trials that run concurrently
    startup: float = 0.0  # seconds before the first trial

    def wall(self, trials: Iterable[Trial]) -> float:
        """Return the seconds of trials run concurrently, at least as long as the longest of them."""
        seconds = [self.costs.of(trial).seconds for trial in trials]
        if not seconds:
            return 0.0
        return self.startup + max(math.fsum(seconds) / self.jobs, max(seconds))

    def too_long(self, trials: Iterable[Trial]) -> list[tuple[str, str, int]]:
        """Return (dataset, method, count) for trials that are expected to exceed their time limit."""
        counts = Counter((trial.dataset, trial.method) for trial in trials if self.costs.of(trial).is_too_long)
        return [(*cell, number) for cell, number in counts.items()]


_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_FOLDER = re.compile(r".+-shard-[0-9]+-of-[0-9]+(?:-[0-9a-f]+)?")


@dataclass(frozen=True)
class Shard:
    """A part of a plan."""

    number: int  # number, of: from 1 to `of`
    of: int
    run: str  # name of the whole run's folder
    digest: str  # digest of the whole plan; see `digest_of`
    n_trials: int  # number of trials in the whole plan
    positions: tuple[int, ...]  # positions of the shard's trials in the whole plan, ascending
    batch: str = ""  # distinguishes the shards of different batches; empty outside a batch

    @property
    def folder_name(self) -> str:
        """The name of the shard's run folder."""
        return shard_folder_name(self.run, self.number, self.of, self.batch)


def shard_folder_name(run: str, number: int | str, of: int | str, batch: str = "") -> str:
    """Return the name of a shard's run folder."""
    return f"{run}-shard-{number}-of-{of}" + (f"-{batch}" if batch else "")


def is_shard_folder_name(name: str) -> bool:
    """Return whether a run folder is named like a shard's."""
    return _FOLDER.fullmatch(name) is not None


def parse_shard(text: str) -> tuple[int, int] | Path:
    """Return the number of a shard and the number of shards, or the file of a shard."""
    match = _SHARD.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if 1 <= number <= of:
        return number, of
    if text.endswith(".json"):
        return Path(text)
    raise UsageError(f"--shard {text!r} is not a shard: write its number and how many there are, such as 1/{of or 3}")


def digest_of(keys: Iterable[str]) -> str:
    """Return a digest that is equal for plans with the same trials in the same order."""
    digest = hashlib.sha256()
    for key in keys:
        digest.update(f"{key}\n".encode())
    return digest.hexdigest()[:16]


M = TypeVar("M", Method, ResolvedMethod)


@dataclass
class Plan:
    """The trials of a run, with their methods, datasets and tables."""

    loaded: LoadedSuite
    methods: dict[str, ResolvedMethod]
    only: tuple[str, ...] = ()  # the patterns of `--only` that restrict the plan
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    # Ordered by dataset, repeat and fold, so that neighbours share data.
    trials: list[Trial] = field(default_factory=list)
    # Unusable datasets and methods, each with the reason.
    left_out: dict[str, str] = field(default_factory=dict)
    # Datasets of `left_out` that are merely unavailable; the others are failures.
    unavailable: dict[str, Unavailable] = field(default_factory=dict)
    published: list[PublishedTable] = field(default_factory=list)  # tables with which the report compares the results
    figures: list[PublishedFigure] = field(default_factory=list)  # their figures for the plan's datasets and methods
    # Their win/tie/loss counts for the plan's methods.
    counts: list[PublishedCount] = field(default_factory=list)
    # Contents of the trial keys except repeat, fold and seeds.
    ingredients: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    # For each two-class method, the datasets with more classes; it has no trials on them.
    unsuited: dict[str, list[str]] = field(default_factory=dict)
    # For each method that needs dense features, the sparse datasets; it has no trials on them.
    needs_dense: dict[str, list[str]] = field(default_factory=dict)
    # The methods and metrics that take no account of sample weights, if any dataset has them.
    unweighted: list[str] = field(default_factory=list)
    forecast: Forecast | None = None  # expected cost of the run; None until the run starts
    shard: Shard | None = None  # the part of a plan that the trials form; None for a whole plan
    folder: str = ""  # name of the run's folder if it is not that of the whole plan
    # Yields the plans that run in turn instead of this one, each decided by the results of those before; it takes the
    # run's folder and a function that shows a sentence to the user.
    stages: Callable[[Path, Callable[[str], None]], Iterable[Plan]] | None = None

    @property
    def failures(self) -> list[str]:
        """The left-out datasets and methods that count as failures."""
        return [label for label in self.left_out if label not in self.unavailable]

    def ratio_on(self, dataset: str) -> float:
        """Return the test rows over the training rows of a dataset's folds; NaN if no test of their scores is valid."""
        own = self.datasets[dataset].own_splits
        return self.protocol.test_train_ratio if own is None else own.tested_ratio

    @property
    def protocol(self) -> EvaluationProtocol:
        """The protocol object of this plan."""
        loaded, has_strata = self.loaded, bool(self.loaded.task.strata)
        return make_protocol(loaded.spec, loaded.protocol.model_dump(), loaded.suite.suite.seed, has_strata=has_strata)


def make_plan(loaded: LoadedSuite, registry: Registry, only: Sequence[str] = (), lookup: Lookup | None = None) -> Plan:
    """Resolve a suite into trials."""
    forget()  # a plugin may have been edited since this process last made a plan
    lookup = lookup or Lookup()
    check_splitter(loaded.protocol.splitter, registry, str(loaded.path))
    published = load_published(loaded, registry)
    methods, left_out = resolve_methods(loaded, registry)
    references = resolve_datasets(loaded, registry, lookup)
    methods, left_out, references = _restrict(
        methods, left_out, references, loaded.restrictions(only), loaded.added_methods
    )
    plan = Plan(loaded, methods, tuple(only), left_out=left_out, published=published)
    check_trials(len(references), len(methods), plan.protocol.folds, plan.protocol.repeats, str(loaded.path))
    _add_datasets(plan, references, registry, lookup)
    plan.unweighted = _unweighted(plan, registry)
    for planned in plan.datasets.values():
        plan.trials.extend(_trials(plan, planned, registry))
    for table in published:
        # An added method may share its label with a published method by accident.
        printed = [label for label in plan.methods if label not in loaded.added_methods]
        score = loaded.scores[table.about.metric]
        plan.figures += match(table, plan.datasets, printed, score, plan.protocol.decisions)
        plan.counts += match_counts(table, printed)
    return plan


def plan_datasets(
    loaded: LoadedSuite, registry: Registry, only: Sequence[str] = (), lookup: Lookup | None = None
) -> Plan:
    """Load the datasets of a suite without resolving its methods, which another process does."""
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
    """Keep the methods, left-out methods and datasets that match every restriction or were added."""
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
    """Load a dataset into the plan; an unusable one is left out with the reason."""
    reference = entry.reference
    try:
        if not plan.loaded.spec.predicts:
            whole = check_rounds(reference, registry)
            structure_of(with_structure(whole, entry.columns, repr(reference.text)), plan.loaded.spec, None, registry)
            assert isinstance(reference, RegisteredReference)  # `check_rounds` rejects all others
            plan.datasets[label] = _planned(label, whole, entry, reference=reference)
            return
        registered = isinstance(reference, RegisteredReference)
        located = find(reference, registry, lookup, None if registered else entry.task)
        collections = _collections(reference, registry)
        data = with_structure(located.data, entry.columns, repr(reference.text))
        planned = _planned(label, data, entry, collections=collections, location=located.location)
        planned = _with_splits(planned, plan, registry)
    except UsageError as error:  # e.g. a target column that the file does not have
        raise SuiteError(f"{entry.place}: {error}") from None
    except (DataError, PluginError) as error:
        if entry.added:  # the user added it explicitly, so it must not be missing
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


def _with_splits(planned: PlannedDataset, plan: Plan, registry: Registry) -> PlannedDataset:
    """Add the splitter of a dataset, after checking that it can be split."""
    protocol, settings, data = plan.protocol, plan.loaded.protocol, planned.data
    structure = structure_of(data, plan.loaded.spec, settings.splitter, registry)
    strata = strata_of(plan.loaded.task, data.y)
    planned = replace(planned, structure=structure, strata=strata)
    splits = planned.splits(protocol, 0)
    for fold, split in enumerate(splits, 1):
        check_parts(data.weights, (split.train, split.test))
        if structure is not None and np.ptp(data.y[split.train]) == 0:
            title = structure.outer.title
            raise DataError(f"{title}: fold {fold} trains on a single value of the target; use fewer or other folds")
    if strata.any() and not np.array_equal(strata, data.y):  # they determine the splits, and only the task knows them
        planned = _known_by(planned, hashlib.sha256(strata.tobytes()).hexdigest())
    if structure is None:
        return planned
    own = structure.summary(splits, protocol.repeats, data.n_samples, data.y, data.class_names)
    check_trials(1, len(plan.methods), own.folds, own.repeats, planned.label)
    splitters = structure.ingredients(registry)
    return _known_by(replace(planned, own_splits=own, splitters=splitters), splitters)


def _known_by(planned: PlannedDataset, what: Any) -> PlannedDataset:
    """Return a dataset whose hash, by which stored splits are found, also depends on what determines its splits."""
    content = json.dumps([planned.sha256, what], sort_keys=True)
    return replace(planned, sha256=hashlib.sha256(content.encode()).hexdigest())


def _collections(reference: Reference, registry: Registry) -> Mapping[str, str]:
    """Return the papers' labels of a dataset; with parameters or from elsewhere, it is not the papers' dataset."""
    if not isinstance(reference, RegisteredReference) or reference.expression.params:
        return {}
    spec: DatasetSpec = registry.entry("dataset", reference.expression.name).spec
    return spec.collections


def _trials(plan: Plan, planned: PlannedDataset, registry: Registry) -> Iterator[Trial]:
    settings = plan.loaded.protocol
    seed = plan.loaded.suite.suite.seed
    bases, names = {}, {}
    unsuited, needs_dense = _unsuited(plan, planned, registry), _needs_dense(plan, planned, registry)
    for label, method in plan.methods.items():
        if label in unsuited:
            plan.unsuited.setdefault(label, []).append(planned.label)
        elif label in needs_dense:
            plan.needs_dense.setdefault(label, []).append(planned.label)
        else:
            ingredients = key_ingredients(planned, method, settings, registry)
            plan.ingredients[planned.label, label] = ingredients
            bases[label] = hashlib.sha256(json.dumps(ingredients, sort_keys=True, default=repr).encode())
            # The JSON text of a list is assembled from parts: serializing it per trial takes longer than hashing it.
            names[label] = json.dumps([planned.label, label])[1:-1]
    for repeat, fold in plan.protocol.coordinates(planned.own_splits):
        for label, name in names.items():
            digest = bases[label].copy()
            digest.update(f"[{name}, {repeat}, {fold}, {seed}]".encode())
            trial_seed = seed_of(f"[{seed}, {name}, {repeat}, {fold}]")
            yield Trial(digest.hexdigest()[:32], planned.label, label, repeat, fold, trial_seed)


def _unsuited(plan: Plan, planned: PlannedDataset, registry: Registry) -> set[str]:
    """Return the two-class methods if a dataset has more classes that are not decided one by one."""
    if planned.data.n_classes <= 2 or plan.loaded.protocol.decisions == "one-vs-rest":
        return set()
    steps = [(label, method.learner) for label, method in plan.methods.items() if method.learner is not None]
    return {label for label, step in steps if is_for_two_classes(registry.entry(step.kind, step.expression.name))}


def _needs_dense(plan: Plan, planned: PlannedDataset, registry: Registry) -> set[str]:
    """Return the methods that do not accept sparse features if a dataset has them."""
    if not planned.data.is_sparse:
        return set()
    return {
        method.label
        for method in plan.methods.values()
        for step in method.steps
        if not takes_sparse(registry.entries(step.kind, step.expression)[0])
    }


def _unweighted(plan: Plan, registry: Registry) -> list[str]:
    """Return the methods, with the step, and the metrics that ignore sample weights."""
    if all(planned.data.weights is None for planned in plan.datasets.values()):
        return []
    names = []
    for method in plan.methods.values():
        entries = {step.kind: registry.entries(step.kind, step.expression)[0] for step in method.steps}
        ignoring = [kind for kind, entry in entries.items() if not takes_weights(entry)]
        names += [f"{method.label} ({' and '.join(ignoring)})"] if ignoring else []
    _, *metrics = shared_entries(plan.loaded.protocol, registry)
    return [*names, *(f"the metric {entry.spec.name}" for entry in metrics if not takes_weights(entry))]


def key_ingredients(
    planned: PlannedDataset, method: ResolvedMethod, settings: ProtocolSettings, registry: Registry
) -> dict[str, Any]:
    """Return everything that determines a trial's result, except its coordinates and seeds."""
    # This includes the dataset's content, the method with its parameters, the protocol, the method's code, the host
    # code that computes results, and the versions of the numeric libraries. Time and memory limits are excluded: they
    # can prevent a result but not change it.
    code: dict[str, str] = {}
    for entry in shared_entries(settings, registry):
        code |= method_code(entry)
    steps: dict[str, Any] = {}
    for step in method.steps:
        entries = registry.entries(step.kind, step.expression)
        for entry in entries:
            code |= method_code(entry)
        steps[step.kind] = _step_ingredients(step, entries[0])
    values = {**settings.model_dump(), "classes": planned.classes}
    relevant = key_settings(values, tuned=bool(method.grid) and method.selection == "nested")
    if method.grid:
        relevant["selection"] = method.selection
    weights = {} if method.weights is None else {"weights": method.weights}
    # Only the resulting sizes matter, not how the suite lists them.
    curve = {} if method.curve is None else {"curve": curve_sizes(method.curve, Columns.of(planned.data).n_units)}
    return {
        "dataset": planned.sha256 if planned.reference is None else _round_ingredients(planned.reference, registry),
        "steps": steps,
        "top": method.top,
        **weights,
        **curve,
        **({"search": method.search.model_dump()} if method.search is not None else {}),
        **({"splitters": planned.splitters} if planned.splitters else {}),
        "grid": canonical_text(method.grid),
        "protocol": relevant,
        "code": code,
        "host": host_code(),
        "libraries": numeric_versions(),
    }


def _round_ingredients(reference: RegisteredReference, registry: Registry) -> dict[str, Any]:
    """Return what determines a round's data except the seed; workers generate the data, so it cannot be hashed."""
    expression = reference.expression
    registered = registry.entry("dataset", expression.name)
    return {
        "expression": expression.canonical(),
        "factory": factory_name(registered),
        "code": method_code(registered),
    }


def _step_ingredients(step: Step, registered: Registered) -> dict[str, Any]:
    spec = registered.spec
    # The file of a built-in plugin is not part of the key, so its spec's statements about a fit must be.
    settings = {name: getattr(spec, name, None) for name in ("raw_input", "targets", "path")}
    return {
        "expression": step.expression.canonical(),
        "factory": factory_name(registered),
        "defaults": canonical_text(spec.defaults),
        **{name: value for name, value in settings.items() if value},
        **({"task": canonical_text(dict(step.task))} if step.task else {}),
    }
