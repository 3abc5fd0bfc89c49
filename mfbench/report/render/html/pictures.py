"""Charts on the page: static pictures that need no script, and specifications in a compact form for the script."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping
from typing import Any

from mfbench.report.charts.drawing import picture_of, svg_of
from mfbench.report.charts.theme import CONFIG

# Larger drawings have thousands of shapes, which would slow the page down as elements: they become images.
LARGEST_SVG = 60_000


def static_picture(content: dict[str, Any], name: str, words: str) -> str:
    """Return a chart as an element of the page: SVG, or an image, of shapes or pixels, if that would be large."""
    element = svg_of(content, name, words)
    if len(element) <= LARGEST_SVG:
        return element
    forms = {"png": picture_of(content, "png"), "svg+xml": element.encode()}
    form, image = min(forms.items(), key=lambda item: len(item[1]))
    return f'<img alt="{html.escape(words)}" src="data:image/{form};base64,{base64.b64encode(image).decode()}">'


def packed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification with its data as columns and rows, and without what the page has already."""
    datasets = {name: _packed_rows(rows) for name, rows in content.get("datasets", {}).items()}
    left_out = ("$schema", "config", "datasets", "description")
    rest = {key: value for key, value in content.items() if key not in left_out}
    own = {key: value for key, value in content["config"].items() if CONFIG.get(key) != value}
    return {**rest, **({"config": own} if own else {}), **({"datasets": datasets} if datasets else {})}


def _packed_rows(rows: Any) -> Any:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return rows
    columns = list(rows[0])
    if any(list(row) != columns for row in rows):
        return rows
    return {"columns": columns, "rows": [[_shortened(value) for value in row.values()] for row in rows]}


def _shortened(value: Any) -> Any:
    if isinstance(value, float):
        number = float(f"{value:.6g}")
        return int(number) if number.is_integer() and abs(number) < 1e15 else number
    return [_shortened(item) for item in value] if isinstance(value, list) else value
