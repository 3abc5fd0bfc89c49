"""Running `git` so that a repository can neither execute code nor prompt."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mfbench.errors import UsageError

_SAFE = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_SECONDS = 600


class GitError(UsageError):
    """Git is not installed, or a command failed."""


def run_git(folder: Path, *words: str, options: Sequence[str] = ()) -> str:
    """Run a Git command and return its output, stripped."""
    # Git runs without hooks, file system monitors and prompts, and ignores environment variables that would point it at
    # another repository. Filters stay enabled, so a command that checks out files is unsafe without more `options`. Git
    # itself refuses another user's repository unless `safe.directory` lists it.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *options, "-C", str(folder), *words],
            env={**environment, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise GitError("git is not installed, or not in PATH") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"{folder}: git {words[0]} did not end within {_SECONDS} seconds") from None
    if done.returncode:
        reason = done.stderr.strip().splitlines()[:1] or [f"exit code {done.returncode}"]
        raise GitError(f"{folder}: git {words[0]} failed: {reason[0]}")
    return done.stdout.strip()
