"""Contract of a classifier's results: one of the classes for each row, and valid probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import hadamard

from mfbench.host.probes import shown
from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError, NotApplicableError
from mfbench_check.repeating import OF_CLASSES, REPEATABLE
from mfbench_check.subjects import Opened, Target, make_fold, run_on, succeeded

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLASSIFIER = ("classifier",)
LABELS = ("ash", "beech", "cedar")


@check("predictions", group="contract", kinds=CLASSIFIER, needs=("fit",))
def predicts_classes(subject: Opened) -> None:
    """`predict` returns one of the classes for each row, whether they are numbers or texts; `classes_` is sorted.

    Scores are computed from labels. Returning a code instead of a label counts as an error in every row.
    """
    X, codes = subject.sample("three-classes")
    for labels, line in ((codes, ""), (np.array(LABELS)[codes], f"y = np.array({LABELS})[y]")):
        estimator = _fitted(subject, X, labels, line)
        classes = np.asarray(getattr(estimator, "classes_", ()))
        if not np.array_equal(classes, np.unique(labels)):
            raise CheckFailedError(
                f"classes_ is {np.unique(labels).tolist()}",
                f"it is {classes.tolist()}" if hasattr(estimator, "classes_") else "there is no such attribute",
                _snippet(subject, line, "assert np.array_equal(method.classes_, np.unique(y)), method.classes_"),
            )
        predicted = np.asarray(estimator.predict(X))
        if predicted.shape != (len(X),):
            raise CheckFailedError(
                f"{len(X)} predictions for {len(X)} rows",
                f"an array of shape {predicted.shape}",
                _snippet(subject, line, "assert method.predict(X).shape == y.shape"),
            )
        foreign = set(predicted.tolist()) - set(labels.tolist())
        if foreign:
            raise CheckFailedError(
                f"predictions among the labels {np.unique(labels).tolist()}",
                f"predictions of {sorted(map(repr, foreign))[0]}",
                _snippet(subject, line, "assert set(method.predict(X).tolist()) <= set(y.tolist()), method.predict(X)"),
            )


@check("probabilities", group="contract", kinds=CLASSIFIER, needs=("predictions",))
def predicts_probabilities(subject: Opened) -> None:
    """`predict_proba` has a column of probabilities for each class, in the order of `classes_`; rows sum to 1.

    Log loss and the area under the ROC curve read these columns. The class with the largest probability need not be the
    predicted one in every row, as in scikit-learn's `SVC`, but disagreement in most rows means that the columns are in
    a different order.
    """
    X, y = subject.sample("three-classes")
    estimator = subject.fit(X, y)
    if not hasattr(estimator, "predict_proba"):
        raise NotApplicableError("it has no predict_proba")
    values = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    if values.shape != (len(X), 3) or not np.isfinite(values).all() or values.min() < 0:
        raise CheckFailedError(
            f"{len(X)} rows of 3 probabilities",
            f"an array of shape {values.shape}, the smallest value is {values.min()}",
            _snippet(
                subject, "", "shares = method.predict_proba(X)", "assert shares.shape[1] == 3 and (shares >= 0).all()"
            ),
        )
    if not np.allclose(values.sum(axis=1), 1, rtol=0, atol=1e-4):
        worst = float(values.sum(axis=1)[np.argmax(np.abs(values.sum(axis=1) - 1))])
        raise CheckFailedError(
            "probabilities that sum to 1 in each row",
            f"a row sums to {worst:.6g}",
            _snippet(subject, "", "sums = method.predict_proba(X).sum(axis=1)", "assert np.allclose(sums, 1), sums"),
        )
    best = estimator.classes_[np.argmax(values, axis=1)]
    n_equal = int((best == estimator.predict(X)).sum())
    if n_equal < len(X) / 2:
        raise CheckFailedError(
            "columns in the order of classes_",
            f"the largest probability belongs to the predicted class in {n_equal} of {len(X)} rows",
            _snippet(
                subject,
                "",
                "best = method.classes_[method.predict_proba(X).argmax(axis=1)]",
                "assert (best == method.predict(X)).mean() >= 0.5, (best == method.predict(X)).mean()",
            ),
        )


@check("path-predictions", group="contract", kinds=CLASSIFIER, needs=("grid", "predictions"))
def follows_its_path(subject: Opened) -> str:
    """The method named in `path` returns, for each value in the grid, a classifier that predicts as a new fit does.

    Tuning uses the path instead of a fit for each value. A path that deviates tunes a different method.
    """
    parameter, name, values = subject.tuned_path()
    X, y = subject.sample()
    fits = ((value, subject.fit(X, y, **{parameter: value})) for value in values)
    # Fits with some values may lack the path method; tuning then fits those values separately.
    serving = next(((value, fit) for value, fit in fits if hasattr(fit, name)), None)
    if serving is None:
        first: Any = values[0]
        raise CheckFailedError(
            f"{name} of a classifier fitted with a value of {parameter} in the grid",
            "none has it",
            subject.snippet(f"assert hasattr(method.fit(X, y), {name!r})", **{parameter: first}),
        )
    own: Any
    own, fitted = serving
    before = np.asarray(fitted.predict(X))
    for value in values:
        along = np.asarray(getattr(fitted, name)(value).predict(X))
        fresh = np.asarray(subject.fit(X, y, **{parameter: value}).predict(X))
        if not np.array_equal(along, fresh):
            raise CheckFailedError(
                f"{name}({shown(value)}) predicts as a fit with {parameter}={shown(value)}",
                f"{(along != fresh).sum()} of {len(X)} predictions differ",
                subject.snippet(
                    f"along = method.fit(X, y).{name}({value!r}).predict(X)",
                    f"fresh = method.set_params({parameter}={value!r}).fit(X, y).predict(X)",
                    "assert np.array_equal(along, fresh), (along, fresh)",
                    **{parameter: own},
                ),
            )
    if not np.array_equal(fitted.predict(X), before):
        raise CheckFailedError(
            f"{name} leaves the classifier that it is called on as it is",
            f"its predictions changed after {name}({shown(values[-1])})",
            subject.snippet(
                "before = method.fit(X, y).predict(X)",
                f"method.{name}({values[-1]!r})",
                "assert np.array_equal(method.predict(X), before)",
                **{parameter: own},
            ),
        )
    return f"{len(values)} values of {parameter}"


def _fitted(subject: Opened, X: NDArray[np.float64], y: NDArray[Any], line: str) -> Any:
    """Fit on labels of some kind; errors then include a snippet."""
    try:
        return subject.fit(X, y)
    except CheckFailedError as error:
        raise CheckFailedError(
            f"a fit on labels such as {y.tolist()[0]!r}", error.seen, _snippet(subject, line)
        ) from error


def _snippet(subject: Opened, line: str, *lines: str) -> str:
    return subject.snippet(*([line] if line else []), "method.fit(X, y)", *lines, table="three-classes")


N_LABELLINGS = 16
N_DRAWS = 3
_N_ROWS = 32  # in each part: the order of a Hadamard matrix
_NOISE = 0.3


@check("permuted-labels", group="leakage", kinds=OF_CLASSES, needs=(*REPEATABLE, "poison"))
def cannot_predict_permuted_labels(subject: Opened) -> None:
    """For 16 random permutations of the test labels, the true one is not predicted better than the others.

    Among the training rows each of 16 features separates the classes equally well; among the test rows feature k
    separates those of the k-th permutation, and the permutations agree pairwise in half of the rows. Only the labels of
    the test rows reveal which permutation is the true one, so any method that does not see them agrees most with it
    with probability at most 1/16. A method fails if it does so in three independent draws: the level of the check is at
    most 1/4096, and a method that reads the labels from a global, its callers' frames or memory always fails.
    """
    rng = subject.rng()
    kind: Target = "selector" if subject.kind == "selector" else "classifier"
    raw_input = bool(getattr(subject.spec, "raw_input", False))
    if all(is_ahead(subject.make(), kind, rng, raw_input=raw_input) for _ in range(N_DRAWS)):
        raise CheckFailedError(
            f"predictions that agree most with another of {N_LABELLINGS} permutations in one of {N_DRAWS} draws",
            f"in each draw they agree most with the labels of the test rows (probability below 1/{16**N_DRAWS})",
            subject.snippet(
                "from mfbench_check.checks.classifiers import is_ahead",
                f"rng = np.random.default_rng({subject.seed})",
                f"assert not all(is_ahead(method, {kind!r}, rng) for _ in range({N_DRAWS}))",
            ),
        )


def is_ahead(method: Any, kind: Target, rng: np.random.Generator, *, raw_input: bool = False) -> bool:
    """Return whether a method's predictions agree with the test labels better than with all other permutations.

    Parameters
    ----------
    method : estimator
        Will be fitted.
    kind : {"selector", "classifier"}
    rng : Generator
    raw_input : bool, default=False
        As in `SelectorSpec`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> is_ahead(GaussianNB(), "classifier", np.random.default_rng(0))
    False
    """
    codes = hadamard(_N_ROWS)[:, 1:] > 0  # each column but the first has equally many rows of either class
    chosen = rng.permutation(_N_ROWS - 1)[:N_LABELLINGS]
    labellings = rng.permutation(codes)[:, chosen].astype(np.int64)
    y_train = rng.permutation(np.arange(_N_ROWS) % 2)
    centres = np.vstack([np.repeat(y_train[:, None], N_LABELLINGS, axis=1), labellings])
    X = 2.0 * centres - 1.0 + rng.normal(scale=_NOISE, size=centres.shape)
    right = int(rng.integers(N_LABELLINGS))  # last draw: nothing above depends on it
    fold = make_fold(X, np.concatenate([y_train, labellings[:, right]]), _N_ROWS)
    predictions = succeeded(run_on(fold, method, kind, top=1, raw_input=raw_input)).result.predictions
    assert predictions is not None
    hits = (predictions[:, None] == labellings).sum(axis=0)
    return bool(hits[right] > np.delete(hits, right).max())
