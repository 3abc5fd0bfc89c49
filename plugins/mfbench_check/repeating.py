"""Shared code of the checks that compare bits: their prerequisites, test rows, and answers."""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.host.expressions import Plugin
from mfbench.host.registry import load_registry
from mfbench_check.subjects import Opened, Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

ESTIMATORS = ("selector", "classifier", "regressor")
OF_CLASSES = ("selector", "classifier")
# Without a fit, or with meaningless weights or predictions, there is nothing to compare.
RESULTS = ("fit", "importances-finite", "importances-length", "predictions", "numbers")
# If two equal fits differ, a difference between two different ones means nothing.
REPEATABLE = (*RESULTS, "global-random-state", "same-seed")
_N_ROWS = 200


def boundary_rows(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return rows spread over a table's range: many lie near class boundaries, where small changes show."""
    return rng.uniform(X.min(axis=0), X.max(axis=0), size=(_N_ROWS, X.shape[1]))


def bits(answer: NDArray[Any]) -> bytes:
    """Return weights or predictions as bytes that are equal only for identical bits, shape and type."""
    text = answer.astype(str) if answer.dtype == object else answer
    return repr((answer.shape, str(answer.dtype))).encode() + text.tobytes()


def answer(subject: Opened, **overrides: Any) -> NDArray[Any]:
    """Return a method's answer on the ordinary sample: weights, or predictions for `boundary_rows`."""
    X, y = subject.sample()
    return subject.answer(X, y, boundary_rows(X, subject.rng()), **overrides)


def result_of(
    subject: Opened, method: Any, X: NDArray[Any], y: NDArray[Any], rows: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Fit a method on these very arrays, without copies, and return its weights, or its predictions for rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.fit(X, y)
        if subject.kind == "selector":
            return np.array(method.feature_importances_, dtype=np.float64)
        return np.array(method.predict(X if rows is None else rows))


def digest(subject: Opened) -> str:
    """Return a digest of `answer`, for comparison with another process."""
    return hashlib.sha256(bits(answer(subject))).hexdigest()


def result_code(subject: Opened, method: str = "method") -> tuple[list[str], str]:
    """Return the snippet code for `answer`: the preceding lines, and its expression."""
    if subject.kind == "selector":
        return [], f"np.array({method}.fit(X, y).feature_importances_)"
    lines = [
        "from mfbench_check.repeating import boundary_rows",
        f"rows = boundary_rows(X, np.random.default_rng({subject.seed}))",
    ]
    return lines, f"{method}.fit(X, y).predict(rows)"


def difference(subject: Opened, first: NDArray[Any], second: NDArray[Any]) -> str:
    """Return how two answers of a method differ."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return f"an array of shape {first.shape} and type {first.dtype}, then one of {second.shape} and {second.dtype}"
    if subject.kind == "classifier":
        return f"{int((first != second).sum())} of {len(first)} rows get another class"
    what = "weights" if subject.kind == "selector" else "predictions"
    return f"{what} differ by up to {np.nanmax(np.abs(first - second)):.2g}"


def main() -> None:
    """Print the digest of the subject described on standard input; entry point of the other process."""
    request = json.load(sys.stdin)
    sys.path[:] = request["path"]
    plugins = [Plugin(**plugin) for plugin in request["plugins"]]
    subject = Subject(request["kind"], request["name"], plugins[0])
    opened = Opened(subject, load_registry(exactly=plugins), request["seed"])
    sys.stdout.write(f"\n{digest(opened)}\n")  # on its own line, in case the method has printed something


def request_of(subject: Opened) -> str:
    """Return the request text that `main` reads."""
    plugin = subject.subject.plugin
    fields = {"name": plugin.name, "module": plugin.module}
    fields |= {"distribution": plugin.distribution, "version": plugin.version}
    return json.dumps(
        {"kind": subject.kind, "name": subject.name, "plugins": [fields], "path": sys.path, "seed": subject.seed}
    )


if __name__ == "__main__":
    main()
