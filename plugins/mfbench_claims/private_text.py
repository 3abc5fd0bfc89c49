"""Text without what is private: paths of a machine, its name and that of its user."""

from __future__ import annotations

import getpass
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

HIDDEN = "…"
_DRIVE = r"(?<![^\W_])[A-Za-z]:[\\/]"
# "~3/4" and "~n/2" are about numbers.
_HOME = r"~(?:[A-Za-z_]\w*(?=[\\/](?!\d+\.?(?:[\s,;:)\]]|$))))?"
_START = rf"(?:/|{_HOME}[\\/]|{_DRIVE}|\\\\|\.\.?[\\/])"
_FILE = r"(?<![^\W_])(?i:file):"
_URL = re.compile(r"(?<![^\W_])(?!(?i:file):)[A-Za-z][A-Za-z0-9.-]{0,30}://[^\s\"'<>|]+")
_PUBLIC = re.compile(r"(?:https?|ftps?)://", re.IGNORECASE)
# The other quote may be in it: Python writes a path with an apostrophe between double quotes.
_QUOTED = re.compile(rf"([\"'])(?:{_START}|{_FILE}[\\/])(?:(?!\1)[^\n])*\1")
# A blank belongs to a path if a separator follows its word: rather too much is left out than too little.
_WORD = r"[^\s\"'<>|:;*?/\\]+"
_FOLDERS = rf"(?:{_WORD}(?: {_WORD}){{0,9}}[\\/]+)*"
_BELOW = rf"{_FOLDERS}[^\s\"'<>|:;,()\[\]{{}}/\\]*"
_ADDRESS = re.compile(rf"{_FILE}[\\/]+(?:[A-Za-z]:[\\/]+)?{_BELOW}")
_BARE = re.compile(rf"(?<![\w.)\]/\\~{HIDDEN}-])(-[A-Za-z](?=[~/\\.]))?({_START}[\\/]*{_BELOW})(?<=[^\s/\\])")
# Without its beginning, a path looks like a quotient: only the usual types of files distinguish them.
_TYPES = (
    "7z|arff|bin|bz2|cfg|conf|csv|dat|db|dll|dta|exe|feather|gz|h5|hdf5|html?|ini|ipynb|jpe?g|json|jsonl|joblib|log|mat|"
    "md|npy|npz|onnx|parquet|pdf|pickle|pkl|png|pt|pth|pyc?|rda|rds|rst|r|sas7bdat|sav|safetensors|sh|so|sqlite3?|svg|"
    "tar|tex|tiff?|toml|tsv|txt|whl|xlsx?|xml|xz|ya?ml|zip"
)
_NAME = rf"[^\s\"'<>|:;,()\[\]{{}}/\\]*\.(?i:{_TYPES})(?![\w(\[=])"
_PLAIN = r"[^\s\"'<>|:;*?,/\\]+"
_FIRST = r"[\w.@+-]+[\\/]+"
_RELATIVE = re.compile(rf"(?<![\w./\\~@{HIDDEN}-]){_FIRST}(?:{_PLAIN}(?: {_PLAIN}){{0,9}}[\\/]+){{0,12}}{_NAME}")
_RELATIVE_QUOTED = re.compile(
    rf"(?<!\w)([bBrRuUfF]{{0,2}})([\"']){_FIRST}(?:(?!\2)[^\n{HIDDEN}])*\.(?i:{_TYPES})\2(?!\w)"
)
_WHOLE = re.compile(
    rf"(?<![\w.)\]/\\~-])(?:-[A-Za-z](?=[~/\\]))?(?:/+{_WORD}[\\/]+{_WORD}|{_HOME}[\\/]+{_WORD}|{_DRIVE}|\\\\+{_WORD}\\+{_WORD})"
)
# Words that are in many a text, and the names of no one.
_COMMON = frozenset({"root", "user", "users", "admin", "localhost", "runner", "home", "test", "data"})
_SHORT = 4
_SHORTEST = 2


