"""A comparison with every verdict, and one whose names are hostile."""

import pytest

from mfbench_gate.comparison import CellVerdict, ChangedPredictions, ComparedCell, Comparison, Omission, Side

HOSTILE = "a|b\n<img src=x>`*_@everyone #1 \x1b[31m & ]]> \" ' \ud800 \ufffe --> http://x.y"


@pytest.fixture
def comparison():
    """Two methods on wine: times, memory, scores; one of them was left out on another dataset."""
    time = {"dataset": "wine", "measure": "time", "unit": "s", "n_pairs": 12, "limit": 1.05, "floor": 1.02}
    return Comparison(
        Side("main", "0123abc", "a processor"),
        Side("HEAD", "4567def", "a processor"),
        "Times of two methods",
        cells=[
            ComparedCell(
                "RFF",
                base=0.010,
                head=0.012,
                verdict=CellVerdict.WORSE,
                reason="slower than the limit",
                ratio=1.2,
                low=1.15,
                high=1.25,
                p_value=0.001,
                base_values=(0.009, 0.010, 0.011),
                head_values=(0.011, 0.012, 0.013),
                **time,
            ),
            ComparedCell(
                "1NN", base=0.010, head=0.0101, verdict=CellVerdict.NO_WORSE, ratio=1.01, low=0.99, high=1.03, **time
            ),
            ComparedCell(
                "1NN",
                "wine",
                "accuracy",
                0.95,
                0.94,
                CellVerdict.UNDECIDED,
                "may lose up to 0.03",
                difference=-0.01,
                greater_is_better=True,
            ),
            ComparedCell(
                "RFF", "wine", "memory", 2e6, 3e6, CellVerdict.TREND, "not measured together", unit="B", ratio=1.5
            ),
            ComparedCell("LFE", "wine", "accuracy", 0.9, float("nan"), CellVerdict.UNDECIDED, "undefined in head"),
        ],
        changes=[ChangedPredictions("1NN", "wine", 178, 3)],
        omissions=[Omission("RFF/iris", "10 of 10 trials failed in head (timeout): nothing is compared.")],
        notes=["Versions differ: scikit-learn 1.7 → 1.8."],
        seconds=61.5,
    )


@pytest.fixture
def hostile():
    """Every text that a stored run or a file could bring is hostile, and numbers are not finite."""
    infinite = float("inf")
    return Comparison(
        Side(HOSTILE, HOSTILE, HOSTILE),
        Side(HOSTILE),
        HOSTILE,
        cells=[
            ComparedCell(
                HOSTILE, HOSTILE, "time", 0.0, 1.0, CellVerdict.WORSE, HOSTILE, HOSTILE, "s", infinite, 1.0, infinite
            ),
            ComparedCell(HOSTILE, "", "accuracy", float("nan"), 0.5, CellVerdict.UNDECIDED, HOSTILE),
        ],
        changes=[ChangedPredictions(HOSTILE, HOSTILE, 1, 1)],
        omissions=[Omission(HOSTILE, HOSTILE)],
        notes=[HOSTILE],
    )
