"""JUnit XML, the test report format that nearly every CI system reads.

There is no official schema. The output satisfies the two common ones, Jenkins' and Ant's JUnit task: order of elements,
required attributes and number formats.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from xml.etree import ElementTree

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


@dataclass(frozen=True, kw_only=True)
class Case:
    """A test case."""

    group: str  # the name of its class
    name: str
    outcome: Literal["passed", "failed", "skipped"] = "passed"
    message: str = ""  # one line: the failure, or the reason for skipping
    kind: str = ""  # type of the failure
    details: str = ""  # the rest of the failure, any number of lines
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
    """Return a document with one test suite."""
    outcomes = Counter(case.outcome for case in cases)
    root = ElementTree.Element("testsuites")  # one of the schemas allows no attributes here
    suite = _add(
        root,
        "testsuite",
        name=title,
        package="mfbench",
        id="0",
        hostname="localhost",
        timestamp=(moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S"),
        tests=str(len(cases)),
        failures=str(outcomes["failed"]),
        errors="0",
        time=_duration(seconds),
        skipped=str(outcomes["skipped"]),
    )
    listed = _add(suite, "properties")
    for name, value in properties:
        if value:
            _add(listed, "property", name=name, value=value)
    for case in cases:
        element = _add(
            suite, "testcase", classname=f"mfbench.{case.group}", name=case.name, time=_duration(case.seconds)
        )
        if case.outcome == "failed":
            _add(element, "failure", case.details, message=case.message, type=case.kind)
        elif case.outcome == "skipped":
            _add(element, "skipped", message=case.message)
    _add(suite, "system-out", "\n".join(lines))
    _add(suite, "system-err")
    ElementTree.indent(root)
    return _DECLARATION + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(parent: ElementTree.Element, tag: str, content: str = "", **attributes: str) -> ElementTree.Element:
    """Add an element; attribute values and content pass through `legal`."""
    element = ElementTree.SubElement(parent, tag, {name: legal(value) for name, value in attributes.items()})
    element.text = legal(content) or None
    return element


def _duration(seconds: float) -> str:
    """Format a duration without an exponent, which some readers reject."""
    return f"{seconds:.3f}" if 0.0 < seconds < float("inf") else "0"


def legal(text: str) -> str:
    """Escape the characters that XML 1.0 cannot contain."""
    return _ILLEGAL.sub(lambda match: ascii(match[0])[1:-1], text)
