"""Checks of what a regressor predicts."""

from __future__ import annotations

import numpy as np

from mfbench_check.catalog import check
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Opened


@check("numbers", group="contract", kinds=("regressor",), needs=("fit",))
def predicts_numbers(subject: Opened) -> None:
    """`predict` returns one finite number for each row."""
    X, y = subject.sample()
    first = subject.predictions(X[:40], y[:40], X[40:])
    snippet = subject.snippet(
        "predicted = method.fit(X[:40], y[:40]).predict(X[40:])", "assert predicted.shape == (20,)"
    )
    if first.shape != (len(X) - 40,) or first.dtype.kind not in "iuf" or not np.isfinite(first).all():
        raise CheckFailedError("one finite number for each row", f"{first.dtype} of shape {first.shape}", snippet)
