"""Predictions for runs that tests write by hand: forty rows of two classes in ten folds."""

import numpy as np

ROWS, FOLDS = 40, 10
TRUTH = np.arange(ROWS) % 2
TESTED = np.arange(ROWS).reshape(FOLDS, -1)


def right(rows):
    """Predict without an error."""
    return TRUTH[rows]


def wrong_on(*numbers, folds=range(FOLDS)):
    """Return predictions that are wrong on some rows of some folds, counted within the fold."""

    def predict(rows):
        labels = TRUTH[rows].copy()
        if rows[0] // len(rows) in folds:
            labels[list(numbers)] = 1 - labels[list(numbers)]
        return labels

    return predict
