"""UCI datasets that enumerate a domain: every row and label follows from a published rule, so no file is needed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from mfbench.model.specs import Dataset
from mfbench_datasets.citations import attribution

_MONK_LEVELS = (3, 3, 2, 3, 4, 2)
_MONK_NAMES = ("a1", "a2", "a3", "a4", "a5", "a6")
_SQUARES = tuple(
    f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
# Squares are numbered 0 to 8 from the top left, row by row.
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def monks_1() -> Dataset:
    """Return the complete first MONK's problem: class 1 if a1 = a2 or a5 = 1.

    Returns
    -------
    Dataset
        All 432 combinations of six categories; 216 rows of each class. Alone, a1 and a2 carry no information about the
        class.

    Examples
    --------
    >>> import numpy as np
    >>> dataset = monks_1()
    >>> np.bincount(dataset.y)
    array([216, 216])
    """
    return _monks("monks-1", lambda a: (a[0] == a[1]) | (a[4] == 1), (0, 1, 4), ((0, 1),))


def monks_2() -> Dataset:
    """Return the complete second MONK's problem: class 1 if exactly two of the six features are 1.

    The concept is symmetric in the events "feature is 1", so every pair of features interacts.

    Returns
    -------
    Dataset
        All 432 combinations; 290 rows of class 0, 142 of class 1.

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(monks_2().y)
    array([290, 142])
    """
    pairs = tuple(combinations(range(6), 2))
    return _monks("monks-2", lambda a: np.sum([column == 1 for column in a], axis=0) == 2, tuple(range(6)), pairs)


def monks_3() -> Dataset:
    """Return the complete third MONK's problem: class 1 if a5 = 3 and a4 = 1, or a5 ≠ 4 and a2 ≠ 3.

    The interactions are the two conjunctions: (a4, a5) and (a2, a5). In UCI's training file 5 % of the labels are
    flipped; this dataset is UCI's test file, whose labels are all correct.

    Returns
    -------
    Dataset
        All 432 combinations; 204 rows of class 0, 228 of class 1.

    Examples
    --------
    >>> monks_3().relevant
    (1, 3, 4)
    """
    return _monks(
        "monks-3",
        lambda a: ((a[4] == 3) & (a[3] == 1)) | ((a[4] != 4) & (a[1] != 3)),
        (1, 3, 4),
        ((1, 4), (3, 4)),
    )


def _monks(
    name: str,
    concept: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    relevant: tuple[int, ...],
    interactions: tuple[tuple[int, int], ...],
) -> Dataset:
    """Enumerate all combinations (values from 1, the last feature varying fastest) and label them by the concept."""
    rows = np.array(list(product(*(range(1, n + 1) for n in _MONK_LEVELS))), dtype=np.int64)
    return Dataset(
        name=name,
        X=(rows - 1).astype(np.float64),
        y=concept(rows.T).astype(np.int64),
        class_names=("0", "1"),
        feature_names=_MONK_NAMES,
        categorical=np.ones(6, dtype=bool),
        categories={
            feature: tuple(str(value + 1) for value in range(n))
            for feature, n in zip(_MONK_NAMES, _MONK_LEVELS, strict=True)
        },
        relevant=relevant,
        interactions=interactions,
        **attribution(name),
    )


def balance_scale() -> Dataset:
    """Return the balance scale data: the sign of left weight · left distance - right weight · right distance.

    The class depends only on the two products, whose factors are the interactions.

    Returns
    -------
    Dataset
        All 625 combinations of four numbers from 1 to 5; 49 balanced (B), 288 left down (L), 288 right down (R).

    Examples
    --------
    >>> import numpy as np
    >>> dataset = balance_scale()
    >>> dict(zip(dataset.class_names, np.bincount(dataset.y).tolist()))
    {'B': 49, 'L': 288, 'R': 288}
    """
    rows = np.array(list(product(range(1, 6), repeat=4)), dtype=np.float64)
    torque = rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3]
    return Dataset(
        name="balance-scale",
        X=rows,
        y=np.select([torque == 0, torque > 0], [0, 1], 2).astype(np.int64),
        class_names=("B", "L", "R"),
        feature_names=("left-weight", "left-distance", "right-weight", "right-distance"),
        categorical=np.zeros(4, dtype=bool),
        relevant=(0, 1, 2, 3),
        interactions=((0, 1), (2, 3)),
        **attribution("balance-scale"),
    )


def tic_tac_toe() -> Dataset:
    """Return the tic-tac-toe endgame data: every board that can end a game in which x moved first.

    The relevant features are not defined: nearly always, the other eight squares determine the content of a square.

    Returns
    -------
    Dataset
        958 boards of nine squares (b = blank, o, x); 626 positive (x has three in a row) and 332 negative (316 won
        by o, 16 draws).

    Examples
    --------
    >>> import numpy as np
    >>> dataset = tic_tac_toe()
    >>> dict(zip(dataset.class_names, np.bincount(dataset.y).tolist()))
    {'negative': 332, 'positive': 626}
    """
    boards = [board for board in product("xob", repeat=9) if _is_final(board)]
    symbols = ("b", "o", "x")
    return Dataset(
        name="tic-tac-toe",
        X=np.array([[symbols.index(square) for square in board] for board in boards], dtype=np.float64),
        y=np.array([_has_line(board, "x") for board in boards], dtype=np.int64),
        class_names=("negative", "positive"),
        feature_names=_SQUARES,
        categorical=np.ones(9, dtype=bool),
        categories=dict.fromkeys(_SQUARES, symbols),
        **attribution("tic-tac-toe"),
    )


def _has_line(board: tuple[str, ...], player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def _is_final(board: tuple[str, ...]) -> bool:
    """Return whether a game can end with this board: the winner moved last, or nobody won and the board is full.

    A board with two lines of one player is possible: with at most five marks the lines share a square, and a move there
    completes both.
    """
    lead = board.count("x") - board.count("o")
    x_won, o_won = _has_line(board, "x"), _has_line(board, "o")
    if x_won or o_won:
        return x_won != o_won and lead == (1 if x_won else 0)
    return "b" not in board and lead == 1
