import pytest


@pytest.fixture
def words():
    """Return a row of a dataset as it is written in the UCI file."""

    def row_of(dataset, row):
        return [
            dataset.categories[name][int(value)] if name in dataset.categories else value
            for name, value in zip(dataset.feature_names, dataset.X[row], strict=True)
        ] + [dataset.class_names[dataset.y[row]]]

    return row_of
