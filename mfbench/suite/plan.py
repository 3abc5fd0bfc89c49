"""From a loaded suite to a plan: methods resolved, datasets loaded once, every trial with its key and seed."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mfbench.data.catalog import check_reference, load
from mfbench.data.fingerprint import content_hash
from mfbench.data.prepare import restrict_classes
from mfbench.errors import DataError, SuiteError, UsageError, suggestion
from mfbench.host.expressions import Expression, parse
from mfbench.host.provenance import host_code, method_code, numeric_versions
from mfbench.host.registry import Registered, Registry, check_parameters, parameter_names
from mfbench.models import Dataset, SelectorSpec, Trial
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.protocols import RepeatedCV
from mfbench.suite.schema import Method, Protocol, Top
from mfbench.suite.seeds import derive_seed

TOP = "top"


@dataclass(frozen=True)
class Step:
    """A selector or classifier of a method, resolved.

    Attributes
    ----------
    expression : Expression
        Name and parameters as written in the suite.
    raw_input : bool
        For selectors: wants unencoded columns.
    """

    expression: Expression
    raw_input: bool = False


@dataclass(frozen=True)
class ResolvedMethod:
    """A method of the suite with everything looked up and checked.

    Attributes
    ----------
    label : str
        Its name in tables.
    selector : Step or None
    classifier : Step
    top : str, int or float
        The rule that turns weights into a subset.
    grid : tuple of (target, parameter, values)
        What inner cross-validation tries; target is "selector", "classifier" or "top".
    """

    label: str
    selector: Step | None
    classifier: Step
    top: Top
    grid: tuple[tuple[str, str, tuple[Any, ...]], ...] = ()

    def describe(self) -> str:
        """Return the method in one line.

        Examples
        --------
        >>> ResolvedMethod("1NN", None, Step(parse("knn(n_neighbors=1)")), "all").describe()
        'knn(n_neighbors=1)'
        """
        parts = [] if self.selector is None else [str(self.selector.expression)]
        if self.selector is not None and TOP not in {target for target, _, _ in self.grid}:
            parts.append(f"top {self.top}")
        parts.append(str(self.classifier.expression))
        names = [name for _, name, _ in self.grid]
        tuned = ", ".join(f"{target}.{name}" if names.count(name) > 1 else name for target, name, _ in self.grid)
        return " → ".join(parts) + (f" [tunes {tuned}]" if tuned else "")


@dataclass(frozen=True)
class PlannedDataset:
    """A dataset as the trials see it (classes restricted), with its label in tables and its content hash."""

    label: str
    data: Dataset
    sha256: str


@dataclass
class Plan:
    """What a run will do.

    Attributes
    ----------
    loaded : LoadedSuite
    methods : dict of str to ResolvedMethod
    datasets : dict of str to PlannedDataset
    trials : list of Trial
        Ordered by dataset, repeat and fold, so that neighbours share data.
    left_out : dict of str to str
        Datasets that could not be used, each with the reason.
    failed_datasets : list of str
        Those of `left_out` that are failures, not mere absences.
    ingredients : dict of (dataset, method) to dict
        What the keys of their trials hash, besides repeat, fold and seeds.
    only : tuple of str
        The patterns that restrict it.
    """

    loaded: LoadedSuite
    methods: dict[str, ResolvedMethod]
    only: tuple[str, ...] = ()
    datasets: dict[str, PlannedDataset] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failed_datasets: list[str] = field(default_factory=list)
    ingredients: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    @property
    def protocol(self) -> RepeatedCV:
        """The protocol object of this plan."""
        settings = self.loaded.protocol
        return RepeatedCV(settings.folds, settings.repeats, self.loaded.suite.suite.seed)


def make_plan(loaded: LoadedSuite, registry: Registry, only: Sequence[str] = ()) -> Plan:
    """Resolve a suite into trials.

    Parameters
    ----------
    loaded : LoadedSuite
        A validated suite with its profile.
    registry : Registry
        Where methods and datasets are looked up.
    only : sequence of str, default=()
        Shell patterns; a dataset or method that matches one is kept. Patterns that match datasets restrict datasets,
        patterns that match methods restrict methods.

    Returns
    -------
    Plan

    Raises
    ------
    SuiteError
        If the suite names something that does not exist.
    UsageError
        If a pattern of `only` matches nothing.
    """
    methods = resolve_methods(loaded, registry)
    references = resolve_datasets(loaded, registry)
    methods, references = _restrict(methods, references, only)
    plan = Plan(loaded, methods, tuple(only))
    for label, load_it in references.items():
        _add_dataset(plan, label, load_it, registry)
    for planned in plan.datasets.values():
        plan.trials += _trials(plan, planned, registry)
    return plan


def resolve_methods(loaded: LoadedSuite, registry: Registry) -> dict[str, ResolvedMethod]:
    """Look up and check the methods of a suite; every mistake names the file and the key."""
    resolved = {}
    for position, method in enumerate(loaded.suite.methods):
        place = f"{loaded.path}: methods[{position}]"
        resolved[method.label] = _resolve_method(method, place, registry)
    return resolved


def _resolve_method(method: Method, place: str, registry: Registry) -> ResolvedMethod:
    classifier = _resolve_step(method.classifier, registry.classifier, f"{place}.classifier")
    selector = None
    if method.selector is not None:
        selector = _resolve_step(method.selector, registry.selector, f"{place}.selector")
    elif "top" in method.model_fields_set:
        raise SuiteError(f"{place}.top: 'top' needs a selector; add selector = … or leave it out")
    registered = {"classifier": registry.classifier(classifier.expression.name)}
    if selector is not None:
        registered["selector"] = registry.selector(selector.expression.name)
    grid = _resolve_grid(method, registered, f"{place}.tune")
    return ResolvedMethod(method.label, selector, classifier, "all" if selector is None else method.top, grid)


def _resolve_step(text: str, find: Any, place: str) -> Step:
    try:
        expression = parse(text)
        registered: Registered = find(expression.name)
        check_parameters(registered, expression.params)
    except UsageError as error:
        raise SuiteError(f"{place}: {error}") from None
    spec = registered.spec
    return Step(expression, isinstance(spec, SelectorSpec) and spec.raw_input)


def _resolve_grid(
    method: Method, registered: Mapping[str, Registered], place: str
) -> tuple[tuple[str, str, tuple[Any, ...]], ...]:
    if method.tune is None:
        return ()
    if method.tune == "default":
        fixed = {"classifier": parse(method.classifier).params, "selector": parse(method.selector or "none").params}
        return tuple(
            (target, name, tuple(values))
            for target in ("selector", "classifier")
            if target in registered
            for name, values in registered[target].spec.grid.items()
            if name not in fixed[target]  # what the suite fixes is not tuned
        )
    return tuple((*_resolve_key(key, method, registered, place), tuple(values)) for key, values in method.tune.items())


def _resolve_key(key: str, method: Method, registered: Mapping[str, Registered], place: str) -> tuple[str, str]:
    if key == TOP:
        if "selector" not in registered:
            raise SuiteError(f"{place}.top: 'top' needs a selector")
        _check_top_values(method.tune, place)
        return TOP, TOP
    target, dot, name = key.partition(".")
    if dot:
        if target not in registered:
            raise SuiteError(f"{place}.{key}: write selector.NAME or classifier.NAME of a step that the method has")
        try:
            check_parameters(registered[target], [name])
        except UsageError as error:
            raise SuiteError(f"{place}: {error}") from None
        return target, name
    owners = [target for target, spec in registered.items() if key in parameter_names(spec)]
    if len(owners) == 1:
        return owners[0], key
    if owners:
        raise SuiteError(
            f"{place}.{key}: both steps have a parameter {key!r}; write selector.{key} or classifier.{key}"
        )
    known = [name for spec in registered.values() for name in parameter_names(spec)]
    raise SuiteError(f"{place}.{key}: no step of this method has a parameter {key!r}{suggestion(key, known)}")


def _check_top_values(tune: Any, place: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    rule: TypeAdapter[Top] = TypeAdapter(Top)
    for value in tune[TOP]:
        try:
            rule.validate_python(value, strict=True)
        except ValidationError:
            raise SuiteError(
                f"{place}.top: found {value!r}, expected 'positive', 'all', 'all-weighted', a count of at least 1 or a "
                "fraction up to 1.0"
            ) from None


@dataclass(frozen=True)
class _Reference:
    text: str
    target: str | None
    categorical: Sequence[str] | None
    folder: Path


def resolve_datasets(loaded: LoadedSuite, registry: Registry) -> dict[str, _Reference]:
    """Check the names of a suite's datasets, without loading them; the label in tables is the reference itself."""
    found: dict[str, _Reference] = {}
    for position, group in enumerate(loaded.suite.datasets):
        for index, text in enumerate(group.use):
            place = f"{loaded.path}: datasets[{position}].use[{index}]"
            folder = loaded.path.resolve().parent
            is_file = text.startswith("file:")
            if (group.target is not None or group.categorical is not None) and not is_file:
                raise SuiteError(
                    f"{place}: 'target' and 'categorical' are for 'file:' datasets; {text!r} is a registered one"
                )
            try:
                check_reference(text, registry, folder)
            except UsageError as error:
                raise SuiteError(f"{place}: {error}") from None
            label = Path(text).name if is_file else text
            if label in found:
                raise SuiteError(f"{place}: {label!r} is listed twice")
            found[label] = _Reference(text, group.target, group.categorical, folder)
    return found


