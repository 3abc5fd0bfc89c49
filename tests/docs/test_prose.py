"""The language of the project: phrases that read like a translation, and names that say nothing, are refused.

CONTRIBUTING.md has the glossary and the rule behind this list. A phrase found here was in the code once; each entry
keeps it from coming back.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("mfbench", "plugins", "tests", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__).resolve()
)
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "suites").rglob("*.toml"),
        *(ROOT / "suites").rglob("*.md"),
        *(ROOT / "plugins").rglob("*.toml"),
        *(ROOT / "reports").glob("*/README.md"),
        *(ROOT / "mfbench" / "scaffold").rglob("*.jinja"),
        *(ROOT / "mfbench" / "scaffold").rglob("*.yml"),
        ROOT / "pyproject.toml",
        ROOT / ".pre-commit-config.yaml",
    ]
)

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


def prose(path):
    """Return (line number, text) for each comment and string of a module, or for each line of a page.

    Consecutive lines are joined in a second pass, because a phrase may be wrapped.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return list(enumerate(text.splitlines(), 1))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type in kinds]


def wrapped(pieces):
    """Return the pieces as one text without line breaks and comment signs, and the offset at which each begins."""
    text, offsets = "", []
    for line, piece in pieces:
        offsets.append((len(text), line))
        text += re.sub(r"\s+", " ", re.sub(r"\n\s*#?", " ", piece.lstrip("#").strip("\"'"))) + " "
    return text, offsets


@pytest.mark.parametrize("path", [*PAGES, *SOURCES], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_phrases(path):
    text, offsets = wrapped(prose(path))
    hits = []
    for pattern, better in PHRASES.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            line = max(number for offset, number in offsets if offset <= match.start())
            context = text[max(0, match.start() - 30) : match.end() + 30]
            hits.append(f"{path.relative_to(ROOT)}:{line}: …{context}… → {better}")
    assert not hits, "\n".join(hits)


def identifiers(path):
    """Yield (line number, name) for each class, function, parameter and assigned variable of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


@pytest.mark.parametrize(
    "path", [p for p in SOURCES if "tests" not in p.parts], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_names(path):
    hits = [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in identifiers(path) if name in NAMES]
    assert not hits, "names that do not say which thing they name:\n" + "\n".join(hits)


@pytest.mark.parametrize(
    "text",
    [
        "Goes over the suite's seed.",
        "IGT is not told apart from RF.",
        "what is already at hand is said",
        "'x' is no number",
        "a folder that is none",
        "takes overlapping folds for independent ones",
        "A stretch of columns, told and not learned",
        "planned anew",
    ],
)
def test_the_list_refuses_the_sentences_that_it_was_made_for(text):
    assert any(re.search(pattern, text, re.IGNORECASE) for pattern in PHRASES)


@pytest.mark.parametrize(
    "text",
    [
        "there is no such dataset",
        "it is no longer used",
        "TOP stands for it",
        "the value is not a number",
        "the value is None",
    ],
)
def test_the_list_accepts_plain_english(text):
    assert not any(re.search(pattern, text, re.IGNORECASE) for pattern in PHRASES)
