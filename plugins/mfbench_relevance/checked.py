"""What these methods declare to ``mfbench check``: growth, quick parameters, and failures with their reasons."""

from __future__ import annotations

from typing import Any

THRESHOLD = "a weight is the relevance above a permutation threshold, so that of a constant is minus the threshold"

SELECTORS: dict[str, dict[str, Any]] = {
    "rfvm": {"complexity": "n * p**2 + p**3", "invariance": "monotone"},
    "rvm-linear": {"complexity": "n * p**2 + p**3", "invariance": "affine"},
    "fvm": {"complexity": "n * p**2", "check_parameters": {"n_folds": 3}, "invariance": "monotone"},
    "psvm": {
        "complexity": "n * p**2",
        "check_parameters": {"tuning": "kernel", "n_folds": 3},
        "invariance": "monotone",
    },
    "kernel-ranking": {
        "complexity": "n * p",
        "invariance": "monotone",
        "expected_failures": {"constant-column": THRESHOLD},
    },
}
