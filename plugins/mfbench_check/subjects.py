"""The subjects of checks: a plugin or something that it registers, with methods shared by the checks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mfbench.data.prepare import Columns, Scale
from mfbench.errors import UnknownNameError, describe_error
from mfbench.host.expressions import Expression, Plugin, Registered, normalized
from mfbench.host.factories import parameter_names
from mfbench.host.registry import Registry
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench_check.catalog import SPECS, Kind
from mfbench_check.display import CheckFailedError, NotApplicableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Table = tuple["NDArray[np.float64]", "NDArray[Any]"]

N_ROWS, N_FEATURES = 60, 6


def sample(name: str = "two-classes", seed: int = 0, *, numbers: bool = False) -> Table:
    """Return a small table for fitting methods; the numbers are the classes plus the first feature, scaled to 1."""
    if name not in SAMPLES:
        raise UnknownNameError("sample", name, SAMPLES)
    X, y = SAMPLES[name](np.random.default_rng(seed))
    return X, y + np.nan_to_num(X[:, 0] / np.nanmax(np.abs(X[:, 0]))) if numbers else y


def shifted(rng: np.random.Generator, n_samples: int, n_features: int, n_classes: int) -> Table:
    """Return classes that differ in the means of the first two features, of equal size up to one row."""
    y = rng.permutation(np.arange(n_samples) % n_classes).astype(np.int64)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 0] += 1.5 * y
    if n_features > 1:
        X[:, 1] -= 1.0 * y
    return X, y


def _missing(rng: np.random.Generator) -> Table:
    X, y = shifted(rng, N_ROWS, N_FEATURES, 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def _single_row(rng: np.random.Generator) -> Table:
    X, y = shifted(rng, N_ROWS, N_FEATURES, 2)
    y[0] = 2
    return X, y


def _scaled(factor: float) -> Callable[[np.random.Generator], Table]:
    def make(rng: np.random.Generator) -> Table:
        X, y = shifted(rng, N_ROWS, N_FEATURES, 2)
        return X * factor, y

    return make


SAMPLES: dict[str, Callable[[np.random.Generator], Table]] = {
    "two-classes": lambda rng: shifted(rng, N_ROWS, N_FEATURES, 2),
    "three-classes": lambda rng: shifted(rng, N_ROWS, N_FEATURES, 3),
    "many-classes": lambda rng: shifted(rng, N_ROWS, N_FEATURES, 12),
    "one-feature": lambda rng: shifted(rng, N_ROWS, 1, 2),
    "more-features-than-rows": lambda rng: shifted(rng, 20, 40, 2),
    "one-row-of-a-class": _single_row,
    "missing-values": _missing,
    "tiny-scale": _scaled(1e-150),
    "huge-scale": _scaled(1e150),
}


LINES = 10  # maximum number of lines in a snippet


@dataclass(frozen=True)
class Subject:
    """A plugin or something that it registers, by name: plain data that can be sent to other processes."""

    kind: Kind
    name: str  # as a user must write it
    plugin: Plugin


@dataclass(frozen=True)
class Opened:
    """A subject in the process that checks it."""

    subject: Subject
    registry: Registry
    seed: int = 0  # seed of all randomness in the checks

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
        # The name cannot be ambiguous here: this process has loaded fewer plugins than the one that chose it.
        return self.registry.suites()[self.registry.suite_names.resolve(self.name)]

    @property
    def registered(self) -> Registered:
        """The spec of the subject, neither a plugin nor a suite, and its plugin."""
        registered: Registered = self.registry.entry(self.kind, self.name)
        return registered

    @property
    def spec(self) -> Any:
        """The spec of the subject."""
        return self.registered.spec

    def rng(self) -> np.random.Generator:
        """Return a new generator, the same in every check."""
        return np.random.default_rng(self.seed)

    def sample(self, name: str = "two-classes") -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return a sample table with this run's seed; see `mfbench_check.subjects.sample`. Regressors get numbers."""
        return sample(name, self.seed, numbers=self.kind == "regressor")

    def settings(self, **overrides: Any) -> dict[str, Any]:
        """Return the parameters set by checks: the spec's, and a seed if the estimator accepts one."""
        accepted = parameter_names(self.registered)
        seed = {"random_state": self.seed} if "random_state" in accepted else {}
        return {**seed, **self.spec.check_parameters, **overrides}

    def make(self, **overrides: Any) -> Any:
        """Build the estimator as used by the checks."""
        return self.registry.make(Expression(self.name, self.settings(**overrides)), self.kind)

    def tuned_path(self) -> tuple[str, str, list[Any]]:
        """Return the parameter and method of a spec's path, and the parameter's values in the grid."""
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
        """Fit a learner and return what it predicts for test rows."""
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
        """Return the relevant result: the weights of a selector or the predictions of a learner."""
        if self.kind == "selector":
            return self.weights(X, y, **overrides)
        return self.predictions(X, y, X_test, **overrides)

    def snippet(self, *lines: str, table: str = "two-classes", **overrides: Any) -> str:
        """Return Python code that demonstrates a failure."""
        text = str(Expression(self.name, self.settings(**overrides)))
        head = [
            "import mfbench, numpy as np",
            "from mfbench.testing import sample",
            f"X, y = sample({table!r}, seed={self.seed}{', numbers=True' if self.kind == 'regressor' else ''})",
            f"method = mfbench.make({text!r}, kind={self.kind!r})",
        ]
        code = [*head, *lines]
        if len(code) > LINES:
            raise ValueError(f"the snippet of {self.name!r} has {len(code)} lines, more than {LINES}")
        return "\n".join(code)


