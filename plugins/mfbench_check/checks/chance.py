"""Leakage of labels: permuted labels of test rows, which nobody can predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import hadamard

from mfbench_check.catalog import check
from mfbench_check.repeating import ESTIMATORS, REPEATABLE
from mfbench_check.subjects import Opened
from mfbench_check.trials import Target, make_fold, run_on, succeeded
from mfbench_check.verdicts import CheckFailedError

N_LABELLINGS = 16
N_DRAWS = 3
_N_ROWS = 32  # in each part: the order of a Hadamard matrix
_NOISE = 0.3


@check("permuted-labels", group="leakage", kinds=ESTIMATORS, needs=(*REPEATABLE, "poison"))
def cannot_predict_permuted_labels(subject: Opened) -> None:
    """Labels of test rows that are one of 16 permutations, chosen at random, are not predicted better than the others.

    Among the training rows each of 16 features separates the classes equally well; among the test rows feature k
    separates those of the k-th permutation, and the permutations agree pairwise in half of the rows. Which of them the
    labels are is written in the labels of the test rows alone. Whatever a method that does not see them predicts, the
    probability that it agrees most with the right one is at most 1/16. A method fails if it does so in three
    independent draws: the level of the check is exactly at most 1/4096, and a method that reads the labels from a
    global, the frames of its callers or memory always fails.
    """
    rng = subject.rng()
    kind: Target = "selector" if subject.kind == "selector" else "classifier"
    raw_input = bool(getattr(subject.spec, "raw_input", False))
    if all(is_ahead(subject.make(), kind, rng, raw_input=raw_input) for _ in range(N_DRAWS)):
        raise CheckFailedError(
            f"predictions that agree most with another of {N_LABELLINGS} permutations in one of {N_DRAWS} draws",
            f"in each draw they agree most with the labels of the test rows (probability below 1/{16**N_DRAWS})",
            subject.snippet(
                "from mfbench_check.checks.chance import is_ahead",
                f"rng = np.random.default_rng({subject.seed})",
                f"assert not all(is_ahead(method, {kind!r}, rng) for _ in range({N_DRAWS}))",
            ),
        )


def is_ahead(method: Any, kind: Target, rng: np.random.Generator, *, raw_input: bool = False) -> bool:
    """Return whether a method's predictions agree with the labels of test rows more than with all other permutations.

    Parameters
    ----------
    method : estimator
        It is fitted.
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
    codes = hadamard(_N_ROWS)[:, 1:] > 0  # each column but the first has as many rows of either class
    chosen = rng.permutation(_N_ROWS - 1)[:N_LABELLINGS]
    labellings = rng.permutation(codes)[:, chosen].astype(np.int64)
    y_train = rng.permutation(np.arange(_N_ROWS) % 2)
    centres = np.vstack([np.repeat(y_train[:, None], N_LABELLINGS, axis=1), labellings])
    X = 2.0 * centres - 1.0 + rng.normal(scale=_NOISE, size=centres.shape)
    right = int(rng.integers(N_LABELLINGS))  # the last draw: nothing above depends on it
    fold = make_fold(X, np.concatenate([y_train, labellings[:, right]]), _N_ROWS)
    predictions = succeeded(run_on(fold, method, kind, top=1, raw_input=raw_input)).result.predictions
    assert predictions is not None
    hits = (predictions[:, None] == labellings).sum(axis=0)
    return bool(hits[right] > np.delete(hits, right).max())