class PrivateText:
    """What a bundle must not contain."""

    def __init__(self, folders: Iterable[str], names: Iterable[str]) -> None:
        self.folders = _longest_first(path for path in folders if len(path) >= _SHORT)
        self.names = _longest_first(n for n in names if len(n) >= _SHORTEST and n.lower() not in _COMMON)
        self._folder = _any_of(self.folders, r"(?<![\w.])", r"(?![\w-])")
        # With what is below it: the names of folders that a user chose are as private as where they are.
        self._below = _any_of(self.folders, r"(?<![\w.])", rf"(?![\w-])(?P<below>(?:[\\/]+{_BELOW})?)")
        self._names = [
            # A long name may be a part of a word that underscores join.
            _any_of([n for n in self.names if len(n) >= _SHORT], r"(?<![^\W_])", r"(?![^\W_])"),
            _any_of([n for n in self.names if len(n) < _SHORT], r"(?<!\w)", r"(?!\w)"),
        ]

    @classmethod
    def of_this_machine(cls, *folders: Path) -> PrivateText:
        """Return that of this machine and this user."""
        variables = ("HOME", "USERPROFILE", "MFBENCH_CACHE", "MFBENCH_DATA_DIR", "TMPDIR")
        places = [Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix), *folders]
        places += [Path(os.environ[name]) for name in variables if os.environ.get(name)]
        spellings = {str(spelling) for place in places for spelling in (place.absolute(), place.resolve())}
        node = platform.node()
        return cls(spellings, {node, node.partition(".")[0], _user()})

    def removed(self, text: str) -> str:
        """Return a text with an ellipsis in place of everything private; the name of a file stays."""
        parts, end = [], 0
        for match in _URL.finditer(text):
            parts += [self._without_paths(text[end : match.start()]), self._public_url(match[0])]
            end = match.end()
        return "".join([*parts, self._without_paths(text[end:])])

    def _without_paths(self, text: str) -> str:
        text = _QUOTED.sub(lambda match: match[1] + _last(match[0][1:-1]) + match[1], text)
        text = _ADDRESS.sub(lambda match: _last(match[0]), text)
        text = _RELATIVE_QUOTED.sub(_quoted_last, text)
        if self._below is not None:
            text = self._below.sub(lambda match: _last(HIDDEN + match["below"]), text)
        text = _BARE.sub(lambda match: (match[1] or "") + _last(match[2]), text)
        text = _RELATIVE.sub(lambda match: _last(match[0]), text)
        return self._without_names(text)

    def _without_names(self, text: str) -> str:
        for pattern in self._names:
            text = text if pattern is None else pattern.sub(HIDDEN, text)
        return text

    def _public_url(self, url: str) -> str:
        """Return an address without what gives access; of one that is not of the web, the last part."""
        scheme = _PUBLIC.match(url)
        if scheme is None:
            return self._without_names(_last(url))
        address = url[scheme.end() :].rstrip(".,;:)]}")
        after = url[scheme.end() + len(address) :]
        host, slash, path = re.split(r"[?#]", address, maxsplit=1)[0].partition("/")
        host = host.rpartition("@")[2]
        # A path may contain the name of a dataset, which a user may have as well.
        if self._without_names(host) != host:
            host = HIDDEN
        return f"{scheme[0]}{host}{slash}{path}{after}"

    def leak(self, text: str) -> str | None:
        """Return a path that a label or a parameter contains; None if there is none."""
        # Names of the user and the machine are not looked for: a dataset or a parameter may be called the same.
        rest = _URL.sub(lambda match: " " if _PUBLIC.match(match[0]) else match[0].replace("://", " /"), text)
        for pattern in (_WHOLE, self._folder):
            match = None if pattern is None else pattern.search(rest)
            if match is not None:
                return re.split(r"[\"'\n]", rest[match.start() :].lstrip())[0]
        return None


def _longest_first(texts: Iterable[str]) -> list[str]:
    """Return texts in an order in which none is replaced in part."""
    return sorted(set(texts), key=lambda text: (-len(text), text))


def _last(path: str) -> str:
    parts = [part for part in re.split(r"[\\/]+", path) if part]
    return f"{HIDDEN}/{parts[-1]}" if len(parts) > 1 else HIDDEN


def _quoted_last(match: re.Match[str]) -> str:
    prefix, quote = match.groups()
    return prefix + quote + _last(match[0][len(prefix) + 1 : -1]) + quote


def _any_of(texts: list[str], before: str, after: str) -> re.Pattern[str] | None:
    if not texts:
        return None
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, texts))}){after}", re.IGNORECASE)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have users without a name
        return ""
