"""The methods of a plan: selector and classifier, resolved and checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mfbench.data.reference import RegisteredReference
from mfbench.errors import SuiteError, suggestion
from mfbench.host.expressions import Expression, Registered, parse
from mfbench.host.factories import check_parameters, parameter_names
from mfbench.model.specs import Dataset
from mfbench.suite.protocols import EvaluationProtocol, Split, checked_splits
from mfbench.suite.schema import Classes, Curve, Method, Range, Search, Selection, Size, SizeRange, Top, Weights
from mfbench.suite.search import Axis, Grid
from mfbench.suite.splitters import DatasetSplits, Structure
from mfbench.suite.validation_messages import at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN_SIZES = 10  # of a list in a description


def count_of(size: str | int | float, n_features: int) -> int:
    """Return the number of features for a size; fractions are rounded up, as everywhere."""
    if isinstance(size, float):
        return math.ceil(size * n_features - 1e-9)
    return n_features if size == "all" else int(size)


def curve_sizes(curve: Curve, n_features: int) -> tuple[int, ...]:
    """Return the sizes of a curve on a dataset in ascending order."""
    if isinstance(curve, SizeRange):
        sizes = _between(_bounded(curve.first, n_features), _bounded(curve.last, n_features), curve)
    else:
        sizes = [_bounded(size, n_features) for size in curve]
    return tuple(sorted(set(sizes)))


def _bounded(size: Size, n_features: int) -> int:
    return max(1, min(count_of(size, n_features), n_features))


def _between(first: int, last: int, curve: SizeRange) -> list[int]:
    shares = [step / (curve.count - 1) for step in range(curve.count)]
    if curve.spacing == "log":
        return [round(first * (last / first) ** share) for share in shares]
    return [round(first + (last - first) * share) for share in shares]


def describe_curve(curve: Curve) -> str:
    """Return the description of a curve, as part of the method's."""
    if isinstance(curve, SizeRange):
        spacing = "" if curve.spacing == "log" else f", {curve.spacing}"
        return f"curve {curve.first} … {curve.last} ({curve.count} sizes{spacing})"
    if len(curve) > SHOWN_SIZES:
        return f"curve {curve[0]} … {curve[-1]} ({len(curve)} sizes)"
    return f"curve {', '.join(map(str, curve))}"


TOP = "top"
SHOWN_VALUES = 6  # of each grid in a description


@dataclass(frozen=True)
class Step:
    """A selector or learner of a method, resolved."""

    expression: Expression  # name and parameters; the registry lists this name
    kind: str  # "selector", or the kind of learner
    raw_input: bool = False  # for selectors: whether it is fitted on unencoded columns
    numbers: bool = False  # for selectors: whether it is fitted on numbers if the dataset has a numeric response
    # The parameter for which one fit serves all values, and the name of the method that takes a value: a selector's
    # returns weights, a classifier's returns another fitted classifier.
    path: tuple[str, str] | None = None
    written: Expression | None = None  # as in the suite; None if equal to `expression`
    task: Mapping[str, Any] = field(default_factory=dict)  # what it takes in the suite's task unless the suite sets it

    def __str__(self) -> str:
        return str(self.written or self.expression)

    @property
    def title(self) -> str:
        """Its name in messages: as in the suite, without a package."""
        return (self.written or self.expression).bare_name


