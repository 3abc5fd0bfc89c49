"""Curves written by hand: a score for each fold and size of a method on a dataset."""

import pandas as pd
import pytest


@pytest.fixture
def make_curves():
    """Return a function that makes rows of curves: `cells` maps (dataset, method) to {size: scores of the folds}."""

    def make(cells, metric="accuracy"):
        return pd.DataFrame(
            [
                {"dataset": d, "method": m, "replicate": 0, "fold": fold, "size": size, "metric": metric,
                 "score": score, "seconds": 0.5}
                for (d, m), scores in cells.items()
                for size, values in scores.items()
                for fold, score in enumerate(values)
            ]
        )  # fmt: skip

    return make
