"""The documents as tests read them: their sections, tables and blocks of code."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
# A block, and the file name in the line before it if there is one.
BLOCK = re.compile(r"(?:^`([\w./-]+)`\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(name):
    path = ROOT / name if (ROOT / name).is_file() else DOCS / name
    return path.read_text(encoding="utf-8")


def section(name, heading):
    """Return a document's text from a heading to the next one of the same or a higher level."""
    level = len(heading) - len(heading.lstrip("#"))
    _, found, rest = text_of(name).partition(f"\n{heading}\n")
    assert found, f"{name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text):
    """Return the table rows of a text, by the first cell without backticks."""
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in row] for row in cells]
    return {row[0].strip("`"): row for row in table if not set(row[0]) <= set("-: ")}


def first_table(text):
    return re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0]


def listed(text, header):
    return {name for name in rows(text) if name != header}


def code_blocks(name, language, *, named):
    return [
        (file, body) for file, kind, body in BLOCK.findall(text_of(name)) if kind == language and bool(file) == named
    ]
