"""Evaluation protocols: they split the rows of a dataset into training and test parts, equal for every method.

One module and one class each; `mfbench.suite.forms.KINDS` lists them by the name in a suite's ``[protocol] kind``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from mfbench.suite.forms import COMMON, KINDS
from mfbench.suite.protocols.base import EvaluationProtocol, Split, key_settings
from mfbench.suite.protocols.rows import stratified_splits
from mfbench.suite.protocols.sampled import Sampled

__all__ = [
    "EvaluationProtocol",
    "Sampled",
    "Split",
    "key_settings",
    "make_protocol",
    "stratified_splits",
]


def make_protocol(settings: Mapping[str, Any], seed: int) -> EvaluationProtocol:
    """Return the protocol for a suite's settings."""
    kind = settings["kind"]
    # How parameters are selected is up to each method (`ResolvedMethod.selection`) and does not change the splits.
    values = {name: settings[name] for name in KINDS[kind].sound if name not in ("selection", *COMMON)}
    protocol: EvaluationProtocol = resolve_name(KINDS[kind].place)(seed=seed, **values)
    max_rows = settings.get("max_rows")
    return protocol if max_rows is None else Sampled(protocol, max_rows)
