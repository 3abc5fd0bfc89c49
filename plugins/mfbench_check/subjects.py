"""What is checked: a plugin, or something that it registers, with the methods that checks share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mfbench.errors import UnknownNameError, describe_error
from mfbench.host.expressions import Expression
from mfbench.host.factories import parameter_names
from mfbench.host.names import normalized
from mfbench.host.registered import Plugin, Registered
from mfbench.host.registry import Registry
from mfbench_check.samples import sample
from mfbench_check.verdicts import CheckFailedError, NotApplicableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["plugin", "selector", "classifier", "dataset", "suite"]
LINES = 10  # of a snippet


@dataclass(frozen=True)
class Subject:
    """Something that a plugin registers, or the plugin itself, by name: plain data for other processes."""

    kind: Kind
    name: str  # as a user must write it
    plugin: Plugin


@dataclass(frozen=True)
class Opened:
    """A subject in the process that checks it."""

    subject: Subject
    registry: Registry
    seed: int = 0  # of everything random in the checks

    @property
    def name(self) -> str:
        """The name of the subject."""
        return self.subject.name

    @property
    def kind(self) -> Kind:
        """The kind of the subject."""
        return self.subject.kind

    @property
    def path(self) -> Path:
        """The file of a suite."""
        # Here its name need not be ambiguous: this process has loaded fewer plugins than the one that named it.
        return self.registry.suites()[self.registry.suite_names.resolve(self.name)]

    @property
    def registered(self) -> Registered:
        """The spec of a selector, classifier or dataset, and its plugin."""
        lookups = {
            "selector": self.registry.selector,
            "classifier": self.registry.classifier,
            "dataset": self.registry.dataset,
        }
        return lookups[self.kind](self.name)

    @property
    def spec(self) -> Any:
        """The spec of a selector, classifier or dataset."""
        return self.registered.spec

    def rng(self) -> np.random.Generator:
        """Return a new generator, the same in every check."""
        return np.random.default_rng(self.seed)

    def sample(self, name: str = "two-classes") -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return a table of this run of checks; see `mfbench_check.samples.sample`."""
        return sample(name, self.seed)

    def settings(self, **overrides: Any) -> dict[str, Any]:
        """Return the parameters that checks set: those of the spec, and a seed where the estimator accepts one."""
        accepted = parameter_names(self.registered)
        seed = {"random_state": self.seed} if "random_state" in accepted else {}
        return {**seed, **self.spec.check_parameters, **overrides}

    def make(self, **overrides: Any) -> Any:
        """Build the estimator as checks use it."""
        kind = "selector" if self.kind == "selector" else "classifier"
        return self.registry.make(Expression(self.name, self.settings(**overrides)), kind)

    def tuned_path(self) -> tuple[str, str, list[Any]]:
        """Return the parameter and the method of a spec's path, and the values of the parameter in its grid."""
        if self.spec.path is None:
            raise NotApplicableError("its spec has no path")
        parameter, name = self.spec.path
        values = list(self.spec.grid.get(parameter, ()))
        if not values:
            raise CheckFailedError(f"values of {parameter} in the grid, which its path is for", "there are none")
        return parameter, name, values

    def fit(self, X: Any, y: Any, **overrides: Any) -> Any:
        """Build and fit the estimator."""
        estimator = self.make(**overrides)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                estimator.fit(np.array(X), np.array(y))
        except Exception as error:
            raise CheckFailedError("a fit on ordinary data", f"fit raised {describe_error(error)}") from error
        return estimator

    def weights(self, X: Any, y: Any, **overrides: Any) -> NDArray[np.float64]:
        """Fit a selector and return its importances as floats."""
        return np.asarray(self.fit(X, y, **overrides).feature_importances_, dtype=np.float64)

    def predictions(self, X: Any, y: Any, X_test: Any, **overrides: Any) -> NDArray[Any]:
        """Fit a classifier and return the classes that it predicts for test rows."""
        estimator = self.fit(X, y, **overrides)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return np.asarray(estimator.predict(np.array(X_test)))
        except Exception as error:
            raise CheckFailedError(
                "predictions for ordinary data", f"predict raised {describe_error(error)}"
            ) from error

    def answer(self, X: Any, y: Any, X_test: Any, **overrides: Any) -> NDArray[Any]:
        """Return what the method is about: the weights of a selector, the predictions of a classifier."""
        if self.kind == "selector":
            return self.weights(X, y, **overrides)
        return self.predictions(X, y, X_test, **overrides)

    def snippet(self, *lines: str, table: str = "two-classes", **overrides: Any) -> str:
        """Return Python code that shows a failure."""
        text = str(Expression(self.name, self.settings(**overrides)))
        head = [
            "import mfbench, numpy as np",
            "from mfbench.testing import sample",
            f"X, y = sample({table!r}, seed={self.seed})",
            f"method = mfbench.make({text!r}, kind={self.kind!r})",
        ]
        code = [*head, *lines]
        if len(code) > LINES:
            raise ValueError(f"the snippet of {self.name!r} has {len(code)} lines, more than {LINES}")
        return "\n".join(code)


def subjects_of(registry: Registry, names: Sequence[str] = (), package: str | None = None) -> list[Subject]:
    """Return what to check."""
    everything = list(_all(registry))
    packages = {one.plugin.package for one in everything}
    if package is not None:
        everything = [one for one in everything if normalized(one.plugin.package) == normalized(package)]
        if not everything:
            raise UnknownNameError("package", package, packages, "see 'mfbench plugins'")
    chosen: dict[Subject, None] = {}
    for name in names:
        matches = [one for one in everything if name in (one.name, one.name.partition("@")[0])]
        plain = normalized(name)
        whole = [one for one in everything if plain in map(normalized, (one.plugin.name, one.plugin.package))]
        if not matches and not whole:
            existing = {text for one in everything for text in (one.name, one.plugin.name, one.plugin.package)}
            raise UnknownNameError("method, dataset, suite or plugin", name, existing, "see 'mfbench plugins'")
        chosen |= dict.fromkeys([*matches, *whole])
    return list(chosen) if names else everything


def _all(registry: Registry) -> Iterator[Subject]:
    left_out = (problem.plugin for problem in registry.problems.records)  # whole plugins, or parts of those above
    for plugin in dict.fromkeys([*registry.plugins.values(), *left_out]):
        yield Subject("plugin", plugin.name, plugin)
    tables: Mapping[Kind, Mapping[str, Registered]] = {
        "selector": registry.selectors,
        "classifier": registry.classifiers,
        "dataset": registry.datasets,
    }
    for kind, table in tables.items():
        for name, registered in table.items():
            yield Subject(kind, name, registered.plugin)
    for folder, plugin in registry.suite_folders:
        for name, path in registry.suites().items():
            if path.parent.resolve() == folder.resolve():
                yield Subject("suite", name, plugin)
