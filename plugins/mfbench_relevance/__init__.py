"""Nonlinear feature selection in example space: RFVM, FVM and P-SVM on a kernel between features.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_relevance.fvm import FVM
    from mfbench_relevance.kernels import FeatureKernel, feature_kernel
    from mfbench_relevance.psvm import PSVM
    from mfbench_relevance.ranking import KernelRanking
    from mfbench_relevance.rfvm import RFVM

_MODULES = {
    "FVM": "mfbench_relevance.fvm",
    "FeatureKernel": "mfbench_relevance.kernels",
    "KernelRanking": "mfbench_relevance.ranking",
    "PSVM": "mfbench_relevance.psvm",
    "RFVM": "mfbench_relevance.rfvm",
    "feature_kernel": "mfbench_relevance.kernels",
}

__all__ = ["FVM", "PSVM", "RFVM", "FeatureKernel", "KernelRanking", "feature_kernel"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_relevance' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