@dataclass(frozen=True)
class ResolvedMethod:
    """A method of a suite with its names and parameters resolved and checked."""

    label: str  # name in tables
    selector: Step | None
    learner: Step | None  # a classifier or regressor; None only if the protocol predicts nothing
    top: Top | Literal["relevant"]  # the rule that turns weights into a subset
    grid: Grid = ()  # values to tune; the target is the kind of a step, or "top"
    selection: Selection = "nested"  # how the grid point is selected; "nested" for a method without a grid
    weights: Weights | None = None  # the distance that the weights of the kept features scale
    curve: Curve | None = None  # numbers of features at which the method is scored; `top` is then "all"
    search: Search | None = None  # which points of the grid are tried; None for all

    @property
    def steps(self) -> list[Step]:
        """The steps that it has: selector, then learner."""
        return [step for step in (self.selector, self.learner) if step is not None]

    def describe(self) -> str:
        """Return the whole definition in one line: steps with parameters, and the grid."""
        parts = [str(step) for step in self.steps]
        rules = [] if self.weights is None else [f"weighted ({self.weights})"]
        if self.curve is not None:
            rules.insert(0, describe_curve(self.curve))
        # A learner alone has a rule only if nothing is predicted and its own weights are used.
        elif (self.selector is not None or self.top != "all") and TOP not in {target for target, _, _ in self.grid}:
            rules.insert(0, f"top {self.top}")
        if rules:
            parts.insert(1, ", ".join(rules))
        scope = ["per dataset"] if self.selection == "per-dataset" else []
        return " → ".join(parts) + _tuned(self.grid, scope, self.search)

    @property
    def described_learner(self) -> str:
        """The learner with its parameters and its part of the grid; empty without a learner."""
        own = tuple(entry for entry in self.grid if entry[0] not in ("selector", TOP))
        return "" if self.learner is None else f"{self.learner}{_tuned(own)}"


def _tuned(grid: Grid, scope: Sequence[str] = (), search: Search | None = None) -> str:
    """Return the grid in brackets; empty without one."""
    names = [name for _, name, _ in grid]
    tuned = [
        f"{f'{target}.{name}' if names.count(name) > 1 else name} {_shown(values)}" for target, name, values in grid
    ]
    how = "tunes"
    if search is not None:
        how = f"random search, {search.n} of" if search.n else f"successive halving by {search.factor} of"
    return f" [{how} {'; '.join([*tuned, *scope])}]" if tuned else ""


def _shown(values: Axis) -> str:
    """Return the values of a grid; a long one is abbreviated to its ends and its length."""
    if isinstance(values, Range):
        log = "log-" if values.spacing == "log" else ""
        return f"{log}uniform {values.first:.12g} to {values.last:.12g}"
    if len(values) > SHOWN_VALUES:
        return f"{values[0]} … {values[-1]} ({len(values)} values)"
    return ", ".join(map(str, values))


def resolve_grid(method: Method, registered: Mapping[str, Registered], location: str) -> Grid:
    """Return the grid of a method; empty without tuning."""
    if method.tune is None:
        return ()
    if method.tune == "default":
        fixed = {kind: parse(text).params for kind, text in method.steps.items()}
        return tuple(
            (target, name, tuple(values))
            for target in method.steps
            for name, values in registered[target].spec.grid.items()
            if name not in fixed[target]  # a parameter that the suite sets is not tuned
        )
    grid: dict[tuple[str, str], Axis] = {}
    names_so_far: set[tuple[str, str]] = set()
    for key, entry in method.tune.items():
        values: list[Any] = list(entry.values() if isinstance(entry, Range) else entry)
        target, names = _resolve_names(key, values, registered, location)
        for name in names:
            if (target, name) in names_so_far:
                raise SuiteError(f"{location}.{key}: {target}.{name} is tuned twice; name it once")
            names_so_far.add((target, name))
        together = len(names) > 1
        grid[target, ",".join(names)] = tuple(tuple(value) if together else value for value in values)
        if isinstance(entry, Range) and entry.count is None:
            if method.search is None or method.search.kind != "random":
                raise SuiteError(
                    f"{location}.{key}: a range without 'count' is for a random search; add count = … or search = "
                    "{ kind = 'random', n = 30 }"
                )
            grid[target, ",".join(names)] = entry
    return tuple((*owner, values) for owner, values in grid.items())


