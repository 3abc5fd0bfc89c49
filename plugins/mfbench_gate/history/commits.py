"""The commit of the project in a folder and its time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mfbench.base.git import GitError, run_git
from mfbench.errors import UsageError
from mfbench.run.checkout import is_mfbench

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class Commit:
    """A commit of the measured project."""

    name: str  # its hash
    time: str | None  # when it was committed, as ISO 8601 in UTC; None if Git does not have it


def project_commit(folder: Path, name: str | None = None, recorded: str | None = None) -> Commit:
    """Return the commit that a run has measured."""
    if name is None:
        try:
            top, name = run_git(folder, "rev-parse", "--show-toplevel", "HEAD").splitlines()
        except GitError as error:
            raise UsageError(
                f"the measured commit cannot be read from a Git repository ({error}); name it with --commit"
            ) from error
        name = recorded if recorded and is_mfbench(Path(top)) else name
    elif not _COMMIT.fullmatch(name.lower()):
        raise UsageError(f"--commit {name!r} is not the hash of a commit: 7 to 64 hexadecimal digits")
    try:
        seconds, _ = run_git(folder, "rev-list", "--max-count=1", "--timestamp", name.lower()).split()
    except GitError:
        return Commit(name.lower(), None)  # the time only orders the entries, and there is another to order them by
    return Commit(name.lower(), datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds"))
