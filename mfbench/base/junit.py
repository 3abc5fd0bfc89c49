"""JUnit XML, which the test reports of nearly every CI system read.

There is no official schema. The text keeps to what the two common ones, Jenkins' and the one of Ant's JUnit task, both
accept: order of elements, required attributes and numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from xml.etree import ElementTree

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


@dataclass(frozen=True, kw_only=True)
class Case:
    """A test case."""

    group: str  # what it belongs to: the name of its class
    name: str
    outcome: Literal["passed", "failed", "skipped"] = "passed"
    message: str = ""  # one line about a failure, or the reason of a skipped case
    kind: str = ""  # of a failure: its type
    details: str = ""  # of a failure: the rest, in any number of lines
    seconds: float = 0.0


def document(
    title: str,
    cases: Sequence[Case],
    *,
    properties: Iterable[tuple[str, str]] = (),
    lines: Iterable[str] = (),
    seconds: float = 0.0,
    moment: datetime | None = None,
) -> str:
    """Return a document with one suite of test cases."""
    root = ElementTree.Element("testsuites")  # one of the schemas allows no attributes here
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        {
            "name": legal(title),
            "package": "mfbench",
            "id": "0",
            "hostname": "localhost",
            "timestamp": (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S"),
            "tests": str(len(cases)),
            "failures": str(sum(case.outcome == "failed" for case in cases)),
            "errors": "0",
            "time": _duration(seconds),
            "skipped": str(sum(case.outcome == "skipped" for case in cases)),
        },
    )
    listed = ElementTree.SubElement(suite, "properties")
    for name, value in properties:
        if value:
            ElementTree.SubElement(listed, "property", {"name": legal(name), "value": legal(value)})
    for case in cases:
        _add(suite, case)
    ElementTree.SubElement(suite, "system-out").text = "\n".join(map(legal, lines))
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(root)
    return _DECLARATION + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(suite: ElementTree.Element, case: Case) -> None:
    attributes = {
        "classname": f"mfbench.{legal(case.group)}",
        "name": legal(case.name),
        "time": _duration(case.seconds),
    }
    element = ElementTree.SubElement(suite, "testcase", attributes)
    if case.outcome == "failed":
        failure = ElementTree.SubElement(element, "failure", {"message": legal(case.message), "type": legal(case.kind)})
        failure.text = legal(case.details)
    elif case.outcome == "skipped":
        ElementTree.SubElement(element, "skipped", {"message": legal(case.message)})


def _duration(seconds: float) -> str:
    """Return a decimal number without an exponent, which some readers refuse."""
    return f"{seconds:.3f}" if 0.0 < seconds < float("inf") else "0"


def legal(text: str) -> str:
    """Return text that XML 1.0 can contain: other characters become escapes."""
    return "".join(sign if _is_legal(ord(sign)) else ascii(sign)[1:-1] for sign in text)


def _is_legal(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
