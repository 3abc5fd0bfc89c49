"""A comparison as JSON: every field of `Comparison`, for programs of one's own."""

from __future__ import annotations

import json
from dataclasses import asdict

from mfbench.base.untrusted import json_document
from mfbench.report.render.json import plain
from mfbench_gate.comparison import Comparison
from mfbench_gate.texts import headline


def to_json(comparison: Comparison) -> str:
    """Return a comparison as JSON; a number that does not exist is null.

    Parameters
    ----------
    comparison : Comparison
    """
    content = {"headline": headline(comparison), **asdict(comparison), "exit_code": int(comparison.exit_code)}
    return json_document(json.dumps(plain(content), indent=2, ensure_ascii=False)) + "\n"
