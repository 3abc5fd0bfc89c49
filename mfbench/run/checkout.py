"""The commit of a checkout, read from Git's files: no command runs that a repository could configure."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

# A branch may be a symbolic name of another; Git follows five of them.
_LONGEST_CHAIN = 5
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def own_commit() -> str | None:
    """Return the commit of the checkout that mfbench runs from; None if it is installed."""
    # The working directory and the folders above mfbench's own have no influence. Uncommitted changes are not recorded,
    # because Git alone can find them; the hashes in the trial keys tell which code ran.
    return checkout_commit(Path(__file__).parents[2])


def checkout_commit(folder: Path) -> str | None:
    """Return the commit of a checkout of mfbench."""
    return head_commit(folder) if is_mfbench(folder) else None


def repository_of(folder: Path) -> tuple[Path, Path] | None:
    """Return the folder of Git's files of a checkout, and the one that all its worktrees share."""
    repository = _follow(folder / ".git", "gitdir:")
    return (repository, repository / (_read(repository / "commondir") or ".")) if repository.is_dir() else None


def head_commit(folder: Path) -> str | None:
    """Return the commit of the checkout of any project."""
    folders = repository_of(folder)
    if folders is None:
        return None
    repository, common = folders
    name = "HEAD"
    for _ in range(_LONGEST_CHAIN):
        value = _reference(repository, common, name)
        if value is None or _COMMIT.fullmatch(value):
            return value
        name = value.removeprefix("ref:").strip()
        # A name, and not a path to some other file.
        if not name.startswith("refs/") or ".." in name.split("/"):
            return None
    return None


def is_mfbench(folder: Path) -> bool:
    """Tell whether this is mfbench's own checkout, and not a project that contains a copy of the package."""
    try:
        project = tomllib.loads(_read(folder / "pyproject.toml") or "").get("project", {})
    except tomllib.TOMLDecodeError:
        return False
    return isinstance(project, dict) and project.get("name") == "mfbench"


def _follow(path: Path, prefix: str) -> Path:
    """Return the folder that a file of a linked worktree names; a folder stands for itself."""
    text = _read(path)
    if text is None or not text.startswith(prefix):
        return path
    return path.parent / text.removeprefix(prefix).strip()


def _reference(repository: Path, common: Path, name: str) -> str | None:
    """Return what a reference says: a commit or "ref: NAME". A worktree's own files come first, packed ones last."""
    for folder in (repository, common):
        text = _read(folder / name)
        if text:
            return text
    for line in (_read(common / "packed-refs") or "").splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return commit
    return None


def _read(path: Path) -> str | None:
    """Return the text of a file, None if there is none that can be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
