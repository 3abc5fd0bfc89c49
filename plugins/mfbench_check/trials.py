"""A method on one training/test pair, through the code that runs the trials of a benchmark, and what its fits received.

Selectors are followed by the classifier ``knn``; classifiers are alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from mfbench.data.prepare import Columns, Scale
from mfbench.host.expressions import Expression
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.trial.folds import Fold
from mfbench.run.trial.prediction import run_trial
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench_check.verdicts import CheckFailedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench_check.subjects import Opened

Target = Literal["selector", "classifier"]
_NEIGHBOURS = 5  # of the classifier behind a selector


@dataclass(frozen=True)
class FitInput:
    """What a fit received."""

    step: Target
    X: NDArray[Any]  # X, y: copies, as they were when the fit began
    y: NDArray[Any]
    bases: tuple[NDArray[Any], ...]  # the larger arrays, if any, that X and y were views of


@dataclass
class Seen:
    """The outcome of a trial and what was seen of it."""

    result: TrialResult
    inputs: list[FitInput] = field(default_factory=list)  # of each fit, in order
    # Predictions of the checked classifier for rows of the check, made right after its fit.
    clean: list[NDArray[Any]] = field(default_factory=list)


class Spy:
    """An estimator around another one, which records what `fit` receives."""

    # Around it, not in it: the inner estimator may pickle or copy itself, and nothing of it is replaced.

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
    """Return the fold whose training rows are the first ones of a table."""
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

    def spy(inner: Any, step: Target) -> Spy:
        def before(X: Any, y: Any) -> None:
            bases = tuple(array.base for array in (X, y) if getattr(array, "base", None) is not None)
            seen.inputs.append(FitInput(step, np.array(X), np.array(y), bases))

        def after(fitted: Any) -> None:
            if clean is not None and step == checked == "classifier":
                seen.clean.append(np.asarray(fitted.predict(clean.copy())))

        return Spy(inner, before, after)

    def make(expression: Expression, kind: str, **overrides: Any) -> Any:
        step: Target = "selector" if kind == "selector" else "classifier"
        return spy(method if step == checked else KNeighborsClassifier(_NEIGHBOURS), step)

    selector = Step(Expression(name, {}), raw_input=raw_input) if kind == "selector" else None
    resolved = ResolvedMethod(name, selector, Step(Expression("knn", {})), top)
    trial = Trial(key=name, dataset="sample", method=name, repeat=0, fold=0, seed=0)
    seen.result = run_trial(trial, resolved, fold, ["accuracy"], make)
    return seen


def run_subject(subject: Opened, fold: Fold, **options: Any) -> Seen:
    """Run what is checked on a fold; see `run_on`."""
    kind: Target = "selector" if subject.kind == "selector" else "classifier"
    raw_input = bool(getattr(subject.spec, "raw_input", False))
    return run_on(fold, subject.make(), kind, raw_input=raw_input, **options)


def succeeded(seen: Seen) -> Seen:
    """Return what was seen of a trial."""
    result = seen.result
    if result.status is not Status.OK:
        raise CheckFailedError(
            "a trial on ordinary data", f"it failed with {result.error_type}: {result.error_message}"
        )
    return seen
