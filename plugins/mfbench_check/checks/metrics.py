"""Checks of metrics: what they return for drawn predictions, and what follows from their specs."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.errors import MfbenchError, describe_error
from mfbench.host.factories import resolve_factory
from mfbench.host.probes import shown
from mfbench.model.trials import Predictions
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

METRIC = ("metric",)
SOUND = ("metric-value",)
CLASSES = (2, 3, 5)
# What a classifier provides, by what a metric needs: "predictions" of any classifier.
FORMS = {
    "labels": ("labels",),
    "scores": ("probabilities", "decisions"),
    "probabilities": ("probabilities",),
    "predictions": ("probabilities", "decisions", "labels"),
}
_ROWS = 120
_TOLERANCE = 1e-9


def drawn_predictions(form: str, n_classes: int, case: str = "ordinary", seed: int = 0) -> Predictions:
    """Return predictions for a test part; by default, better than chance."""
    rng = np.random.default_rng(seed)
    y_true = rng.permutation(np.arange(_ROWS) % n_classes)
    truth = np.eye(n_classes)[y_true]
    weight = 0.0 if case == "by chance" else 0.5
    y_score = truth if case == "perfect" else rng.dirichlet(np.ones(n_classes), _ROWS) + weight * truth
    y_pred = y_score.argmax(axis=1)
    if form == "probabilities":
        y_score = y_score / y_score.sum(axis=1, keepdims=True)
    else:  # decision values, of two classes in one column
        y_score = y_score[:, 1] - y_score[:, 0] if n_classes == 2 else 2 * y_score - 1
    if case == "a class without training rows":
        y_true[:5] = n_classes
    rows = np.flatnonzero(y_true == 0) if case == "one class" else np.arange(_ROWS)[:: -1 if case == "reversed" else 1]
    return Predictions(
        np.array(y_true[rows]),
        np.array(y_pred[rows]),
        None if form == "labels" else np.array(y_score[rows]),
        np.arange(n_classes),
        is_probability=form == "probabilities",
    )


@dataclass(frozen=True)
class Sample:
    """Arguments of `drawn_predictions`."""

    form: str
    n_classes: int
    case: str = "ordinary"
    seed: int = 0

    def __str__(self) -> str:
        words = [self.form, self.n_classes, self.case, *([self.seed] if self.seed else [])]
        return f"drawn_predictions({', '.join(map(repr, words))})"

    def draw(self) -> Predictions:
        """Return new arrays."""
        return drawn_predictions(self.form, self.n_classes, self.case, self.seed)


def arrays_of(predictions: Predictions) -> dict[str, NDArray[Any]]:
    """Return the arrays of predictions that have a row for each test row, by name."""
    named = {name: getattr(predictions, name) for name in ("y_true", "y_pred", "y_score")}
    return {name: array for name, array in named.items() if array is not None}


def value_of(function: Callable[..., Any], needs: str, predictions: Predictions) -> float:
    """Return the score of predictions; NaN where it is undefined, which a ValueError may express too."""
    arguments = (predictions.y_true, predictions.y_pred) if needs == "labels" else (predictions,)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = function(*arguments)
    except ValueError:
        return math.nan
    if not isinstance(value, Real):
        raise TypeError(f"it returned {shown(value)}, expected a float")
    return float(value)


def metric_named(name: str) -> Callable[[Predictions], float]:
    """Return the function that checks use for a metric of the installed plugins; for snippets."""
    from mfbench.host.registry import load_registry

    registered = load_registry().entry("metric", name)
    return partial(value_of, _function(registered), registered.spec.needs)


def _function(registered: Any) -> Callable[..., Any]:
    return partial(resolve_factory(registered), **registered.spec.defaults)


@check("metric-function", group="metrics", kinds=METRIC)
def can_be_called(subject: Opened) -> None:
    """The function can be imported, takes what `needs` says, and all its other parameters have defaults.

    A parameter has a default in the function or in the spec.
    """
    spec = subject.spec
    try:
        function = resolve_factory(subject.registered)
    except MfbenchError as error:
        raise CheckFailedError("a function", str(error)) from error
    arguments = ("y_true", "y_pred") if spec.needs == "labels" else ("predictions",)
    try:
        inspect.signature(function).bind(*arguments, **spec.defaults)
    except (TypeError, ValueError) as error:
        lines = [
            "import inspect",
            "from mfbench.host.factories import resolve_factory",
            "from mfbench.host.registry import load_registry",
            f"metric = load_registry().entry('metric', {subject.name!r})",
            f"inspect.signature(resolve_factory(metric)).bind(*{arguments!r}, **metric.spec.defaults)",
        ]
        expected = f"a function of {' and '.join(arguments)} whose other parameters have defaults"
        raise CheckFailedError(expected, str(error), "\n".join(lines)) from error


@check("metric-value", group="metrics", kinds=METRIC, needs=("metric-function",))
def is_a_number(subject: Opened) -> None:
    """The metric returns a float for predictions of two, three or five classes, and NaN or a `ValueError` otherwise.

    The predictions have probabilities, decision values or neither, as `needs` allows. A metric may be defined for some
    numbers of classes only, such as for two.
    """
    samples = list(_samples(subject))
    values = [_value(subject, sample) for sample in samples]
    if all(map(math.isnan, values)):
        raise CheckFailedError(
            "a number for predictions of two, three or five classes",
            "each is NaN or a ValueError",
            _snippet(subject, f"assert value({samples[0]}) == value({samples[0]})"),
        )


@check("metric-range", group="metrics", kinds=METRIC, needs=SOUND)
def is_in_its_range(subject: Opened) -> None:
    """The score is in the range of the spec: from 0 to 1 if it is a share, else from `lowest` to `highest`.

    A run counts any other value as a failure of the metric.
    """
    for sample in _samples(subject, "ordinary", "perfect"):
        _require_range(subject, sample)


def _require_range(subject: Opened, sample: Sample) -> None:
    value, (lowest, highest) = _value(subject, sample), subject.spec.range
    if not math.isnan(value) and not lowest - _TOLERANCE <= value <= highest + _TOLERANCE:
        bounds = f"{lowest!r} <= value({sample}) <= {highest!r}".replace("inf", "float('inf')")
        raise CheckFailedError(
            f"a number from {lowest:g} to {highest:g}",
            f"{value:g} for {sample}",
            _snippet(subject, f"assert {bounds}"),
        )


@check("metric-direction", group="metrics", kinds=METRIC, needs=SOUND)
def prefers_perfect_predictions(subject: Opened) -> None:
    """Perfect predictions are not worse than predictions by chance, in the direction that the spec declares.

    Tuning, ranks and verdicts follow `greater_is_better`.
    """
    sign = subject.spec.sign
    for perfect, by_chance in zip(_samples(subject, "perfect"), _samples(subject, "by chance"), strict=True):
        best, other = _value(subject, perfect), _value(subject, by_chance)
        if sign * best < sign * other - _TOLERANCE:
            raise CheckFailedError(
                f"perfect predictions are not worse: {'greater' if sign > 0 else 'less'} is better",
                f"{best:g} for perfect predictions, {other:g} by chance",
                _snippet(subject, f"assert value({perfect}) {'>=' if sign > 0 else '<='} value({by_chance})"),
            )


@check("metric-again", group="metrics", kinds=METRIC, needs=SOUND)
def is_the_same_again(subject: Opened) -> None:
    """Two calls with equal predictions return the same score, to the last bit."""
    for sample in _samples(subject):
        value, again = _value(subject, sample), _value(subject, sample)
        if value != again and not (math.isnan(value) and math.isnan(again)):
            raise CheckFailedError(
                "the same score at the second call",
                f"{value!r}, then {again!r}",
                _snippet(subject, f"assert value({sample}) == value({sample})"),
            )


@check("metric-order", group="metrics", kinds=METRIC, needs=(*SOUND, "metric-again"))
def does_not_depend_on_the_order(subject: Opened) -> None:
    """The order of the rows does not change the score, up to rounding."""
    for sample, other in zip(_samples(subject), _samples(subject, "reversed"), strict=True):
        value, in_reverse = _value(subject, sample), _value(subject, other)
        if not _same(value, in_reverse):
            raise CheckFailedError(
                "the same score with the rows in another order",
                f"{value:.6g}, and {in_reverse:.6g} in reverse order",
                _snippet(subject, f"assert np.isclose(value({sample}), value({other}), rtol=1e-6)"),
            )


@check("metric-arguments", group="metrics", kinds=METRIC, needs=(*SOUND, "metric-again"))
def leaves_its_arguments(subject: Opened) -> None:
    """The metric does not write into the predictions, and accepts arrays that are read-only.

    In a run the arrays are read-only, as they are stored and passed to the next metric.
    """
    for sample in _samples(subject):
        predictions, untouched = sample.draw(), sample.draw()
        value = _score(subject, sample, predictions)
        for name, array in arrays_of(untouched).items():
            if not np.array_equal(array, getattr(predictions, name)):
                lines = [
                    f"predictions = {sample}",
                    "value(predictions)",
                    f"assert np.array_equal(predictions.{name}, {sample}.{name})",
                ]
                raise CheckFailedError(f"{name} stays as it was", "it has other values", _snippet(subject, *lines))
        for array in arrays_of(untouched).values():
            array.flags.writeable = False
        if not _same(_score(subject, sample, untouched), value):
            lines = [
                f"predictions = {sample}",
                "before = value(predictions)",
                "for array in arrays_of(predictions).values():",
                "    array.flags.writeable = False",
                "assert np.isclose(value(predictions), before)",
            ]
            raise CheckFailedError("the same score of read-only arrays", "another one", _snippet(subject, *lines))


@check("metric-edges", group="metrics", kinds=METRIC, needs=("metric-range",))
def survives_missing_classes(subject: Opened) -> None:
    """A test part of one class, and a class without training rows, give a float, NaN or a `ValueError`.

    Both occur in small datasets. Any other exception would hide a mistake.
    """
    for sample in _samples(subject, "one class", "a class without training rows"):
        _require_range(subject, sample)


def _samples(subject: Opened, *cases: str) -> Iterator[Sample]:
    """Yield the kinds of predictions that the metric must handle."""
    for case in cases or ("ordinary",):
        for form in FORMS[subject.spec.needs]:
            for n_classes in CLASSES:
                yield Sample(form, n_classes, case, subject.seed)


def _value(subject: Opened, sample: Sample) -> float:
    return _score(subject, sample, sample.draw())


def _score(subject: Opened, sample: Sample, predictions: Predictions) -> float:
    try:
        return value_of(_function(subject.registered), subject.spec.needs, predictions)
    except Exception as error:
        raise CheckFailedError(
            "a float, NaN, or a ValueError where it is undefined",
            f"{describe_error(error)} for {sample}",
            _snippet(subject, f"value({sample})"),
        ) from error


def _same(value: float, other: float) -> bool:
    return (math.isnan(value) and math.isnan(other)) or math.isclose(value, other, rel_tol=1e-6, abs_tol=_TOLERANCE)


def _snippet(subject: Opened, *lines: str) -> str:
    """Return Python code that demonstrates a failure."""
    head = [
        "import numpy as np",
        "from mfbench_check.checks.metrics import arrays_of, drawn_predictions, metric_named",
        f"value = metric_named({subject.name!r})",
    ]
    return "\n".join([*head, *lines])
