"""SQP-FW: target-neighbour-consistent feature weighting, its regularisation path, and its tuning by cross-validation.

The estimators are imported on first use, so registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_sqpfw.certificate import Certificate
    from mfbench_sqpfw.cv import SQPFeatureWeightingCV
    from mfbench_sqpfw.path import SQPFeatureWeightingPath, sqpfw_path, toy_data
    from mfbench_sqpfw.weight_path import WeightPath
    from mfbench_sqpfw.weighting import SQPFeatureWeighting

_MODULES = {
    "Certificate": "mfbench_sqpfw.certificate",
    "SQPFeatureWeighting": "mfbench_sqpfw.weighting",
    "SQPFeatureWeightingCV": "mfbench_sqpfw.cv",
    "SQPFeatureWeightingPath": "mfbench_sqpfw.path",
    "WeightPath": "mfbench_sqpfw.weight_path",
    "sqpfw_path": "mfbench_sqpfw.path",
    "toy_data": "mfbench_sqpfw.path",
}

__all__ = [
    "Certificate",
    "SQPFeatureWeighting",
    "SQPFeatureWeightingCV",
    "SQPFeatureWeightingPath",
    "WeightPath",
    "sqpfw_path",
    "toy_data",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_sqpfw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
