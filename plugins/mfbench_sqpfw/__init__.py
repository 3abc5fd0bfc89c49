"""SQP-FW: target-neighbour-consistent feature weighting, its regularisation path, and its choice by cross-validation.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_sqpfw import toy
    from mfbench_sqpfw.certificate import Certificate
    from mfbench_sqpfw.cv import SQPFeatureWeightingCV
    from mfbench_sqpfw.path import SQPFeatureWeightingPath, WeightPath, sqpfw_path
    from mfbench_sqpfw.weighting import SQPFeatureWeighting

_HOMES = {
    "Certificate": "mfbench_sqpfw.certificate",
    "SQPFeatureWeighting": "mfbench_sqpfw.weighting",
    "SQPFeatureWeightingCV": "mfbench_sqpfw.cv",
    "SQPFeatureWeightingPath": "mfbench_sqpfw.path",
    "WeightPath": "mfbench_sqpfw.path",
    "sqpfw_path": "mfbench_sqpfw.path",
}

__all__ = [
    "Certificate",
    "SQPFeatureWeighting",
    "SQPFeatureWeightingCV",
    "SQPFeatureWeightingPath",
    "WeightPath",
    "sqpfw_path",
    "toy",
]


def __getattr__(name: str) -> Any:
    if name == "toy":
        return import_module("mfbench_sqpfw.toy")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_sqpfw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
