"""Margin-based feature weighting, from Relief to Boosted IMMIGRATE.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_margin.immigrate import IMMIGRATE
    from mfbench_margin.relief import Relief
    from mfbench_margin.relieff import ReliefF

_HOMES = {
    "IMMIGRATE": "mfbench_margin.immigrate",
    "Relief": "mfbench_margin.relief",
    "ReliefF": "mfbench_margin.relieff",
}

__all__ = ["IMMIGRATE", "Relief", "ReliefF"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_margin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
