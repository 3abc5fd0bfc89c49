"""Looking up what a suite names: every method and dataset exists, every parameter is one that its owner has.

Nothing is loaded or fitted here. Every mistake is one sentence with the file and the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mfbench.data.catalog import check_exists
from mfbench.data.lookup import Lookup
from mfbench.data.reference import FileReference, OpenMLSuiteReference, Reference, parse_reference
from mfbench.errors import DataError, PluginError, SuiteError, UsageError, suggestion
from mfbench.host.expressions import Expression, parse
from mfbench.host.factories import build, check_parameters, parameter_names
from mfbench.host.registered import Registered
from mfbench.host.registry import Registry
from mfbench.models import SelectorSpec
from mfbench.suite.forms import KINDS
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.schema import Method, ProtocolSettings, Range, Selection, Top

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
    numbers : bool
        For selectors: takes numbers for y where the truth is a number.
    path : (str, str) or None
        For selectors: the parameter along which one fit gives all weights, and the method that does.
    """

    expression: Expression
    raw_input: bool = False
    numbers: bool = False
    path: tuple[str, str] | None = None


@dataclass(frozen=True)
class ResolvedMethod:
    """A method of the suite with everything looked up and checked.

    Attributes
    ----------
    label : str
        Its name in tables.
    selector : Step or None
    classifier : Step or None
        None only where nothing is predicted.
    top : str, int or float
        The rule that turns weights into a subset.
    grid : tuple of (target, parameter, values)
        What tuning tries; target is "selector", "classifier" or "top".
    selection : {"nested", "per-dataset"}
        Who chooses among them; "nested" for a method without a grid.
    """

    label: str
    selector: Step | None
    classifier: Step | None
    top: Top | Literal["relevant"]
    grid: tuple[tuple[str, str, tuple[Any, ...]], ...] = ()
    selection: Selection = "nested"

    def describe(self) -> str:
        """Return the method in one line.

        Examples
        --------
        >>> ResolvedMethod("1NN", None, Step(parse("knn(n_neighbors=1)")), "all").describe()
        'knn(n_neighbors=1)'
        """
        parts = [str(step.expression) for step in (self.selector, self.classifier) if step is not None]
        # A classifier alone has a rule only where nothing is predicted and its weights are read.
        if (self.selector is not None or self.top != "all") and TOP not in {target for target, _, _ in self.grid}:
            parts.insert(1, f"top {self.top}")
        names = [name for _, name, _ in self.grid]
        tuned = ", ".join(f"{target}.{name}" if names.count(name) > 1 else name for target, name, _ in self.grid)
        where = " per dataset" if self.selection == "per-dataset" else ""
        return " → ".join(parts) + (f" [tunes {tuned}{where}]" if tuned else "")


def resolve_methods(loaded: LoadedSuite, registry: Registry) -> tuple[dict[str, ResolvedMethod], dict[str, str]]:
    """Look up and check the methods of a suite; every mistake names the file and the key.

    Returns
    -------
    resolved : dict of str to ResolvedMethod
    left_out : dict of str to str
        Methods whose plugin cannot import them, each with the reason; with a strict registry that is an error.
    """
    resolved: dict[str, ResolvedMethod] = {}
    left_out: dict[str, str] = {}
    for position, method in enumerate(loaded.suite.methods):
        place = f"{loaded.path}: methods[{position}]"
        try:
            if KINDS[loaded.protocol.kind].predicts:
                resolved[method.label] = _resolve_method(method, place, registry, loaded.protocol)
            else:
                resolved[method.label] = resolve_detector(method, place, registry)
        except PluginError as error:
            if registry.strict:
                raise
            left_out[method.label] = str(error)
    return resolved, left_out


def _resolve_method(method: Method, place: str, registry: Registry, protocol: ProtocolSettings) -> ResolvedMethod:
    _check_tuning(method, place, protocol.kind)
    assert method.classifier is not None  # reading the suite has refused it
    if method.top == "relevant":
        raise SuiteError(f"{place}.top: only the protocol 'ground-truth' knows how many features are relevant")
    classifier = _resolve_step(method.classifier, registry.classifier, f"{place}.classifier")
    selector = None
    if method.selector is not None:
        selector = _resolve_step(method.selector, registry.selector, f"{place}.selector")
    elif "top" in method.model_fields_set:
        raise SuiteError(f"{place}.top: 'top' needs a selector; add selector = … or leave it out")
    if method.selection is not None and method.tune is None:
        raise SuiteError(f"{place}.selection: 'selection' needs something to choose from; add tune = … or leave it out")
    registered = {"classifier": registry.classifier(classifier.expression.name)}
    if selector is not None:
        registered["selector"] = registry.selector(selector.expression.name)
    grid = _resolve_grid(method, registered, f"{place}.tune")
    if protocol.grid_values is not None:
        grid = tuple((owner, name, thinned(values, protocol.grid_values)) for owner, name, values in grid)
    top = "all" if selector is None else method.top
    # Without a grid nothing is chosen: the mode must not make two equal methods different.
    chosen = (method.selection or protocol.selection or "nested") if grid else "nested"
    return ResolvedMethod(method.label, selector, classifier, top, grid, chosen)


