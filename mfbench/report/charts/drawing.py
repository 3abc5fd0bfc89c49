"""Convert charts to Vega-Lite specifications, and these to SVG, PDF and PNG, without a browser or network."""

import copy
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from mfbench.base.text import plain_lines
from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.model.sections import Chart
from mfbench.processes.call import ChildError, call
from mfbench.processes.process import has_limited_addresses

# Okabe and Ito's palette, distinguishable with any colour vision, plus four more for long lists.
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31", "#7b4173", "#637939",
)  # fmt: skip
DASHES: tuple[list[int], ...] = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
ACCENT, NEUTRAL, INK, MUTED = "#d55e00", "#999999", "#222222", "#555555"
BETTER, EQUAL, WORSE = "#0072b2", "#bbbbbb", "#d55e00"
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"

CONFIG: dict[str, Any] = {
    "background": "white",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domainColor": MUTED,
        "gridColor": "#e5e5e5",
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 260,
        "tickColor": MUTED,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelFontSize": 12, "labelLimit": 260, "symbolStrokeWidth": 2, "titleFontSize": 12},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
    "title": {"fontSize": 14, "anchor": "start", "color": INK},
    "text": {"color": INK, "fontSize": 12},
    "range": {"category": list(COLOURS)},
}
"""Vega-Lite's ``config``; a specification's own settings take precedence."""

MOST_DATASETS = 60
"""Number of datasets with a chart of their own; with more, the page would be too large to open."""


def first_charts(charts: Sequence[object]) -> list[str]:
    """Return the note on a list of charts, one per dataset, that ends at `MOST_DATASETS`."""
    return [f"Charts: the first {MOST_DATASETS} datasets."] if len(charts) == MOST_DATASETS else []


LETTER = 7.0
"""Upper bound on the width of a letter in pixels, for layouts that depend on label widths."""


def colours_of(names: Sequence[str]) -> list[str]:
    """Return a colour for each name; they repeat after ten, where `dashes_of` distinguishes them."""
    return [COLOURS[number % len(COLOURS)] for number in range(len(names))]


def lines_of_methods(names: Sequence[str]) -> tuple[Any, Any]:
    """Return Altair encodings for the colours and dashes of lines, one for each method."""
    import altair as alt

    ranges: tuple[Any, Any] = (colours_of(names), dashes_of(names))
    colour, dash = (alt.Scale(domain=list(names), range=own) for own in ranges)
    return alt.Color("method:N", title=None, scale=colour), alt.StrokeDash("method:N", title=None, scale=dash)


def chosen_in_legend(field: str) -> tuple[Any, Callable[[float, float], Any]]:
    """Return a legend-click selection, and a function that sets the opacity of selected and other items."""
    import altair as alt

    chosen = alt.selection_point(fields=[field], bind="legend")
    return chosen, lambda own, other: alt.when(chosen).then(alt.value(own)).otherwise(alt.value(other))


