#!/usr/bin/env python3
"""Report phrases that read like a translation, names that say nothing, and plugins without tests.

CONTRIBUTING.md has the glossary and the rules. Each phrase was in the code once, and its entry keeps it from coming
back. Each finding is a line, PATH:LINE: MESSAGE; the exit code is 1 if there is any.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# This test quotes what is refused.
QUOTES = Path("tests/docs/test_lint.py")
PAGES = (
    "*.md",
    "docs/**/*.md",
    "suites/**/*.toml",
    "suites/**/*.md",
    "plugins/**/*.toml",
    "reports/*/README.md",
    "plugins/mfbench_check/scaffold/**/*.jinja",
    "plugins/mfbench_check/scaffold/**/*.yml",
    "pyproject.toml",
    ".pre-commit-config.yaml",
)
LONGEST = 600  # lines of a module

# What is refused, and what to write instead.
PHRASES = {
    r"\bgo(?:es)? over (?:the|a|an|`|settings|what)": "overrides",
    r"\b(?:at|to) hand\b": "available, unavailable",
    r"\b(?:told|tell|tells|telling)(?: \w+){0,4} apart\b": "differ significantly; distinguish",
    r"\btold\b": "reports, states, lists; for an object that is notified: is notified",
    r"\b(?:is|are|was|were) said\b": "reports, states",
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|fewer|better|worse|larger|smaller|greater|faster"
    r"|slower|different|need|such|further|matter)[a-z]": "is not a …",
    r"\b(?:that|which|folder|file|it|one) (?:is|are) (?-i:none)\b": "is not a folder, is not one",
    r"\banew\b": "again; from scratch",
    r"\btak(?:e|es|ing) (?:\w+ ){1,3}for (?:\w+ ){0,2}ones?\b": "treats … as …",
    r"\bhow results are\b": "how results are reported",
    r"\bsays? of\b": "says about, reports on",
    r"\bcom(?:e|es|ing) of\b": "comes from, results from",
    r"\bthe house\b": "the project, the code base",
    r"\bwho is (?:told|who)\b": "name the thing",
    r"\bstands? in\b(?! for\b)": "is in",
    r"\bnot where every\b": "is undefined if",
    r"\bbrings? (?:it|them|him)\b": "downloads",
    r"\bin words\b": "describe",
}
# Whole identifiers that are refused in the packages: participles that do not say which thing they name.
NAMES = {"found", "told", "known", "wanted", "given", "said", "drawn", "Found", "Wanted", "Given", "_told", "_drawn"}


def findings(root: Path = ROOT) -> list[str]:
    """Return a line for each violation of a rule in a checkout."""
    packages = [path for folder in ("mfbench", "plugins") for path in sorted((root / folder).rglob("*.py"))]
    others = [path for folder in ("tests", "docs") for path in sorted((root / folder).rglob("*.py"))]
    pages = [path for pattern in PAGES for path in sorted(root.glob(pattern))]
    written = [path for path in [*pages, *packages, *others] if path.relative_to(root) != QUOTES]
    lines = []
    for path in written:
        pieces = prose(path.read_text(encoding="utf-8"), is_code=path.suffix == ".py")
        lines += [f"{path.relative_to(root)}:{line}: {message}" for line, message in refused_phrases(pieces)]
    for path in packages:
        names = refused_names(path.read_text(encoding="utf-8"))
        lines += [f"{path.relative_to(root)}:{line}: {message}" for line, message in names]
    return [*lines, *long_modules(root), *untested(root)]


def prose(text: str, *, is_code: bool) -> list[tuple[int, str]]:
    """Return (line number, text) for each comment and string of a module, or for each line of a page."""
    if not is_code:
        return list(enumerate(text.splitlines(), 1))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type in kinds]


def refused_phrases(pieces: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield (line number, message) for each refused phrase, also if it is wrapped."""
    text, offsets = "", []
    for line, piece in pieces:
        offsets.append((len(text), line))
        text += re.sub(r"\s+", " ", re.sub(r"\n\s*#?", " ", piece.lstrip("#").strip("\"'"))).strip() + " "
    for pattern, better in PHRASES.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            line = max(number for offset, number in offsets if offset <= match.start())
            yield line, f"…{text[max(0, match.start() - 30) : match.end() + 30]}… → {better}"


def refused_names(code: str) -> Iterator[tuple[int, str]]:
    """Yield (line number, message) for each class, function, parameter and variable whose name says nothing."""
    for node in ast.walk(ast.parse(code)):
        name = ""
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        if name in NAMES:
            yield node.lineno, f"{name!r} does not say which thing it names"


def long_modules(root: Path) -> Iterator[str]:
    """Yield a line for each module that is too long."""
    for folder in ("mfbench", "plugins", "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            n_lines = len(path.read_text(encoding="utf-8").splitlines())
            if n_lines > LONGEST:
                yield f"{path.relative_to(root)}:{LONGEST}: {n_lines} lines; split what has a second subject"


def untested(root: Path) -> Iterator[str]:
    """Yield a line for each plugin without tests."""
    for package in sorted(path.parent for path in (root / "plugins").glob("*/__init__.py")):
        folder = root / "tests" / package.name.removeprefix("mfbench_")
        if not list(folder.rglob("test_*.py")):
            yield f"{package.relative_to(root)}/__init__.py:1: {folder.relative_to(root)} has no tests"


if __name__ == "__main__":
    lines = findings()
    for line in lines:
        print(line)
    sys.exit(bool(lines))
