"""Text from data, suites and plugins, made safe for each output: terminal, CSV, Markdown, XML and stored messages.

HTML is escaped by its templates and LaTeX by its renderer, both after `plain`. JSON keeps every character.
"""

import json
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mfbench.errors import printable

FORMULA = r"^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]"
"""Characters that start a spreadsheet formula, full-width ones included. JavaScript reads this and `MARKDOWN`."""
MARKDOWN = r"[\\`*|~$]|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])|\](?=[(\[:])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
"""Characters that are special in Markdown at any position. The others stay, so that the source is legible."""
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_FORMULA, _MARKDOWN = re.compile(FORMULA), re.compile(MARKDOWN)
_BLOCK = re.compile(r"^(?:(#{1,6}|[-+]|\d+(?=[.)]))(?=[.)]?(?:\s|$))|(>|=+\s*$|-{2,}\s*$))")
# Invisible characters that belong to words: joiners of Persian, Indic scripts and emoji, and the soft hyphen.
_OF_WORDS = frozenset("\u200c\u200d\xad")


def plain(text: str) -> str:
    """Return a text as one line without characters that a terminal, browser or XML parser would interpret."""
    # Line breaks and tabs become spaces. Control characters, bidirectional overrides and other invisible characters are
    # removed; lone surrogates are escaped.
    return text if text.isprintable() else "".join(map(_visible, printable(text)))


def plain_lines(text: str) -> str:
    """Apply `plain` to each line of a text."""
    return "\n".join(map(plain, text.split("\n")))


def plain_text(value: object, limit: int = 500) -> str:
    """Return a value as one short line: `plain`, with whitespace collapsed, truncated to `limit`."""
    return cut(" ".join(plain("" if value is None else str(value)).split()), limit)


def cut(text: str, limit: int) -> str:
    """Truncate a text; an ellipsis marks the cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shell_command(words: Iterable[str]) -> str:
    """Return words as a one-line shell command, quoted for display."""
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    """Escape the non-printable bytes of a word; some may not decode to any character."""
    codes = word.encode("utf-8", "surrogateescape")
    texts = (chr(code) if chr(code).isalnum() and code < 0x80 else f"\\x{code:02x}" for code in codes)
    return f"$'{''.join(texts)}'"


def csv_cell(value: object) -> object:
    """Return a value for CSV: text that a spreadsheet would read as a formula gets a leading apostrophe."""
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def json_document(text: str) -> str:
    """Escape the characters of a JSON document that a terminal would interpret, and lone surrogates."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def markdown(text: str) -> str:
    """Escape text for use within a line of Markdown, for instance in a table cell."""
    return _MARKDOWN.sub(r"\\\g<0>", plain(text))


def markdown_paragraph(text: str) -> str:
    """Escape text as a Markdown paragraph: as `markdown`, and never a heading, list or quotation."""
    return _BLOCK.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", markdown(text.strip()))


def _visible(sign: str) -> str:
    if sign.isprintable() or sign in _OF_WORDS:
        return sign
    kind = unicodedata.category(sign)
    if kind in ("Cc", "Zl", "Zp"):
        return " " if sign.isspace() and not "\x1c" <= sign <= "\x1f" else ""
    # XML forbids two of the noncharacters.
    is_noncharacter = ord(sign) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(sign) <= 0xFDEF
    return "" if kind == "Cf" or is_noncharacter else sign


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right form."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listing(values: Iterable[object]) -> str:
    """Join values for use in a sentence."""
    words = [str(value) for value in values]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


_LONGEST_VALUE = 200  # characters
_SHOWN = 3


class Mismatch(NamedTuple):
    """A value that differs between two documents."""

    path: str  # path of keys, joined by dots
    left: Any  # left, right: None if the document lacks the value
    right: Any

    def clause(self, left: str, right: str) -> str:
        """Return a clause that gives the value in each document."""
        return f"{self.path} is {_text(self.left)} {left} and {_text(self.right)} {right}"


def diff(left: Mapping[str, Any], right: Mapping[str, Any], *, shared: bool = False) -> Iterator[Mismatch]:
    """Yield the differences between two documents in key order."""
    for key in dict.fromkeys([*left, *right]):
        if shared and not (key in left and key in right):
            continue
        ours, theirs = left.get(key), right.get(key)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            yield from (each._replace(path=f"{key}.{each.path}") for each in diff(ours, theirs, shared=shared))
        elif ours != theirs:
            yield Mismatch(key, ours, theirs)


def first_clauses(clauses: Iterable[str]) -> str:
    """Join the first clauses, followed by the number of the remaining ones."""
    listed = list(clauses)
    return "; ".join([*listed[:_SHOWN], *([f"{len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else [])])


def union(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge documents: mappings and lists are united; for other values the first one wins."""
    joined: dict[str, Any] = {}
    for document in documents:
        for key, value in document.items():
            ours = joined.setdefault(key, value)
            if isinstance(ours, Mapping) and isinstance(value, Mapping):
                joined[key] = union([ours, value])
            elif isinstance(ours, list) and isinstance(value, list):
                # Compared by their JSON text, because an entry may itself be a mapping.
                joined[key] = list({json.dumps(each, sort_keys=True): each for each in [*ours, *value]}.values())
    return joined


def _text(value: Any) -> str:
    """Return a value as text, truncated: it may come from an untrusted file."""
    if value is None:
        return "not set"
    return plain_text(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)