def _restrict(
    methods: dict[str, ResolvedMethod], references: dict[str, _Reference], only: Sequence[str]
) -> tuple[dict[str, ResolvedMethod], dict[str, _Reference]]:
    chosen: list[set[str]] = []
    for names in (list(methods), list(references)):
        matches = {name for pattern in only for name in names if fnmatch.fnmatchcase(name, pattern)}
        chosen.append(matches or set(names))
    for pattern in only:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in [*methods, *references]):
            raise UsageError(f"--only {pattern!r} matches no dataset and no method of this suite")
    return (
        {label: method for label, method in methods.items() if label in chosen[0]},
        {label: reference for label, reference in references.items() if label in chosen[1]},
    )


def _add_dataset(plan: Plan, label: str, reference: _Reference, registry: Registry) -> None:
    """Load a dataset into the plan; one that cannot be used is left out with the reason, the others go on."""
    settings = plan.loaded.protocol
    try:
        data = load(
            reference.text,
            registry,
            folder=reference.folder,
            target=reference.target,
            categorical=reference.categorical,
        )
        data = restrict_classes(data, settings.classes)
        plan.protocol.splits(label, data.y, 0)
    except DataError as error:
        plan.left_out[label] = str(error)
        plan.failed_datasets.append(label)
        return
    plan.datasets[label] = PlannedDataset(label, data, content_hash(data))


