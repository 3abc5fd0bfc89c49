"""The commit of mfbench's own checkout."""

from __future__ import annotations

import re
from pathlib import Path

from mfbench.base.git import GitError, run_git


def own_commit(folder: Path = Path(__file__).parents[2]) -> str | None:
    """Return the commit of the checkout that mfbench runs from; None if it is installed, or Git is not."""
    # The working directory and the folders above mfbench's own have no influence. Uncommitted changes are not recorded;
    # the hashes in the trial keys tell which code ran.
    if not is_mfbench(folder) or not (folder / ".git").exists():
        return None
    try:
        top, commit = run_git(folder, "rev-parse", "--show-toplevel", "HEAD").splitlines()
    except GitError:
        return None
    return commit if folder.samefile(top) else None


def is_mfbench(folder: Path) -> bool:
    """Tell whether this is mfbench's own checkout, and not a project that contains a copy of the package."""
    project = folder / "pyproject.toml"
    return project.is_file() and re.search('^name = "mfbench"$', project.read_text("utf-8"), re.MULTILINE) is not None
