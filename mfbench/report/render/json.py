"""The report as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from mfbench.sections import Report


def to_json(report: Report) -> str:
    """Return the data of all sections as one JSON object; a value that does not exist is null."""
    content: dict[str, Any] = dict(report.data)
    plugin_data: dict[str, dict[str, Any]] = {}
    for section in report.sections:
        values = {key: value() for key, value in section.data.items()}
        if section.plugin:
            plugin_data.setdefault(section.plugin, {}).update(values)
        else:
            content |= values
    content["plugin_data"] = plugin_data
    return json.dumps(plain(content), indent=2, ensure_ascii=False) + "\n"


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: frames as lists of rows, NumPy numbers as plain ones, NaN as null."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value
