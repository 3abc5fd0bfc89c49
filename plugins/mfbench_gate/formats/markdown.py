"""A comparison as Markdown, for the summary of a job and for a comment on a pull request.

The first line is a comment that no reader sees; a bot finds its earlier comment by it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate

from mfbench.base.wording import counted
from mfbench.report.render.markdown import section_lines
from mfbench.report.render.markdown import to_markdown as render
from mfbench_gate.comparison import Comparison
from mfbench_gate.display import comparison_report
from mfbench_gate.texts import MARKS

MARKER = "mfbench-comparison"
# A comment on GitHub has at most 65,536 characters; the head and each section get a share of them.
_MOST, _MOST_OF_SECTIONS = 8_000, (22_000, 16_000, 5_000, 5_000, 5_000)
# On GitHub these signs notify people, or link to issues and other pages, if something follows them directly.
_LINKS = re.compile(r"@|#(?=\d)|(?<=GH)-|:(?=//)|(?<=www)\.", re.IGNORECASE)


def to_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown of at most 65,536 characters."""
    report = comparison_report(comparison)
    verdicts = {cell.verdict for cell in comparison.cells}
    mark = next((mark for verdict, mark in MARKS.items() if verdict in verdicts), "–")
    lines = [marker(comparison.title)]
    lines += _limited(render(replace(report, title=f"{mark} {report.title}", sections=())), _MOST)
    for section, most in zip(report.sections, _MOST_OF_SECTIONS, strict=True):
        if not section.has_content:
            continue
        shown = _limited("\n".join(section_lines(section, {})), most)
        if section in (report.sections[0], report.sections[-1]):
            lines += ["", *shown]
        else:
            number = sum(len(table.rows) for table in section.tables) or len(section.notes)
            summary = f"<summary>{section.title}: {number}</summary>"
            lines += ["", "<details>", summary, "", *shown[2:], "", "</details>"]
    return "\n".join(lines) + "\n"


def marker(title: str) -> str:
    """Return the hidden comment by which a bot finds the comment of an earlier comparison of the same title."""
    words = "-".join(re.findall("[a-z0-9]+", title.lower()))[:80]
    return f"<!-- {MARKER}{f': {words}' if words else ''} -->"


def _limited(text: str, most: int) -> list[str]:
    """Return as many lines as have at most so many characters together, without links that a name could contain."""
    lines = [_LINKS.sub(r"\g<0>&#8203;", line) for line in text.strip().splitlines()]
    n_kept = sum(total <= most for total in accumulate(len(line) + 1 for line in lines))
    if n_kept == len(lines):
        return lines
    n_left = sum(line != "" for line in lines[n_kept:])
    return [*lines[:n_kept], "", f"… and {counted(n_left, 'more line')}; the JSON output has all of them."]
