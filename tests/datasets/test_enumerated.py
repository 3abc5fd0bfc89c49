"""Datasets that enumerate a domain: rows of the UCI files, rules by hand, relevant features."""

import numpy as np
import pytest

from mfbench_datasets.enumerated import balance_scale, monks_1, monks_2, monks_3, tic_tac_toe


def test_first_and_last_rows(words):
    # The first and the last line of UCI's files monks-*.test.
    for make, first, last in ((monks_1, "1", "1"), (monks_2, "0", "0"), (monks_3, "1", "0")):
        assert words(make(), 0) == ["1", "1", "1", "1", "1", "1", first]
        assert words(make(), -1) == ["3", "3", "2", "3", "4", "2", last]
    assert words(balance_scale(), 0) == [1, 1, 1, 1, "B"]
    assert words(balance_scale(), 1) == [1, 1, 1, 2, "R"]
    assert words(balance_scale(), -5) == [5, 5, 5, 1, "L"]
    assert words(tic_tac_toe(), 0) == [*"xxxxooxoo", "positive"], "the first line of UCI's file"


@pytest.mark.parametrize(("number", "make"), [(1, monks_1), (2, monks_2), (3, monks_3)])
def test_monks_concepts_by_hand(words, number, make):
    dataset = make()
    for a1, a2, a3, a4, a5, a6, label in ([int(word) for word in words(dataset, i)] for i in range(432)):
        expected = {
            1: a1 == a2 or a5 == 1,
            2: [a1, a2, a3, a4, a5, a6].count(1) == 2,
            3: (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3),
        }[number]
        assert label == expected


@pytest.mark.parametrize("make", [monks_1, monks_2, monks_3, balance_scale])
def test_relevant_features_are_exactly_those_the_label_depends_on(make):
    dataset = make()
    label = {tuple(row): y for row, y in zip(dataset.X, dataset.y, strict=True)}
    depends = {
        j
        for j in range(dataset.n_features)
        for row, y in label.items()
        for value in np.unique(dataset.X[:, j])
        if label[(*row[:j], value, *row[j + 1 :])] != y
    }
    assert dataset.relevant == tuple(sorted(depends))
    assert {j for pair in dataset.interactions for j in pair} <= depends


def test_tic_tac_toe_boards_are_final(words):
    dataset = tic_tac_toe()
    boards = ["".join(words(dataset, i)[:-1]) for i in range(dataset.n_samples)]
    assert len(set(boards)) == 958
    assert sum(board.count("b") == 0 and y == 0 for board, y in zip(boards, dataset.y, strict=True)) == 16, "draws"
    assert {board.count("x") - board.count("o") for board in boards} == {0, 1}
    assert "xxxooobbb" not in boards and "xxxoobbbb" in boards
