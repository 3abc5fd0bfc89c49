"""What this plugin offers to mfbench: SQP-FW for one theta, along its path, and with all chosen by cross-validation."""

from __future__ import annotations

from typing import Any

from mfbench import ClassifierSpec, SelectorSpec, hookimpl

_PAPER = (
    "I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification. "
    "NIPS 2011"
)
_GRID: dict[str, list[Any]] = {"kappa": [1, 2, 3], "theta": [0.003, 0.01, 0.03, 0.1, 0.3]}
_SQPFW = {
    "name": "sqpfw",
    "summary": "SQP-FW: margin of neighbours that stay consistent with the weights, by quadratic programs",
    "factory": "mfbench_sqpfw.weighting:SQPFeatureWeighting",
}
_SQPFW_CV = {
    "name": "sqpfw-cv",
    "summary": "SQP-FW whose theta, neighbourhood and k are chosen by cross-validation along the path",
    "factory": "mfbench_sqpfw.cv:SQPFeatureWeightingCV",
}
_SQPFW_PATH = {
    "name": "sqpfw-path",
    "summary": "SQP-FW along its regularisation path: one fit serves every theta up to theta_max",
    "factory": "mfbench_sqpfw.path:SQPFeatureWeightingPath",
    "grid": {"kappa": [1, 2, 3], "theta_max": [0.003, 0.01, 0.03, 0.1, 0.3]},
    "path": ("theta_max", "weights_at"),
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
    """Return SQP-FW as classifiers: nearest neighbours under the learned weights."""
    grid = {**_GRID, "n_neighbors": [1, 3, 5]}
    return [ClassifierSpec(**_SQPFW, grid=grid, **_SHARED), ClassifierSpec(**_SQPFW_CV, **_SHARED)]
