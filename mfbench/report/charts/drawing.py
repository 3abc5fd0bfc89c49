"""From a chart to its Vega-Lite specification, and from that to SVG, PDF and PNG, without a browser or a network."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from mfbench.base.untrusted import plain_lines
from mfbench.errors import MfbenchError
from mfbench.model.sections import Chart
from mfbench.processes.call import ChildError, call
from mfbench.processes.process import has_limited_addresses
from mfbench.report.charts.compact import compact
from mfbench.report.charts.theme import CONFIG

FORMATS = ("svg", "pdf", "png")
PIXELS_PER_POINT = 2
_TRIAL = ("vl_convert:vegalite_to_svg", {"data": {"values": []}, "mark": "point"})
# What would make a reader's browser ask another machine, or leave the page.
_FORBIDDEN_KEYS = ("url", "href", "usermeta")
_FORBIDDEN_MARKS = ("image",)


def specification(chart: Chart, heading: str = "") -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, with its data, in the colours and fonts of all charts."""
    if chart.spec is None:
        raise ValueError(f"the chart {chart.name!r} has no specification")
    made = chart.spec()
    content = _as_dictionary(made)
    if not isinstance(content, dict) or not _is_view(content):
        raise ValueError(f"the specification of the chart {chart.name!r} must be an Altair chart or a dictionary")
    for problem in _references(content):
        raise ValueError(f"the chart {chart.name!r} refers to something outside itself: {problem}")
    content["config"] = _merged(CONFIG, content.get("config") or {})
    content["description"] = chart.title if chart.alt is None else chart.alt()
    if heading:
        content["title"] = {"text": heading, "anchor": "middle"}
    safe: dict[str, Any] = cleaned(content)
    return safe


def picture(chart: Chart, form: str = "svg", heading: str = "") -> bytes:
    """Return a chart as a file."""
    content = specification(chart, heading)
    return svg_of(content, "shape", content["description"]).encode() if form == "svg" else picture_of(content, form)


def svg_of(content: Mapping[str, Any], name: str, words: str) -> str:
    """Return a specification as SVG in the form of `compact`."""
    return compact(picture_of({**content, "config": {**content["config"], "aria": False}}), name, words)


def picture_of(content: dict[str, Any], form: str = "svg") -> bytes:
    """Return a specification as a file."""
    vl_convert = drawing_engine()
    options: dict[str, Any] = {"vl_version": _version(content), "allowed_base_urls": []}
    try:
        if form == "pdf":
            return bytes(vl_convert.vegalite_to_pdf(content, **options))
        if form == "png":
            return bytes(vl_convert.vegalite_to_png(content, scale=PIXELS_PER_POINT, **options))
        return str(vl_convert.vegalite_to_svg(content, **options)).encode()
    except (ValueError, RuntimeError) as error:
        # The message is followed by a traceback of the drawing library's script.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ValueError(" ".join(lines[:2]) or "it is not valid") from error


@cache
def drawing_engine() -> Any:
    """Return the module ``vl_convert``, after a test in a child process where addresses are limited."""
    # Its JavaScript engine, V8, reserves 64 GiB of addresses when it starts, and ends the process if it cannot.
    import vl_convert

    if has_limited_addresses():
        try:
            call(*_TRIAL)
        except ChildError as error:
            raise MfbenchError(
                "the drawing library cannot start, probably because the address space of this process is limited: it "
                "reserves 64 GiB of addresses, though not of memory; raise the limit ('ulimit -v unlimited')"
            ) from error
    return vl_convert


def _as_dictionary(made: Any) -> Any:
    if not hasattr(made, "to_dict"):
        return copy.deepcopy(made)
    import altair

    # Altair's limit of rows is about files of a notebook. Validation takes most of the time of a chart; the drawing
    # library reports what it cannot draw.
    with altair.data_transformers.enable("default", max_rows=None):
        return made.to_dict(validate=False)


def cleaned(part: Any) -> Any:
    """Return content without the signs that XML forbids: the drawing library ends the process on them."""
    if isinstance(part, str):
        return plain_lines(part)
    if isinstance(part, list | tuple):
        return [cleaned(item) for item in part]
    if isinstance(part, dict):
        return {cleaned(key): cleaned(value) for key, value in part.items()}
    return part


def _merged(general: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which those of a specification itself take precedence."""
    return {
        key: _merged(general[key], own[key])
        if isinstance(general.get(key), Mapping) and isinstance(own.get(key), Mapping)
        else own.get(key, general.get(key))
        for key in {**general, **own}
    }


def _is_view(content: Mapping[str, Any]) -> bool:
    return any(key in content for key in ("mark", "layer", "hconcat", "vconcat", "concat", "facet", "repeat"))


def _version(content: Mapping[str, Any]) -> str | None:
    """Return the version of Vega-Lite that a specification names, such as 6.4; None if it names none."""
    match = re.search(r"/v(\d+\.\d+)", str(content.get("$schema", "")))
    return match[1] if match else None


def _references(part: Any, path: str = "") -> Iterator[str]:
    """Yield what a specification refers to outside itself. Rows of data are text, whatever their columns are named."""
    if isinstance(part, list):
        for number, item in enumerate(part):
            yield from _references(item, f"{path}[{number}]")
        return
    if not isinstance(part, Mapping):
        return
    for key, value in part.items():
        if key in ("datasets", "values"):
            continue
        place = f"{path}.{key}".lstrip(".")
        mark = value.get("type") if isinstance(value, Mapping) else value
        if key in _FORBIDDEN_KEYS or (key == "mark" and mark in _FORBIDDEN_MARKS):
            yield place
        yield from _references(value, place)
