"""Text without the paths of whoever writes a bundle."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

HIDDEN = "…"
_SEPARATOR = r"[\\/]+"


def paths_of_this_machine(*folders: Path) -> re.Pattern[str]:
    """Return what matches paths of the home, the working directory and other own folders, without the last part."""
    own = (Path.home(), Path.cwd(), Path(tempfile.gettempdir()), *folders)
    return paths_below(str(spelling) for folder in own for spelling in (folder.absolute(), folder.resolve()))


def paths_below(folders: Iterable[str]) -> re.Pattern[str]:
    """Return what matches a path of some folders, up to the name of the file."""
    parts = [re.split(_SEPARATOR, folder.rstrip("\\/")) for folder in set(folders)]
    own = sorted((_SEPARATOR.join(map(re.escape, each)) for each in parts if any(each)), key=len, reverse=True)
    # Not as a part of a web address. What is below is private too: rather too much is left out than too little.
    below = r"(?:(?:(?!\s[\\/])[^\n\"'<>|:;*?,])*(?=[\\/]))?"
    return re.compile(rf"(?<![a-z0-9.])(?:{'|'.join(own)})(?![\w-]){below}")
