"""What these methods declare to ``mfbench check``: growth, quick parameters, and failures with their reasons."""

from __future__ import annotations

from typing import Any

FOLDS = "its folds follow the order of the rows"

SELECTORS: dict[str, dict[str, Any]] = {
    "sqpfw": {"complexity": "n**2 * p"},
    "sqpfw-path": {"complexity": "n**2 * p", "check_parameters": {"theta_max": 0.05}},
    "sqpfw-cv": {
        "complexity": "n**2 * p",
        "check_parameters": {"theta_max": 0.05, "n_thetas": 4, "cv": 2, "neighbourhoods": ((1, 1),)},
    },
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "sqpfw": {"complexity": "n**2 * p"},
    "sqpfw-cv": {
        "complexity": "n**2 * p",
        "check_parameters": {"theta_max": 0.05, "n_thetas": 4, "cv": 2, "neighbourhoods": ((1, 1),)},
        "expected_failures": {"rows": FOLDS},
    },
}