def subjects_of(registry: Registry, names: Sequence[str] = (), package: str | None = None) -> list[Subject]:
    """Return the subjects to check."""
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
            raise UnknownNameError(
                "method, metric, splitter, protocol, dataset, suite or plugin", name, existing, "see 'mfbench plugins'"
            )
        chosen |= dict.fromkeys([*matches, *whole])
    return list(chosen) if names else everything


def _all(registry: Registry) -> Iterator[Subject]:
    left_out = (problem.plugin for problem in registry.problems.records)  # whole plugins, or parts of subjects above
    for plugin in dict.fromkeys([*registry.plugins.values(), *left_out]):
        yield Subject("plugin", plugin.name, plugin)
    for kind in SPECS:
        for name, registered in registry.listed(kind).items():
            yield Subject(kind, name, registered.plugin)
    for folder, plugin in registry.suite_folders:
        for name, path in registry.suites().items():
            if path.parent.resolve() == folder.resolve():
                yield Subject("suite", name, plugin)


Target = Literal["selector", "classifier", "regressor"]
_NEIGHBOURS = 5  # of the classifier behind a selector


@dataclass(frozen=True)
class FitInput:
    """The input of a fit."""

    step: Target
    X: NDArray[Any]  # X, y: copies, made when the fit started
    y: NDArray[Any]
    bases: tuple[NDArray[Any], ...]  # the larger arrays, if any, of which X and y were views


@dataclass
class Seen:
    """The outcome of a trial and the observations during it."""

    result: TrialResult
    inputs: list[FitInput] = field(default_factory=list)  # one per fit, in order
    # Predictions of the checked classifier for the check's rows, made right after its fit.
    clean: list[NDArray[Any]] = field(default_factory=list)


class Spy:
    """A wrapper around an estimator that records the input of `fit`."""

    # A wrapper leaves the inner estimator unpatched, since it may pickle or copy itself.

    def __init__(
        self, inner: Any, before: Callable[[Any, Any], None], after: Callable[[Any], None] = lambda inner: None
    ) -> None:
        self._inner, self._before, self._after = inner, before, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def fit(self, X: Any, y: Any) -> Spy:
        """Record the input, then fit the inner estimator."""
        self._before(X, y)
        self._inner.fit(X, y)
        self._after(self._inner)
        return self


def make_fold(X: Any, y: Any, n_train: int, scale: Scale = "standard", *, missing: bool = False) -> Fold:
    """Return a fold whose training rows are the first rows of a table."""
    rows = np.arange(len(X))
    columns = Columns(np.zeros(X.shape[1], dtype=bool), missing=missing)
    return Fold(np.array(X), np.array(y), columns, rows[:n_train], rows[n_train:], scale, inner_folds=2, seed=0)


def run_on(
    fold: Fold,
    method: Any,
    kind: Target = "selector",
    *,
    top: int | Literal["all"] = "all",
    raw_input: bool = False,
    clean: NDArray[np.float64] | None = None,
    name: str = "checked",
) -> Seen:
    """Run a method on a fold as a benchmark does."""
    seen = Seen(TrialResult(key=name))
    checked = kind
    learner: Literal["classifier", "regressor"] = "classifier" if kind == "selector" else kind

    def spy(inner: Any, step: Target) -> Spy:
        def before(X: Any, y: Any) -> None:
            bases = tuple(array.base for array in (X, y) if getattr(array, "base", None) is not None)
            seen.inputs.append(FitInput(step, np.array(X), np.array(y), bases))

        def after(fitted: Any) -> None:
            if clean is not None and step == checked != "selector":
                seen.clean.append(np.asarray(fitted.predict(clean.copy())))

        return Spy(inner, before, after)

    def make(expression: Expression, kind: str, **overrides: Any) -> Any:
        step: Target = "selector" if kind == "selector" else learner
        return spy(method if step == checked else KNeighborsClassifier(_NEIGHBOURS), step)

    selector = Step(Expression(name, {}), "selector", raw_input=raw_input) if kind == "selector" else None
    resolved = ResolvedMethod(name, selector, Step(Expression("knn", {}), learner), top)
    trial = Trial(key=name, dataset="sample", method=name, repeat=0, fold=0, seed=0)
    seen.result = run_trial(trial, resolved, fold, [], make)
    return seen


def run_subject(subject: Opened, fold: Fold, **options: Any) -> Seen:
    """Run the subject on a fold; see `run_on`."""
    raw_input = bool(getattr(subject.spec, "raw_input", False))
    return run_on(fold, subject.make(), cast("Target", subject.kind), raw_input=raw_input, **options)


def succeeded(seen: Seen) -> Seen:
    """Return the observations of a trial, or raise `CheckFailedError` if it failed."""
    result = seen.result
    if result.status is not Status.OK:
        raise CheckFailedError(
            "a trial on ordinary data", f"it failed with {result.error_type}: {result.error_message}"
        )
    return seen
