"""The methods of a plan: selector and classifier, looked up and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mfbench.host.expressions import Expression
from mfbench.suite.curves import describe_curve
from mfbench.suite.schema import Curve, Selection, Top, Weights

TOP = "top"
SHOWN_VALUES = 6  # of each grid in a description
# The values to tune: (target, parameter, values) with the target "selector", "classifier" or "top".
Grid = tuple[tuple[str, str, tuple[Any, ...]], ...]


@dataclass(frozen=True)
class Step:
    """A selector or classifier of a method, resolved."""

    expression: Expression  # name and parameters; the name is one that the registry lists
    raw_input: bool = False  # for selectors: whether it is fitted on unencoded columns
    numbers: bool = False  # for selectors: whether it is fitted on numbers if the dataset has a numeric response
    # The parameter along which one fit serves all values, and the name of the method that takes a value: a selector's
    # returns weights, a classifier's another fitted classifier.
    path: tuple[str, str] | None = None
    written: Expression | None = None  # as in the suite; None if that is `expression`

    def __str__(self) -> str:
        return str(self.written or self.expression)

    @property
    def title(self) -> str:
        """Its name in messages: as in the suite, without a package."""
        return (self.written or self.expression).bare_name


@dataclass(frozen=True)
class ResolvedMethod:
    """A method of a suite after its names and parameters have been looked up and checked."""

    label: str  # its name in tables
    selector: Step | None
    classifier: Step | None  # none only if the protocol predicts nothing
    top: Top | Literal["relevant"]  # the rule that turns weights into a subset
    grid: Grid = ()  # the values to tune; the target is "selector", "classifier" or "top"
    selection: Selection = "nested"  # how the grid point is selected; "nested" for a method without a grid
    weights: Weights | None = None  # the distance in which the weights of the kept features count
    curve: Curve | None = None  # the numbers of features at which it is scored; `top` is then "all"

    def describe(self) -> str:
        """Return the whole definition in one line: steps with their parameters, and the values that are tried."""
        parts = [str(step) for step in (self.selector, self.classifier) if step is not None]
        rules = [] if self.weights is None else [f"weighted ({self.weights})"]
        if self.curve is not None:
            rules.insert(0, describe_curve(self.curve))
        # A classifier alone has a rule only if nothing is predicted and its weights are used.
        elif (self.selector is not None or self.top != "all") and TOP not in {target for target, _, _ in self.grid}:
            rules.insert(0, f"top {self.top}")
        if rules:
            parts.insert(1, ", ".join(rules))
        scope = ["per dataset"] if self.selection == "per-dataset" else []
        return " → ".join(parts) + _tuned(self.grid, scope)

    @property
    def described_classifier(self) -> str:
        """The classifier with its parameters and the values of its own that are tried; empty without a classifier."""
        own = tuple(entry for entry in self.grid if entry[0] == "classifier")
        return "" if self.classifier is None else f"{self.classifier}{_tuned(own)}"


def _tuned(grid: Grid, scope: Sequence[str] = ()) -> str:
    """Return the values that are tried, in brackets; empty without any."""
    names = [name for _, name, _ in grid]
    tuned = [
        f"{f'{target}.{name}' if names.count(name) > 1 else name} {_shown(values)}" for target, name, values in grid
    ]
    return f" [tunes {'; '.join([*tuned, *scope])}]" if tuned else ""


def _shown(values: tuple[Any, ...]) -> str:
    """Return the values of a grid; of a long one the ends and their number."""
    if len(values) > SHOWN_VALUES:
        return f"{values[0]} … {values[-1]} ({len(values)} values)"
    return ", ".join(map(str, values))
