"""Rounds: determined by their seed alone, with a reported order of columns that the truth follows."""

import numpy as np
import pytest

from mfbench.data import rounds
from mfbench.data.reference import parse_reference
from mfbench.data.rounds import reorder_columns
from mfbench.errors import DataError, UsageError
from mfbench.host.registry import load_registry


def canonical_dataset(text, registry):
    return rounds.canonical_dataset(parse_reference(text), registry)


def draw_round(text, registry, seed):
    return rounds.draw_round(parse_reference(text), registry, seed)


@pytest.fixture(scope="module")
def registry():
    return load_registry(only=["datasets"])


def test_same_seed_same_round(subtests, registry):
    for name in ["xor(n_samples=50)", "friedman-1(n_samples=50)", "corral", "monks-3"]:
        with subtests.test(name=name):
            a, b, c = (draw_round(name, registry, seed) for seed in (1, 1, 2))
            for one, other in ((a.data.X, b.data.X), (a.data.y, b.data.y), (a.order, b.order)):
                np.testing.assert_array_equal(one, other)
            assert not np.array_equal(a.data.X, c.data.X)


def test_truth_goes_with_the_columns(subtests, registry):
    for name in ["gametes-like(n_samples=80)", "mux6", "rfvm-simulation-2(n_samples=40)", "parity"]:
        with subtests.test(name=name):
            canonical = canonical_dataset(name, registry)
            drawn = draw_round(name, registry, 5)
            assert sorted(drawn.order) == list(range(canonical.n_features))
            assert sorted(drawn.order[list(drawn.data.relevant)]) == sorted(canonical.relevant)
            pairs = {tuple(sorted(drawn.order[list(pair)].tolist())) for pair in drawn.data.interactions}
            assert pairs == {tuple(sorted(pair)) for pair in canonical.interactions}


def test_columns_keep_their_names_and_values(registry):
    data = canonical_dataset("xor(n_samples=30, n_noise=3)", registry)
    order = np.array([4, 0, 2, 1, 3])
    moved = reorder_columns(data, order)
    np.testing.assert_array_equal(moved.X[:, 1], data.X[:, 0])
    assert moved.feature_names[3] == data.feature_names[1]
    assert moved.relevant == (1, 3)


def test_a_table_gives_rows_of_its_own(registry):
    table, drawn = canonical_dataset("monks-1", registry), draw_round("monks-1", registry, 3)
    back = drawn.data.X[:, np.argsort(drawn.order)]
    rows = {(*row, label) for row, label in zip(map(tuple, table.X), table.y, strict=True)}
    found = {(*row, label) for row, label in zip(map(tuple, back), drawn.data.y, strict=True)}
    assert found < rows
    assert len(drawn.data.y) == len(table.y)


def test_response_follows_the_rows(registry):
    drawn = draw_round("friedman-1(n_samples=41)", registry, 3).data
    np.testing.assert_array_equal(drawn.y, drawn.response > np.median(drawn.response))


def test_without_a_truth(subtests, registry):
    for name in ["wine", "file:own.csv", "openml:61", "sonar"]:
        with subtests.test(name=name), pytest.raises(DataError, match="no known relevant features"):
            canonical_dataset(name, registry)


def test_a_seed_of_its_own_is_refused(registry):
    with pytest.raises(UsageError, match="each round has its own seed"):
        canonical_dataset("xor(seed=3)", registry)
