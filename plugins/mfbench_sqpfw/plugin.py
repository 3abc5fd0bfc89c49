"""The methods that this plugin registers: SQP-FW for one theta, along its path, and tuned by cross-validation."""

from __future__ import annotations

from typing import Any

from mfbench import ClassifierSpec, SelectorSpec, hookimpl

_PAPER = (
    "I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification. "
    "NIPS 2011"
)
_GRID: dict[str, list[Any]] = {"kappa": [1, 2, 3], "theta": [0.003, 0.01, 0.03, 0.1, 0.3]}
_SQPFW: dict[str, Any] = {
    "name": "sqpfw",
    "summary": "SQP-FW: maximises the margin to target neighbours consistent with the weights",
    "factory": "mfbench_sqpfw.weighting:SQPFeatureWeighting",
    "complexity": "1e-2 + 2e-5 * n * p + 7e-9 * n**2 * p + 1e-5 * p**2",
}
_SQPFW_CV: dict[str, Any] = {
    "name": "sqpfw-cv",
    "summary": "SQP-FW with theta, neighbourhood and k selected by cross-validation along the path",
    "factory": "mfbench_sqpfw.cv:SQPFeatureWeightingCV",
    "complexity": "5e-1 + 1e-3 * n * p + 8e-7 * n**2 * p + 2e-8 * p**2.75",
    "check_parameters": {"theta_max": 0.05, "n_thetas": 4, "cv": 2, "neighbourhoods": ((1, 1),)},
}
_SQPFW_PATH: dict[str, Any] = {
    "name": "sqpfw-path",
    "summary": "SQP-FW along its regularisation path: one fit gives the weights for every theta up to theta_max",
    "factory": "mfbench_sqpfw.path:SQPFeatureWeightingPath",
    "grid": {"kappa": [1, 2, 3], "theta_max": [0.003, 0.01, 0.03, 0.1, 0.3]},
    "path": ("theta_max", "weights_at"),
    "complexity": "2e-2 + 2.5e-5 * n * p + 1.5e-8 * n**2 * p + 5e-10 * p**2.75",
    "check_parameters": {"theta_max": 0.05},
}
_SHARED: dict[str, Any] = {"paper": _PAPER, "tags": ("margin", "embedded"), "warm_up": True}


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return SQP-FW as selectors."""
    return [
        SelectorSpec(**_SQPFW, grid=_GRID, **_SHARED),
        SelectorSpec(**_SQPFW_PATH, **_SHARED),
        SelectorSpec(**_SQPFW_CV, **_SHARED),
    ]


@hookimpl
def mfbench_classifiers() -> list[ClassifierSpec]:
    """Return SQP-FW as classifiers: nearest neighbours in the learned metric."""
    grid = {**_GRID, "n_neighbors": [1, 3, 5]}
    return [
        ClassifierSpec(**_SQPFW, grid=grid, **_SHARED),
        ClassifierSpec(**_SQPFW_CV, **_SHARED),
    ]
