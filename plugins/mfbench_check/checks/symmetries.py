"""Symmetries: changes to the input that must not change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.host.factories import takes_numbers
from mfbench_check.agreement import (
    SAME_PREDICTIONS,
    SAME_WEIGHTS,
    TIES,
    Answer,
    difference,
    disagreement,
    ranking_distance,
    weight_distance,
)
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.repeating import ESTIMATORS, OF_CLASSES, RESULTS
from mfbench_check.subjects import Opened, sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEEDS = (*RESULTS, "same-seed")
TABLES = 5
CODES, NAMES = (7, 3, 5), ("oak", "ash", "elm")


@check("columns", group="symmetry", kinds=ESTIMATORS, needs=NEEDS)
def ignores_column_order(subject: Opened) -> None:
    """Permuted columns give permuted weights, and the same predictions.

    A preference for the first columns rewards datasets that list their relevant features first, as many do. A
    randomised method passes unless the difference outweighs the variation between seeds; this applies to all
    symmetries.
    """
    X, y = subject.sample()
    order = subject.rng().permutation(X.shape[1])
    test = _test_rows(subject)

    def changed(**parameters: Any) -> NDArray[Any]:
        answer = subject.answer(X[:, order], y, test[:, order], **parameters)
        return answer[np.argsort(order)] if subject.kind == "selector" else answer

    _require_same(
        subject,
        lambda **parameters: subject.answer(X, y, test, **parameters),
        changed,
        f"order = np.array({order.tolist()})",
        ("X[:, order], y", "test[:, order]", "before[order]" if subject.kind == "selector" else "before"),
    )


@check("rows", group="symmetry", kinds=ESTIMATORS, needs=NEEDS)
def ignores_row_order(subject: Opened) -> None:
    """Reordered training rows give the same weights and predictions.

    Many files are sorted by class or by date; a method must not learn the sorting.
    """
    X, y = subject.sample()
    test = _test_rows(subject)
    order = subject.rng().permutation(len(X))
    _require_same(
        subject,
        lambda **parameters: subject.answer(X, y, test, **parameters),
        lambda **parameters: subject.answer(X[order], y[order], test, **parameters),
        f"order = np.random.default_rng({subject.seed}).permutation(len(X))",
        ("X[order], y[order]", "test", "before"),
    )


@check("labels", group="symmetry", kinds=OF_CLASSES, needs=NEEDS)
def ignores_names_of_classes(subject: Opened) -> None:
    """Renamed classes give the same weights, and the same predictions under their new names.

    The codes are swapped, so that another class comes first, and then replaced by texts. The alphabetical order of
    classes says nothing about the data. A selector with a numeric target gets two classes with swapped codes.
    """
    is_selector = subject.kind == "selector"
    numbers = is_selector and takes_numbers(subject.registered)
    # Votes of neighbours among three classes are often tied, and some class must then win, so classifiers get two.
    table = "three-classes" if is_selector and not numbers else "two-classes"
    X, y = (values[5:] for values in subject.sample(table))  # odd, so that two classes are never equally frequent
    test = _test_rows(subject)
    for names in [(1, 0)] if numbers else [CODES, NAMES]:
        labels = np.array(names)[: y.max() + 1]

        def plain(labels: NDArray[Any] = labels, **parameters: Any) -> NDArray[Any]:
            answer = subject.answer(X, y, test, **parameters)
            return answer if is_selector else labels[answer]

        def changed(labels: NDArray[Any] = labels, **parameters: Any) -> NDArray[Any]:
            return subject.answer(X, labels[y], test, **parameters)

        fitted = ("X, names[y]", "test", "before" if is_selector else "names[before]")
        _require_same(
            subject, plain, changed, f"X, y, names = X[5:], y[5:], np.array({labels.tolist()})", fitted, table=table
        )


@check("duplicates", group="symmetry", kinds=("selector",), needs=(*NEEDS, "rows"))
def ignores_multiplicity(subject: Opened) -> None:
    """Tables that contain each row twice give proportional weights or the same ranking, up to ties.

    The shares of all values stay the same. The weights of five tables are added up, because a method may weigh row
    counts against a penalty, or find a row's twin as its neighbour, which changes the weights of noise. Only a
    systematic change of the ranking is a failure; differences below a fifth of the largest weight count as ties.
    """
    tables = [sample(seed=subject.seed + k) for k in range(TABLES)]

    def total(copies: int, **parameters: Any) -> NDArray[np.float64]:
        every = [subject.weights(np.tile(X, (copies, 1)), np.tile(y, copies), **parameters) for X, y in tables]
        weights: NDArray[np.float64] = np.sum(every, axis=0)
        return weights

    gap = difference(subject, partial(total, 1), partial(total, 2), ranking_distance, TIES)
    if gap is None:
        return
    raise CheckFailedError(
        "weights of the same proportions or the same ranking",
        f"two features change places, and weights change by {100 * gap.between:.3g} % of the largest",
        subject.snippet(
            f"tables = [sample(seed=seed) for seed in range({subject.seed}, {subject.seed + TABLES})]",
            "twice = [(np.tile(X, (2, 1)), np.tile(y, 2)) for X, y in tables]",
            "before = sum(method.fit(X, y).feature_importances_ for X, y in tables)",
            "after = sum(method.fit(X, y).feature_importances_ for X, y in twice)",
            "assert (np.argsort(before) == np.argsort(after)).all(), (before, after)",
        ),
    )


@check("invariance", group="symmetry", kinds=("selector",), needs=NEEDS)
def has_declared_invariance(subject: Opened) -> None:
    """Weights are invariant under the changes of units that `invariance` declares.

    With "affine", each feature is multiplied by a positive factor and shifted; with "monotone", half of the features
    are also replaced by their exponential, the others by their cube.
    """
    declared = subject.spec.invariance
    if declared == "none":
        raise NotApplicableError("its spec declares no invariance")
    X, y = subject.sample()
    scales = np.linspace(0.5, 20, X.shape[1])
    form = "X * np.linspace(0.5, 20, X.shape[1]) + 3"
    changed = X * scales + 3
    if declared == "monotone":
        form = "np.where(np.arange(X.shape[1]) % 2, np.exp(X), X**3)"
        changed = np.where(np.arange(X.shape[1]) % 2, np.exp(X), X**3)
    _require_same(
        subject,
        lambda **parameters: subject.weights(X, y, **parameters),
        lambda **parameters: subject.weights(changed, y, **parameters),
        f"changed = {form}",
        ("changed, y", "test", "before"),
    )


def _test_rows(subject: Opened) -> NDArray[np.float64]:
    """Return rows outside the training table; the snippets create the same ones."""
    return sample(seed=subject.seed + 1)[0]


def _require_same(
    subject: Opened,
    plain: Answer,
    changed: Answer,
    line: str,
    code: tuple[str, str, str],
    table: str = "two-classes",
) -> None:
    """Raise CheckFailedError unless the answers to two forms agree.

    Parameters
    ----------
    subject : Opened
    plain, changed : callable
        See `mfbench_check.agreement.difference`.
    line : str
        Snippet line that prepares the second form.
    code : (str, str, str)
        Snippet parts: the fitted data, the predicted rows, and the expected answer.
    table : str, default="two-classes"
        The sample to fit.
    """
    weighs, of_classes = subject.kind == "selector", subject.kind == "classifier"
    tolerance = SAME_PREDICTIONS if of_classes else SAME_WEIGHTS
    distance = disagreement if of_classes else weight_distance
    gap = difference(subject, plain, changed, distance, tolerance)
    if gap is None:
        return
    unit = "% of the rows" if of_classes else f"% of the largest {'weight' if weighs else 'prediction'}"
    seen = f"{'weights' if weighs else 'predictions'} change by {100 * gap.between:.3g} {unit}"
    if gap.within:
        seen += f" on average over seeds; seeds alone change them by at most {100 * gap.within:.3g} %"
    expected = "the same weights" if weighs else "the same predictions"
    lines = _weighing(*code) if weighs else _predicting(subject, *code)
    raise CheckFailedError(expected, seen, subject.snippet(line, *lines, table=table))


def _weighing(fitted: str, test: str, before: str) -> Sequence[str]:
    bound = f"{SAME_WEIGHTS} * np.abs(before).max()"
    return [
        "before = method.fit(X, y).feature_importances_",
        f"after = method.fit({fitted}).feature_importances_",
        f"assert np.abs(after - {before}).max() <= {bound}, (before, after)",
    ]


def _predicting(subject: Opened, fitted: str, test: str, before: str) -> Sequence[str]:
    return [
        f"test = sample(seed={subject.seed + 1})[0]",
        "before = method.fit(X, y).predict(test)",
        f"after = method.fit({fitted}).predict({test})",
        f"assert (after == {before}).mean() >= {1 - SAME_PREDICTIONS}, (before, after)"
        if subject.kind == "classifier"
        else f"assert np.abs(after - {before}).max() <= {SAME_WEIGHTS} * np.abs(before).max(), (before, after)",
    ]
