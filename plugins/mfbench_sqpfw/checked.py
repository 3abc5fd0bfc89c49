"""What these methods declare: the seconds of a fit, quick parameters for checks, and failures with their reasons."""

from __future__ import annotations

from typing import Any

FOLDS = "its folds follow the order of the rows"

SELECTORS: dict[str, dict[str, Any]] = {
    "sqpfw": {"complexity": "1e-2 + 2e-5 * n * p + 7e-9 * n**2 * p + 1e-5 * p**2"},
    "sqpfw-path": {
        "complexity": "2e-2 + 2.5e-5 * n * p + 1.5e-8 * n**2 * p + 1e-5 * p**2",
        "check_parameters": {"theta_max": 0.05},
    },
    "sqpfw-cv": {
        "complexity": "5e-1 + 1e-3 * n * p + 8e-7 * n**2 * p + 8e-4 * p**2",
        "check_parameters": {"theta_max": 0.05, "n_thetas": 4, "cv": 2, "neighbourhoods": ((1, 1),)},
    },
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "sqpfw": {"complexity": "1e-2 + 2e-5 * n * p + 7e-9 * n**2 * p + 1e-5 * p**2"},
    "sqpfw-cv": {
        "complexity": "5e-1 + 1e-3 * n * p + 8e-7 * n**2 * p + 8e-4 * p**2",
        "check_parameters": {"theta_max": 0.05, "n_thetas": 4, "cv": 2, "neighbourhoods": ((1, 1),)},
        "expected_failures": {"rows": FOLDS},
    },
}