def _check_tuning(method: Method, place: str, kind: str) -> None:
    """Refuse what the protocol cannot do: choices of the outer folds where it has a part to choose by, for example."""
    if method.tune is not None and not KINDS[kind].tunes:
        raise SuiteError(
            f"{place}.tune: the protocol {kind!r} measures one fit and tunes nothing; give parameters in the expression"
        )
    if method.selection is not None and "selection" not in KINDS[kind].sound:
        raise SuiteError(f"{place}.selection: the protocol {kind!r} has its own way of choosing; leave 'selection' out")


def resolve_detector(method: Method, place: str, registry: Registry) -> ResolvedMethod:
    """Look up a method of the protocol ``ground-truth``: a selector, or a classifier that weighs features."""
    if (method.selector is None) == (method.classifier is None):
        raise SuiteError(
            f"{place}: the protocol 'ground-truth' predicts nothing: give either a selector, or a classifier whose "
            "weights are read"
        )
    if method.tune is not None or method.selection is not None:
        key = "tune" if method.tune is not None else "selection"
        raise SuiteError(
            f"{place}.{key}: the protocol 'ground-truth' predicts nothing that could choose; set the parameters in the "
            "selector"
        )
    if method.top == "all-weighted":
        raise SuiteError(f"{place}.top: 'all-weighted' is for classifiers; the protocol 'ground-truth' has none")
    if method.selector is not None:
        step = _resolve_step(method.selector, registry.selector, f"{place}.selector")
        numbers = takes_numbers(registry.selector(step.expression.name))
        return ResolvedMethod(method.label, replace(step, numbers=numbers), None, method.top)
    step = _resolve_step(method.classifier or "", registry.classifier, f"{place}.classifier")
    return ResolvedMethod(method.label, None, step, method.top)


def takes_numbers(registered: Registered) -> bool:
    """Tell whether a selector is given numbers for y: its spec says so, or else scikit-learn's tags."""
    spec = registered.spec
    assert isinstance(spec, SelectorSpec)
    if spec.targets:
        return spec.targets == "numbers"
    from sklearn.utils import get_tags

    estimator = build(registered, {})
    return hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).estimator_type == "regressor"


def _resolve_step(text: str, find: Any, place: str) -> Step:
    try:
        expression = parse(text)
        registered: Registered = find(expression.name)
        check_parameters(registered, expression.params)
    except UsageError as error:
        raise SuiteError(f"{place}: {error}") from None
    spec = registered.spec
    return Step(expression, spec.raw_input, path=spec.path) if isinstance(spec, SelectorSpec) else Step(expression)


def _resolve_grid(
    method: Method, registered: Mapping[str, Registered], place: str
) -> tuple[tuple[str, str, tuple[Any, ...]], ...]:
    if method.tune is None:
        return ()
    if method.tune == "default":
        fixed = {
            "classifier": parse(method.classifier or "none").params,
            "selector": parse(method.selector or "none").params,
        }
        return tuple(
            (target, name, tuple(values))
            for target in ("selector", "classifier")
            if target in registered
            for name, values in registered[target].spec.grid.items()
            if name not in fixed[target]  # what the suite fixes is not tuned
        )
    grid: dict[tuple[str, str], tuple[Any, ...]] = {}
    named: set[tuple[str, str]] = set()
    for key, listed in method.tune.items():
        values: list[Any] = list(listed.values() if isinstance(listed, Range) else listed)
        target, names = _resolve_names(key, values, registered, place)
        for name in names:
            if (target, name) in named:
                raise SuiteError(f"{place}.{key}: {target}.{name} is tuned twice; name it once")
            named.add((target, name))
        together = len(names) > 1
        grid[target, ",".join(names)] = tuple(tuple(value) if together else value for value in values)
    return tuple((*owner, values) for owner, values in grid.items())


