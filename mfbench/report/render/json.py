"""The report as JSON, and the schema of these documents."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.untrusted import json_document
from mfbench.model.sections import Report

REPORT, POWER, HISTORY = "mfbench-report", "mfbench-power", "mfbench-history"
VERSIONS = {REPORT: 1, POWER: 1, HISTORY: 1}
"""The version of each form of document; it rises if a key is removed or changed, see docs/results.md."""
SCHEMA = "report.schema.json"


def to_json(report: Report, name: str = REPORT) -> str:
    """Return the data of all sections as one JSON object; a value that does not exist is null."""
    content: dict[str, Any] = {"schema": {"name": name, "version": VERSIONS[name]}, **report.data}
    plugin_data: dict[str, dict[str, Any]] = {}
    for section in report.sections:
        values = {key: value() for key, value in section.data.items()}
        if section.plugin:
            plugin_data.setdefault(section.plugin, {}).update(values)
        else:
            content |= values
    content["plugin_data"] = plugin_data
    return json_text(content)


def json_text(content: Any) -> str:
    """Return content of any form that `plain` knows as a JSON document, which no terminal obeys."""
    return json_document(json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


@cache
def read_schema(package: str, name: str) -> dict[str, Any]:
    """Return a JSON Schema among the files of a package: the same object for each call."""
    content: dict[str, Any] = json.loads(resources.files(package).joinpath(name).read_text(encoding="utf-8"))
    return content


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the documents that `to_json` makes."""
    # It describes exactly what this version of mfbench writes: an object with other keys is not valid, except where
    # plugins and other versions of mfbench decide about the keys.
    return read_schema(__package__, SCHEMA)


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
