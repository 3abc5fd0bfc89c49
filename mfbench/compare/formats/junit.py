"""A comparison as JUnit XML, which the test reports of nearly every CI system read.

There is no official schema. The text keeps to what the two common ones, Jenkins' and the one of Ant's JUnit task, both
accept: order of elements, required attributes and numbers.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from xml.etree import ElementTree

from mfbench.compare.comparison import Cell, Comparison, Verdict
from mfbench.compare.texts import amount, change, headline

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def to_junit(comparison: Comparison, moment: datetime | None = None) -> str:
    """Return a comparison as JUnit XML with one test case per cell.

    A worse cell is a failure. An undecided cell is a failure if it counts as one in the exit code, otherwise it is
    skipped with its reason, and so is a trend.

    Parameters
    ----------
    comparison : Comparison
    moment : datetime or None, default=None
        When the comparison was made; None means now.
    """
    failed = [cell for cell in comparison.cells if _fails(cell, comparison)]
    skipped = [cell for cell in comparison.cells if _is_skipped(cell, comparison)]
    title = _legal(comparison.title) or "comparison"
    counts = {
        "tests": str(len(comparison.cells)),
        "failures": str(len(failed)),
        "errors": "0",
        "time": _duration(comparison),
    }
    root = ElementTree.Element("testsuites")  # one of the schemas allows no attributes here
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": title,
            "package": "mfbench",
            "id": "0",
            "hostname": "localhost",
            "timestamp": (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S"),
            **counts,
            "skipped": str(len(skipped)),
        },
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(comparison):
        ElementTree.SubElement(properties, "property", {"name": name, "value": _legal(value)})
    for cell in comparison.cells:
        _add_case(suite, cell, comparison)
    lines = [headline(comparison), *(f"{each.name}: {each.reason}" for each in comparison.omissions), *comparison.notes]
    ElementTree.SubElement(suite, "system-out").text = "\n".join(map(_legal, lines))
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(root)
    return _DECLARATION + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ElementTree.Element, cell: Cell, comparison: Comparison) -> None:
    """Add the test case of a cell."""
    # No test of the cell took this time; readers that sum times get that of the whole comparison from the suite.
    attributes = {"classname": f"mfbench.{_legal(cell.measure)}", "name": _legal(cell.name), "time": "0"}
    case = ElementTree.SubElement(suite, "testcase", attributes)
    message = f"{cell.verdict}: {change(cell)}" + (f"; {cell.reason}" if cell.reason else "")
    if _fails(cell, comparison):
        failure = ElementTree.SubElement(case, "failure", {"message": _legal(message), "type": str(cell.verdict)})
        failure.text = _legal(_details(cell))
    elif _is_skipped(cell, comparison):
        ElementTree.SubElement(case, "skipped", {"message": _legal(message)})


def _fails(cell: Cell, comparison: Comparison) -> bool:
    return cell.verdict is Verdict.WORSE or (cell.verdict is Verdict.UNDECIDED and not comparison.undecided_ok)


def _is_skipped(cell: Cell, comparison: Comparison) -> bool:
    return cell.verdict in (Verdict.UNDECIDED, Verdict.TREND) and not _fails(cell, comparison)


def _details(cell: Cell) -> str:
    lines = [
        f"measure: {cell.measure}",
        f"base: {amount(cell.base, cell.unit)}",
        f"head: {amount(cell.head, cell.unit)}",
        f"change: {change(cell)}",
        f"pairs: {cell.n_pairs}",
    ]
    numbers = [("limit", cell.limit), ("adjusted p-value", cell.p_value)]
    return "\n".join([*lines, *(f"{name}: {value:.4g}" for name, value in numbers if math.isfinite(value))])


def _properties(comparison: Comparison) -> list[tuple[str, str]]:
    pairs = [("level", f"{comparison.level:g}")]
    for role, side in (("base", comparison.base), ("head", comparison.head)):
        pairs += [(role, side.name), (f"{role}.version", side.version), (f"{role}.machine", side.machine)]
    return [(name, value) for name, value in pairs if value]


def _duration(comparison: Comparison) -> str:
    return f"{comparison.seconds:.3f}" if math.isfinite(comparison.seconds) else "0"


def _legal(text: str) -> str:
    r"""Return text that XML 1.0 can contain: other characters become escapes.

    Examples
    --------
    >>> _legal("a\x1bb\ud800")
    'a\\x1bb\\ud800'
    """
    return "".join(sign if _is_legal(ord(sign)) else ascii(sign)[1:-1] for sign in text)


def _is_legal(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