def _trials(plan: Plan, planned: PlannedDataset, registry: Registry) -> list[Trial]:
    settings = plan.loaded.protocol
    seed = plan.loaded.suite.suite.seed
    trials = []
    bases = {}
    for method in plan.methods.values():
        ingredients = key_ingredients(planned, method, settings, registry)
        plan.ingredients[planned.label, method.label] = ingredients
        bases[method.label] = hashlib.sha256(json.dumps(ingredients, sort_keys=True, default=repr).encode())
    for repeat, fold in plan.protocol.coordinates():
        for method in plan.methods.values():
            digest = bases[method.label].copy()
            digest.update(json.dumps([planned.label, method.label, repeat, fold, seed]).encode())
            trial_seed = derive_seed(seed, planned.label, method.label, repeat, fold)
            trials.append(Trial(digest.hexdigest()[:32], planned.label, method.label, repeat, fold, trial_seed))
    return trials


def key_ingredients(
    planned: PlannedDataset, method: ResolvedMethod, settings: Protocol, registry: Registry
) -> dict[str, Any]:
    """Return everything that determines a trial's result, besides its coordinates and seeds.

    Dataset content, method and parameters, protocol, the code of the plugins involved (version and file hashes), the
    host's own code that computes results, and the versions of the numeric libraries. Time and memory limits are left
    out: they decide whether there is a result, not which.

    Returns
    -------
    dict
        Plain values; ``mfbench suite --explain-key`` prints it.
    """
    code = dict(method_code(registry.classifier(method.classifier.expression.name)))
    steps = {"classifier": _step_ingredients(method.classifier, registry.classifier)}
    if method.selector is not None:
        code |= method_code(registry.selector(method.selector.expression.name))
        steps["selector"] = _step_ingredients(method.selector, registry.selector)
    relevant = settings.model_dump(include={"kind", "folds", "inner_folds", "scale", "classes", "metrics"})
    if not method.grid:
        relevant.pop("inner_folds")
    return {
        "dataset": planned.sha256,
        "steps": steps,
        "top": method.top,
        "grid": method.grid,
        "protocol": relevant,
        "code": code,
        "host": host_code(),
        "libraries": numeric_versions(),
    }


def _step_ingredients(step: Step, find: Any) -> dict[str, Any]:
    spec = find(step.expression.name).spec
    factory = (
        spec.factory if isinstance(spec.factory, str) else f"{spec.factory.__module__}:{spec.factory.__qualname__}"
    )
    return {"expression": step.expression.canonical(), "factory": factory, "defaults": dict(spec.defaults)}