def dashes_of(names: Sequence[str]) -> list[list[int]]:
    """Return a pattern of dashes for each name."""
    return [DASHES[number // len(COLOURS) % len(DASHES)] for number in range(len(names))]


def distinct_slugs(names: Sequence[str]) -> list[str]:
    """Return chart names that are valid in files and URLs; duplicates are numbered."""
    slugs: list[str] = []
    for name in names:
        slug = first = _slug(name) or "chart"
        number = 2
        while slug in slugs:
            slug, number = f"{first}-{number}", number + 1
        slugs.append(slug)
    return slugs


def numbered_name(kind: str, number: int, dataset: str) -> str:
    """Return the name of a dataset's chart, fit for a file."""
    return f"{kind}-{number:02d}-{_slug(dataset)[:80]}"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


_FOR_READERS = ("role", "class", "pointer-events", "version")
_TEXTUAL = ("font-family",)
_DEFAULTS = {"opacity": "1", "stroke-width": "1", "fill-opacity": "1", "stroke-opacity": "1"}
_DEFAULTS_OF_LINES = {**_DEFAULTS, "x2": "0", "y2": "0"}
_INHERITED = ("fill", "stroke", "stroke-width", "font-family", "font-size", "font-weight", "text-anchor")
_COLOUR = re.compile(r"rgb\((\d+), (\d+), (\d+)\)")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_DECIMALS, _TENTHS = re.compile(r"(?<=\d)(\.\d{2})\d+"), re.compile(r"(?<=\d)(\.\d)\d+")
_IN_PLACE = "translate(0,0)"
_SVG = "{http://www.w3.org/2000/svg}"
# A bar of zero height or width, as drawn for a feature without weight.
_EMPTY = re.compile(r"M[-\d.e,]+h(0v[-\d.e]+|[-\d.e]+v0)h[-\d.e]+Z")

ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def compact(svg: bytes, name: str, words: str) -> str:
    """Return a drawing with a single label instead of one per shape, and with unique identifiers."""
    root = ElementTree.fromstring(svg)  # nosec B314  # drawn by the library in this process
    # The drawing library numbers identifiers consecutively per process, so they would depend on earlier pictures.
    own = {old: f"{name}-{number}" for number, old in enumerate(filter(None, (e.get("id") for e in root.iter())))}
    for element in root.iter():
        # The default end of a gradient is not 0, so it must be written out.
        defaults = _DEFAULTS_OF_LINES if element.tag.endswith("}line") else _DEFAULTS
        for key, value in list(element.items()):
            if key in _FOR_READERS or key.startswith("aria-") or defaults.get(key) == value or value == _IN_PLACE:
                del element.attrib[key]
            elif key == "id":
                element.set(key, own[value])
            elif key not in _TEXTUAL:
                decimals = _TENTHS if key in ("d", "transform") else _DECIMALS
                short = decimals.sub(r"\1", _REFERENCE.sub(lambda match: f"url(#{own.get(match[1], '')})", value))
                element.set(key, _COLOUR.sub(_hexadecimal, short))
    _drop_invisible(root)
    _hoist(root)
    root.attrib |= {"role": "img", "aria-label": words}
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _drop_invisible(group: ElementTree.Element) -> None:
    """Remove paths without a colour, and bars of no height or width without an outline."""
    for member in list(group):
        if member.tag == f"{_SVG}path":
            colours = {member.get("fill"), member.get("stroke")} - {None, "none"}
            outlined = member.get("stroke") in colours
            if not colours or not member.get("d") or (not outlined and _EMPTY.fullmatch(member.get("d", ""))):
                group.remove(member)
        elif member.tag != f"{_SVG}defs":
            _drop_invisible(member)


def _hoist(group: ElementTree.Element) -> None:
    """Move colours and fonts shared by all members of a group to the group, and remove groups that change nothing."""
    for member in group:
        _hoist(member)
    for key in _INHERITED if len(group) > 1 else ():
        values = {member.get(key) for member in group}
        if len(values) == 1 and None not in values:
            group.set(key, str(values.pop()))
            for member in group:
                del member.attrib[key]
    parts = ([member] if member.attrib or member.tag != f"{_SVG}g" else [*member] for member in group)
    group[:] = list(chain.from_iterable(parts))


def _hexadecimal(colour: re.Match[str]) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in colour.groups())


FORMATS = ("svg", "pdf", "png")
PIXELS_PER_POINT = 2
_TRIAL = ("vl_convert:vegalite_to_svg", {"data": {"values": []}, "mark": "point"})
# The keys of which every view has one.
_VIEWS = {"mark", "layer", "hconcat", "vconcat", "concat", "facet", "repeat"}


def specification(chart: Chart, heading: str = "") -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, with its data, in the standard colours and fonts."""
    if chart.spec is None:
        raise ValueError(f"the chart {chart.name!r} has no specification")
    made = chart.spec()
    content = _as_dictionary(made)
    if not isinstance(content, dict) or _VIEWS.isdisjoint(content):
        raise ValueError(f"the specification of the chart {chart.name!r} must be an Altair chart or a dictionary")
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


def save_chart(chart: Chart, path: Path | str) -> Path:
    """Draw a chart to a file, in the colours and fonts of reports.

    Parameters
    ----------
    chart : Chart
        With a `spec`.
    path : Path or str
        Its suffix selects the format: .svg, .pdf or .png.

    Returns
    -------
    Path

    Raises
    ------
    UsageError
        If the suffix is not supported, or the specification is not valid.
    MfbenchError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> data = {"values": [{"x": 1, "y": 2}]}
    >>> spec = {"data": data, "mark": "point", "encoding": {"x": {"field": "x", "type": "quantitative"}}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(Chart("dot", "A dot", spec=lambda: spec), f"{folder}/dot.svg").name
    'dot.svg'
    """
    target = Path(path)
    form = target.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise UsageError(f"{target} has no suffix of a picture: use .{', .'.join(FORMATS[:-1])} or .{FORMATS[-1]}")
    with explained(UsageError, str, ValueError):
        content = picture(chart, form, chart.title)
    with explained(MfbenchError, lambda reason: f"cannot write {target}: {reason}", OSError):
        target.write_bytes(content)
    return target


def svg_of(content: Mapping[str, Any], name: str, words: str) -> str:
    """Return a specification as SVG in the form of `compact`."""
    return compact(picture_of({**content, "config": {**content["config"], "aria": False}}), name, words)


def picture_of(content: dict[str, Any], form: str = "svg") -> bytes:
    """Return a specification as a file."""
    vl_convert = drawing_engine()
    options: dict[str, Any] = {"vl_version": _version(content), "allowed_base_urls": []}
    try:
        if form == "svg":
            return str(vl_convert.vegalite_to_svg(content, **options)).encode()
        if form == "png":
            options["scale"] = PIXELS_PER_POINT
        return bytes(getattr(vl_convert, f"vegalite_to_{form}")(content, **options))
    except (ValueError, RuntimeError) as error:
        # The message is followed by a traceback of the drawing library's script.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ValueError(" ".join(lines[:2]) or "it is not valid") from error


@cache
def drawing_engine() -> Any:
    """Return the module ``vl_convert``, after a test in a child process if the address space is limited."""
    # Its JavaScript engine, V8, reserves 64 GiB of address space at startup, and aborts the process if it cannot.
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

    # Altair's row limit concerns the size of notebook files. Validation would dominate a chart's time; the drawing
    # library reports invalid specifications anyway.
    with altair.data_transformers.enable("default", max_rows=None):
        return made.to_dict(validate=False)


def cleaned(part: Any) -> Any:
    """Return content without characters that XML forbids, since they make the drawing library abort the process."""
    if isinstance(part, str):
        return plain_lines(part)
    if isinstance(part, list | tuple):
        return [cleaned(item) for item in part]
    if isinstance(part, dict):
        return {cleaned(key): cleaned(value) for key, value in part.items()}
    return part


def _merged(general: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge settings; the specification's own take precedence."""
    return {
        key: _merged(general[key], own[key])
        if isinstance(general.get(key), Mapping) and isinstance(own.get(key), Mapping)
        else own.get(key, general.get(key))
        for key in {**general, **own}
    }


def _version(content: Mapping[str, Any]) -> str | None:
    """Return the Vega-Lite version that a specification names, for example 6.4; None if it names none."""
    match = re.search(r"/v(\d+\.\d+)", str(content.get("$schema", "")))
    return match[1] if match else None
