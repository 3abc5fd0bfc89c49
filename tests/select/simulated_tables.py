"""Tables whose truth is known, and twenty pipelines fast enough for thousands of them."""

import numpy as np

from mfbench_select.inference import RowScores

SIZES = (1, 2, 5, 10, 20)
LEARNERS = ("1-NN", "5-NN", "LDA", "centroid")
FOLDS = 5
# (rows, features, relevant features, effect of each, share of the second class)
CELLS = {
    "n=100, p=20, strong": (100, 20, 5, 0.5, 0.5),
    "n=100, p=200, weak": (100, 200, 5, 0.3, 0.5),
    "n=300, p=20, sparse": (300, 20, 1, 0.8, 0.5),
    "n=300, p=200, 20:80": (300, 200, 5, 0.4, 0.2),
    "n=100, p=200, null": (100, 200, 0, 0.0, 0.5),
    "n=300, p=20, null 30:70": (300, 20, 0, 0.0, 0.3),
}


def table(cell, rng, n=None):
    """Return a table of a cell: Gaussian features whose means depend on the class."""
    rows, p, relevant, effect, share = CELLS[cell]
    rows = n or rows
    y = np.zeros(rows, dtype=np.int64)
    y[: round(share * rows)] = 1
    X = rng.standard_normal((rows, p))
    X[:, :relevant] += effect * (2 * y[:, None] - 1)
    return X, y


def order_of(X, y):
    """Return the features by their F statistics, largest first."""
    first, second = X[y == 0], X[y == 1]
    within = first.var(axis=0) * len(first) + second.var(axis=0) * len(second)
    return np.argsort(-((first.mean(axis=0) - second.mean(axis=0)) ** 2) / within, kind="stable")


def predictions(X, y, X_test):
    """Return the predicted classes of all pipelines, of shape (n_test, n_pipelines)."""
    order, columns = order_of(X, y), []
    for size in SIZES:
        kept = order[:size]
        A, B = X[:, kept], X_test[:, kept]
        distances = (B**2).sum(axis=1)[:, None] - 2 * B @ A.T + (A**2).sum(axis=1)
        near = np.argpartition(distances, 4, axis=1)[:, :5]
        columns += [y[distances.argmin(axis=1)], (y[near].mean(axis=1) > 0.5).astype(np.int64)]
        means = np.array([A[y == code].mean(axis=0) for code in (0, 1)])
        spread = np.cov((A - means[y]).T).reshape(size, size) + 0.1 * np.eye(size)
        log_shares = np.log(np.bincount(y, minlength=2) / len(y))
        for matrix in (np.linalg.inv(spread), np.diag(1.0 / np.diag(spread))):
            direction = matrix @ (means[1] - means[0])
            bound = means.mean(axis=0) @ direction - (log_shares[1] - log_shares[0])
            columns.append((B @ direction > bound).astype(np.int64))
    return np.column_stack(columns)


def row_scores(X, y, rng, repeats=5):
    """Return the row scores of all pipelines in stratified cross-validation."""
    values = np.zeros((repeats, len(y), len(SIZES) * len(LEARNERS)), dtype=np.float32)
    for repeat in range(repeats):
        folds = np.empty(len(y), dtype=np.int64)
        for code in (0, 1):
            rows = rng.permutation(np.flatnonzero(y == code))
            folds[rows] = np.arange(len(rows)) % FOLDS
        for fold in range(FOLDS):
            test = folds == fold
            predicted = predictions(X[~test], y[~test], X[test])
            values[repeat, test] = predicted == y[test, None]
    return RowScores(values, FOLDS)


def true_score(X, y, pipeline, cell, rng, n=4_000):
    """Return the accuracy of a pipeline, fitted to a whole table, on new rows."""
    X_new, y_new = table(cell, rng, n)
    return float((predictions(X, y, X_new)[:, pipeline] == y_new).mean())


# (rows, features, relevant features, coefficient of each), with noise of variance 1
NUMBERS = {
    "n=100, p=20, strong": (100, 20, 5, 0.45),
    "n=100, p=200, weak": (100, 200, 5, 0.25),
    "n=300, p=20, weak": (300, 20, 3, 0.2),
    "n=100, p=50, null": (100, 50, 0, 0.0),
}


def table_of_numbers(cell, rng, n=None):
    """Return a table of a cell whose target is a number."""
    rows, p, relevant, coefficient = NUMBERS[cell]
    X = rng.standard_normal((n or rows, p))
    return X, coefficient * X[:, :relevant].sum(axis=1) + rng.standard_normal(len(X))


def predicted_numbers(X, y, X_test):
    """Return the predictions of all pipelines: two ridge regressions and ten neighbours for each size."""
    centred, columns = y - y.mean(), []
    order = np.argsort(-np.abs(centred @ X) / X.std(axis=0))
    for size in SIZES:
        kept = order[:size]
        middle = X[:, kept].mean(axis=0)
        A, B = X[:, kept] - middle, X_test[:, kept] - middle
        for penalty in (1.0, 30.0):
            weights = np.linalg.solve(A.T @ A + penalty * np.eye(size), A.T @ centred)
            columns.append(y.mean() + B @ weights)
        distances = (B**2).sum(axis=1)[:, None] - 2 * B @ A.T + (A**2).sum(axis=1)
        columns.append(y[np.argpartition(distances, 9, axis=1)[:, :10]].mean(axis=1))
    return np.column_stack(columns)


def row_scores_of_numbers(X, y, rng, repeats=5):
    """Return the row scores of all pipelines, whose mean is R²."""
    values = np.zeros((repeats, len(y), 3 * len(SIZES)), dtype=np.float32)
    for repeat in range(repeats):
        folds = rng.permutation(len(y)) % FOLDS
        for fold in range(FOLDS):
            test = folds == fold
            errors = y[test, None] - predicted_numbers(X[~test], y[~test], X[test])
            values[repeat, test] = 1.0 - errors**2 / y.var()
    return RowScores(values, FOLDS, are_shares=False, deviations=(y - y.mean()) ** 2 / y.var())


def true_r2(X, y, pipeline, cell, rng, n=4_000):
    """Return the R² of a pipeline, fitted to a whole table, on new rows."""
    X_new, y_new = table_of_numbers(cell, rng, n)
    _, _, relevant, coefficient = NUMBERS[cell]
    errors = y_new - predicted_numbers(X, y, X_new)[:, pipeline]
    return float(1.0 - (errors**2).mean() / (relevant * coefficient**2 + 1.0))
