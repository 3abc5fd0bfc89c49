"""The sources that the compiled functions of a package depend on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_MARK = b"njit"
# A parser would take longer than all else that is done at import; a sentence that reads like an import does no harm.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<base>[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|import[ \t]+(?P<module>[\w.]+))",
    re.MULTILINE,
)


def stamp(file: str) -> str:
    """Return a hash of all sources that the compiled functions of a module's package depend on.

    These are the modules of the package that contain compiled functions, because functions are passed from one to
    another, and those that they import from the package, because their constants become a part of compiled code. Of a
    module without a package it is the module alone.

    Parameters
    ----------
    file : str
        Path of the module.
    """
    path = Path(file).resolve()
    root = _root(path)
    return _hash(path) if root is None else _package_stamp(root)


def _root(path: Path) -> Path | None:
    """Return the folder of the outermost package of a module."""
    root = None
    for folder in path.parents:
        if not (folder / "__init__.py").is_file():
            break
        root = folder
    return root


@cache
def _package_stamp(root: Path) -> str:
    modules = {path: path.read_bytes() for path in sorted(root.rglob("*.py"))}
    pending = [path for path, source in modules.items() if _MARK in source]
    reached: set[Path] = set()
    while pending:
        path = pending.pop()
        if path not in reached:
            reached.add(path)
            pending += [other for other in _imported(path, modules[path], root) if other in modules]
    parts = (f"{path.relative_to(root).as_posix()} {hashlib.sha256(modules[path]).hexdigest()}" for path in reached)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


def _imported(path: Path, source: bytes, root: Path) -> Iterator[Path]:
    """Yield the files that a module may import from its package; some of them do not exist."""
    for match in _IMPORT.finditer(source.decode("utf-8", "replace")):
        dots, base, names = match["dots"] or "", match["base"] or match["module"] or "", match["names"] or ""
        if dots:
            folder = path.parents[len(dots) - 1].relative_to(root.parent)
            base = ".".join([*folder.parts, *([base] if base else [])])
        if base.partition(".")[0] == root.name:
            for name in (base, *(f"{base}.{name}" for name in re.findall(r"\w+", names))):
                place = root.parent.joinpath(*name.split("."))
                yield from (place.with_suffix(".py"), place / "__init__.py")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
