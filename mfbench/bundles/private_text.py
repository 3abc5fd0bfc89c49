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
_START = r"(?:~?/|~\\|[A-Za-z]:[\\/]|\\\\)"
_ADDRESS = re.compile(r"file:/+[^\s\"'<>]+")
_QUOTED = re.compile(rf"([\"']){_START}[^\"'\n]*\1")
_BARE = re.compile(rf"(?<![\w.:/\\~{HIDDEN}-]){_START}[^\s\"'<>|:;,()\[\]{{}}]+")
# Words that are in many a text, and the names of no one.
_COMMON = frozenset({"root", "user", "users", "admin", "localhost", "runner", "home", "test", "data"})
_SHORTEST = 4


class PrivateText:
    """What a bundle must not contain.

    Parameters
    ----------
    folders : iterable of str
        Absolute paths of folders.
    names : iterable of str
        Of machines and users.

    Examples
    --------
    >>> private = PrivateText(["/home/ann/my work"], ["ann", "bigbox"])
    >>> private.removed('File "/usr/lib/python3/random.py", line 3: no /home/ann/my work/a.csv on bigbox')
    'File "…/random.py", line 3: no …/a.csv on …'
    >>> private.removed("see https://example.org/a/b and 1/2")
    'see https://example.org/a/b and 1/2'
    >>> private.leak("kept in /home/ann/my work/a.csv"), private.leak("annual")
    ('/home/ann/my work', None)
    """

    def __init__(self, folders: Iterable[str], names: Iterable[str]) -> None:
        self.folders = _longest_first(path for path in folders if len(path) >= _SHORTEST)
        self.names = _longest_first(n for n in names if len(n) >= _SHORTEST and n.lower() not in _COMMON)
        self._folder = _any_of(self.folders, r"(?![\w-])")
        self._name = _any_of(self.names, r"(?!\w)", r"(?<!\w)")

    @classmethod
    def of_this_machine(cls, *folders: Path) -> PrivateText:
        """Return that of this machine and this user.

        Parameters
        ----------
        *folders : Path
            More folders whose paths are private.
        """
        variables = ("HOME", "USERPROFILE", "MFBENCH_CACHE", "MFBENCH_DATA_DIR", "TMPDIR")
        places = [Path.home(), Path.cwd(), Path(tempfile.gettempdir()), Path(sys.prefix), *folders]
        places += [Path(os.environ[name]) for name in variables if os.environ.get(name)]
        spellings = {str(spelling) for place in places for spelling in (place.absolute(), place.resolve())}
        node = platform.node()
        return cls(spellings, {node, node.partition(".")[0], _user()})

    def removed(self, text: str) -> str:
        """Return a text with an ellipsis in place of everything private; the name of a file stays.

        Parameters
        ----------
        text : str
        """
        if self._folder is not None:
            text = self._folder.sub(HIDDEN, text)
        text = _ADDRESS.sub(lambda match: _last(match[0]), text)
        text = _QUOTED.sub(lambda match: match[1] + _last(match[0][1:-1]) + match[1], text)
        text = _BARE.sub(lambda match: _last(match[0]), text)
        return text if self._name is None else self._name.sub(HIDDEN, text)

    def leak(self, text: str) -> str | None:
        """Return a path of a folder or a machine's name that a text contains; None if there is none.

        Parameters
        ----------
        text : str
        """
        for pattern in (self._folder, self._name):
            match = None if pattern is None else pattern.search(text)
            if match is not None:
                return match[0]
        return None


def _longest_first(texts: Iterable[str]) -> list[str]:
    """Return texts in an order in which none is replaced in part."""
    return sorted(set(texts), key=lambda text: (-len(text), text))


def _last(path: str) -> str:
    parts = [part for part in re.split(r"[\\/]+", path) if part]
    return f"{HIDDEN}/{parts[-1]}" if len(parts) > 1 else HIDDEN


def _any_of(texts: list[str], after: str, before: str = "") -> re.Pattern[str] | None:
    if not texts:
        return None
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, texts))}){after}")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have users without a name
        return ""