def thinned(values: Axis, count: int) -> Axis:
    """Return at most `count` values: the first, the last, and about evenly spaced ones between them."""
    if isinstance(values, Range) or len(values) <= count:
        return values
    if count == 1:
        return values[:1]
    return tuple(values[(2 * i * (len(values) - 1) + count - 1) // (2 * (count - 1))] for i in range(count))


def _resolve_names(
    key: str, values: Sequence[Any], registered: Mapping[str, Registered], location: str
) -> tuple[str, list[str]]:
    """Return the step and the parameters of a key; parameters separated by commas are tuned together."""
    parts = [part.strip() for part in key.split(",")]
    owners = [_resolve_key(part, values, registered, location) for part in parts]
    if len({target for target, _ in owners}) > 1:
        raise SuiteError(f"{location}.{key}: parameters that are tuned together must belong to one step")
    if len(parts) > 1:
        for value in values:
            if not isinstance(value, list) or len(value) != len(parts):
                raise SuiteError(f"{location}.{key}: found {value!r}, expected a list of {len(parts)} values")
    return owners[0][0], [name for _, name in owners]


def _resolve_key(
    key: str, values: Sequence[Any], registered: Mapping[str, Registered], location: str
) -> tuple[str, str]:
    if key == TOP:
        if "selector" not in registered:
            raise SuiteError(f"{location}.top: 'top' needs a selector")
        _check_top_values(values, location)
        return TOP, TOP
    target, dot, name = key.partition(".")
    if dot:
        if target not in registered:
            raise SuiteError(f"{location}.{key}: the method has no such step; write {_steps_of(registered)}")
        with at(location):
            check_parameters(registered[target], [name])
        return target, name
    owners = [target for target, spec in registered.items() if key in parameter_names(spec)]
    if len(owners) == 1:
        return owners[0], key
    if owners:
        steps = _steps_of(registered, key)
        raise SuiteError(f"{location}.{key}: both steps have a parameter {key!r}; write {steps}")
    names = [name for spec in registered.values() for name in parameter_names(spec)]
    raise SuiteError(f"{location}.{key}: no step of this method has a parameter {key!r}{suggestion(key, names)}")


def _steps_of(registered: Mapping[str, Registered], name: str = "NAME") -> str:
    return " or ".join(f"{kind}.{name}" for kind in sorted({"selector", *registered}, key="selector".__ne__))


def _check_top_values(values: Sequence[Any], location: str) -> None:
    from pydantic import TypeAdapter, ValidationError

    rule: TypeAdapter[Top] = TypeAdapter(Top)
    for value in values:
        try:
            rule.validate_python(value, strict=True)
        except ValidationError:
            raise SuiteError(
                f"{location}.top: found {value!r}, expected 'positive', 'all', 'all-weighted', a count of at least 1 "
                "or a fraction up to 1.0"
            ) from None


@dataclass(frozen=True)
class PlannedDataset:
    """A dataset as the trials see it (classes restricted): label in tables, content hash and collections."""

    # If every round generates its own data, `reference` is the generator, and `data` is an example with the truth and
    # with columns in canonical order. `location` is its origin, as in `mfbench.data.lookup.LoadedDataset`. `classes` is
    # the rule that selects the classes to keep; `dropped` counts the rows of the others by class.

    label: str
    data: Dataset
    sha256: str
    collections: Mapping[str, str] = field(default_factory=dict)
    reference: RegisteredReference | None = None
    location: str = ""
    classes: Classes = "all"
    dropped: Mapping[str, int] = field(default_factory=dict)
    structure: Structure | None = None  # its splitter, if it has one
    own_splits: DatasetSplits | None = None  # the facts about its splits if it has a splitter
    splitters: Sequence[Mapping[str, Any]] = ()  # what determines these splits, besides data and seed
    strata: NDArray[np.int64] | None = None  # codes whose shares stratified splits preserve; None for the classes

    def splits(self, protocol: EvaluationProtocol, repeat: int) -> list[Split]:
        """Return the splits of one repeat."""
        strata = self.data.y if self.strata is None else self.strata
        return checked_splits(protocol, self.label, strata, repeat, self.structure)
