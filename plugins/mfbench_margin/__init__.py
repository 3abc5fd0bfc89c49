"""Margin-based feature weighting: the Relief family.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_margin.lfe import LFE
    from mfbench_margin.mulrelief import MulRelief
    from mfbench_margin.nca_diagonal import NCADiagonal
    from mfbench_margin.relief import Relief
    from mfbench_margin.relieff import ReliefF
    from mfbench_margin.simba import Simba

_HOMES = {
    "LFE": "mfbench_margin.lfe",
    "MulRelief": "mfbench_margin.mulrelief",
    "NCADiagonal": "mfbench_margin.nca_diagonal",
    "Relief": "mfbench_margin.relief",
    "ReliefF": "mfbench_margin.relieff",
    "Simba": "mfbench_margin.simba",
}

__all__ = ["LFE", "MulRelief", "NCADiagonal", "Relief", "ReliefF", "Simba"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_margin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
