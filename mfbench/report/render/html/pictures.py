"""Charts on the page: static pictures that need no script, and specifications in a compact form for the script."""

from __future__ import annotations

import base64
import html
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

from mfbench.report.charts.drawing import picture_of
from mfbench.report.charts.theme import CONFIG

# Larger drawings have thousands of shapes, which would slow the page down as elements: they become images.
LARGEST_SVG = 60_000
_FOR_READERS = ("role", "class", "pointer-events")
_TEXTUAL = ("font-family",)
_DEFAULTS = {"opacity": "1", "stroke-width": "1", "fill-opacity": "1", "stroke-opacity": "1"}
_DEFAULTS_OF_LINES = {**_DEFAULTS, "x2": "0", "y2": "0"}
_INHERITED = ("fill", "stroke", "stroke-width", "font-family", "font-size", "font-weight", "text-anchor")
_COLOUR = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_DECIMALS = re.compile(r"(?<=\d)\.(\d{2})\d+")
# A bar of height or width 0, such as that of a feature without weight.
_EMPTY = re.compile(r"M[-\d.e,]+h(0v[-\d.e]+|[-\d.e]+v0)h[-\d.e]+Z")

ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def static_picture(content: dict[str, Any], name: str, words: str) -> str:
    """Return a chart as an element of the page: SVG, or an image, of shapes or pixels, if that would be large.

    Parameters
    ----------
    content : dict
        As returned by `mfbench.report.charts.drawing.specification`.
    name : str
        Name of the chart; identifiers within the element begin with it.
    words : str
        What the picture shows, for readers who cannot see it.

    Raises
    ------
    ValueError
        If the specification is not valid.
    """
    plain = {**content, "config": {**content["config"], "aria": False}}
    element = _as_element(picture_of(plain).decode(), name, words)
    if len(element) <= LARGEST_SVG:
        return element
    forms = {"png": picture_of(content, "png"), "svg+xml": element.encode()}
    form, image = min(forms.items(), key=lambda item: len(item[1]))
    return f'<img alt="{html.escape(words)}" src="data:image/{form};base64,{base64.b64encode(image).decode()}">'


def packed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification with its data as columns and rows, and without what the page has already.

    Parameters
    ----------
    content : mapping
        As returned by `mfbench.report.charts.drawing.specification`.

    Returns
    -------
    dict
        Each entry of ``datasets`` whose rows have the same columns is a dictionary of ``columns`` and ``rows``.
        Numbers have six significant digits. Settings that all charts share and the description are left out.
    """
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


def _as_element(svg: str, name: str, words: str) -> str:
    """Return an SVG document as an element: one label instead of one for each shape, and identifiers of its own."""
    root = ElementTree.fromstring(svg)  # nosec B314  # drawn by the library in this process
    # The drawing library numbers them on from one picture of a process to the next.
    own = {old: f"{name}-{number}" for number, old in enumerate(filter(None, (e.get("id") for e in root.iter())))}
    for element in root.iter():
        # The end of a gradient is not at 0 unless that is written.
        defaults = _DEFAULTS_OF_LINES if element.tag.endswith("}line") else _DEFAULTS
        for key, value in list(element.items()):
            if key in _FOR_READERS or key.startswith("aria-") or defaults.get(key) == value:
                del element.attrib[key]
            elif key == "id":
                element.set(key, own[value])
            elif key not in _TEXTUAL:
                short = _DECIMALS.sub(r".\1", _REFERENCE.sub(lambda match: f"url(#{own.get(match[1], '')})", value))
                element.set(key, _COLOUR.sub(_hexadecimal, short))
    _drop_empty(root)
    _hoist(root)
    root.attrib |= {"role": "img", "aria-label": words}
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _drop_empty(group: ElementTree.Element) -> None:
    """Remove bars that cannot be seen; one with an outline can."""
    for member in list(group):
        if _EMPTY.fullmatch(member.get("d", "")) and member.get("stroke") in (None, "none"):
            group.remove(member)
        else:
            _drop_empty(member)


def _hoist(group: ElementTree.Element) -> None:
    """Move the colours and fonts that all members of a group share to the group, from the inside out."""
    for member in group:
        _hoist(member)
    if len(group) < 2:
        return
    for key in _INHERITED:
        values = {member.get(key) for member in group}
        if len(values) == 1 and None not in values:
            group.set(key, str(values.pop()))
            for member in group:
                del member.attrib[key]


def _hexadecimal(colour: re.Match[str]) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in colour.groups())
