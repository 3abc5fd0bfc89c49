"""SVG in a compact form: what the drawing library writes, without what no reader sees."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

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


def compact(svg: bytes, name: str, words: str) -> str:
    """Return a drawing with one label instead of one for each shape, and with identifiers of its own."""
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
