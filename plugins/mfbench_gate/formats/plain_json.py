"""A comparison as JSON: every field of `Comparison`, for programs of one's own."""

from __future__ import annotations

import json

from mfbench.errors import printable
from mfbench_gate.comparison import Comparison
from mfbench_gate.texts import headline


def to_json(comparison: Comparison) -> str:
    """Return a comparison as JSON; a number that does not exist is null."""
    content = {"headline": headline(comparison), **comparison.as_plain()}
    return printable(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