def thinned(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return at most `count` of the values: the first, the last, and those at about equal distances between.

    Examples
    --------
    >>> thinned((4.0, 2.0, 1.0, 0.5, 0.25, 0.125), 3)
    (4.0, 0.5, 0.125)
    >>> thinned((1, 3, 5), 1)
    (1,)
    """
    if len(values) <= count:
        return values
    if count == 1:
        return values[:1]
    return tuple(values[(2 * i * (len(values) - 1) + count - 1) // (2 * (count - 1))] for i in range(count))


def _resolve_names(
    key: str, values: Sequence[Any], registered: Mapping[str, Registered], place: str
) -> tuple[str, list[str]]:
    """Return the step and the parameters of a key; several, parted by commas, are tuned together."""
    parts = [part.strip() for part in key.split(",")]
    owners = [_resolve_key(part, values, registered, place) for part in parts]
    if len({target for target, _ in owners}) > 1:
        raise SuiteError(f"{place}.{key}: what is tuned together belongs to one step")
    if len(parts) > 1:
        for value in values:
            if not isinstance(value, list) or len(value) != len(parts):
                raise SuiteError(f"{place}.{key}: found {value!r}, expected a list of {len(parts)} values")
    return owners[0][0], [name for _, name in owners]


def _resolve_key(key: str, values: Sequence[Any], registered: Mapping[str, Registered], place: str) -> tuple[str, str]:
    if key == TOP:
        if "selector" not in registered:
            raise SuiteError(f"{place}.top: 'top' needs a selector")
        _check_top_values(values, place)
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


def _check_top_values(values: Sequence[Any], place: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    rule: TypeAdapter[Top] = TypeAdapter(Top)
    for value in values:
        try:
            rule.validate_python(value, strict=True)
        except ValidationError:
            raise SuiteError(
                f"{place}.top: found {value!r}, expected 'positive', 'all', 'all-weighted', a count of at least 1 or a "
                "fraction up to 1.0"
            ) from None


@dataclass(frozen=True)
class DatasetEntry:
    """A dataset as a suite lists it.

    Attributes
    ----------
    reference : Reference
    place : str
        File and key, for messages.
    """

    reference: Reference
    place: str


def resolve_datasets(loaded: LoadedSuite, registry: Registry, lookup: Lookup | None = None) -> dict[str, DatasetEntry]:
    """Check the names of a suite's datasets, without loading them.

    The label in tables is the reference itself; that of a file is the last part of its path if no other file has it. An
    OpenML suite is replaced by its datasets; if its list is unavailable it stays, to be left out with the reason.

    Returns
    -------
    dict of str to DatasetEntry
        By label.
    """
    lookup = lookup or Lookup()
    entries = _parse_entries(loaded, registry)
    file_names = Counter(_file_name(entry.reference) for entry in entries)
    resolved: dict[str, DatasetEntry] = {}
    for entry in entries:
        reference = entry.reference
        if isinstance(reference, OpenMLSuiteReference):
            for member in _members(reference, lookup):
                resolved.setdefault(member.text, replace(entry, reference=member))
        else:
            name = _file_name(reference)
            resolved[name if name and file_names[name] == 1 else reference.text] = entry
    return resolved


def _parse_entries(loaded: LoadedSuite, registry: Registry) -> list[DatasetEntry]:
    """Return the datasets of a suite in its order; each must exist and be listed once."""
    folder = loaded.path.resolve().parent
    entries: dict[str, DatasetEntry] = {}
    for position, group in enumerate(loaded.suite.datasets):
        for index, text in enumerate(group.use):
            place = f"{loaded.path}: datasets[{position}].use[{index}]"
            try:
                reference = parse_reference(text, folder=folder, target=group.target, categorical=group.categorical)
                check_exists(reference, registry)
            except UsageError as error:
                raise SuiteError(f"{place}: {error}") from None
            if reference.identity in entries:
                other = entries[reference.identity].reference.text
                also = "" if other == text else f", also as {other!r}"
                raise SuiteError(f"{place}: {text!r} is listed twice{also}")
            entries[reference.identity] = DatasetEntry(reference, place)
    return list(entries.values())


def _file_name(reference: Reference) -> str:
    return reference.path.name if isinstance(reference, FileReference) else ""


def _members(reference: OpenMLSuiteReference, lookup: Lookup) -> Sequence[Reference]:
    """Return the datasets of an OpenML suite, or the suite itself if its list is unavailable."""
    try:
        return lookup.suite(reference)
    except DataError:
        return [reference]
