"""The environments of a gate: an interpreter, or a git revision that is checked out, installed and cached."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import filelock
import platformdirs

from mfbench.base.git import run_git
from mfbench.errors import MfbenchError, UsageError
from mfbench_gate.gate.replicate import SHARING

PREFIX = "git:"
MERGE_BASE = "merge-base"
_READY = "ready"
# Runs when an environment starts. Shared packages (including editable ones) follow the environment's own; the checkout
# itself is hidden, since a base would otherwise find modules that only the head has.
_SHARE = """
import os, site, sys

FOLDERS, TOP = {folders!r}, {top!r}


def is_shared(path):
    is_inside = (os.path.realpath(path) + os.sep).startswith(TOP + os.sep)
    return not is_inside or any((path + os.sep).startswith(folder + os.sep) for folder in FOLDERS)


own, finders = list(sys.path), list(sys.meta_path)
for folder in FOLDERS:
    site.addsitedir(folder)
sys.path[:] = own + [path for path in sys.path if path not in own and is_shared(path)]
sys.meta_path[:] = finders + [finder for finder in sys.meta_path if finder not in finders]
"""
_MAIN_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_LINES_SHOWN = 3


class EnvironmentBuildError(MfbenchError):
    """The environment of a side cannot be created."""


@dataclass(frozen=True)
class PreparedSide:
    """A side that is ready to be measured."""

    name: str  # as named by the user
    python: Path  # its interpreter
    version: str  # the commit, or the path of the interpreter
    notes: tuple[str, ...] = ()  # sentences for the report


def prepare_side(text: str, folder: Path, cache: Path | None = None) -> PreparedSide:
    """Return the interpreter of a side, creating its environment if it is a revision."""
    # The environment of a revision contains only the project; everything else comes from the running environment, so
    # that both sides use the same libraries. Missing requirements are installed.
    if not text.startswith(PREFIX):
        if not (Path(text).is_file() and os.access(text, os.X_OK)):
            raise UsageError(
                f"{text!r} is neither a Python interpreter nor a revision: name an interpreter, such as "
                f".venv/bin/python, or a revision as {PREFIX}REVISION"
            )
        return PreparedSide(text, Path(text).absolute(), text)
    project = _project(folder)
    top = Path(run_git(project, "rev-parse", "--show-toplevel"))
    commit = _commit(top, text.removeprefix(PREFIX))
    root = cache or platformdirs.user_cache_path("mfbench") / "gate"
    inside = project.resolve().relative_to(top.resolve())
    identity = (str(top.resolve()), inside.as_posix(), sys.executable, sys.version, _SHARE)
    place = root / hashlib.sha256("\n".join(identity).encode()).hexdigest()[:12] / commit[:16]
    place.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(f"{place}.lock"):
        if not (place / _READY).is_file():
            _build(place, top, commit, inside)
    dirty = commit == run_git(top, "rev-parse", "HEAD") and bool(
        run_git(top, "status", "--porcelain", "--", str(project), options=_without_filters(top))
    )
    notes = ("The working tree has changes that are not committed; they are not measured.",) if dirty else ()
    return PreparedSide(text, _python_of(place / "env"), commit, notes)


def _project(folder: Path) -> Path:
    """Return the folder of the project to install: the nearest one with a build file."""
    for candidate in (folder.absolute(), *folder.absolute().parents):
        if any((candidate / name).is_file() for name in ("pyproject.toml", "setup.py")):
            return candidate
        if (candidate / ".git").exists():
            break
    raise UsageError(f"{folder} is not in a Python project: there is neither pyproject.toml nor setup.py to install")


def _without_filters(top: Path) -> list[str]:
    """Return git options that disable all filters during checkout: any commit's attributes could enable one."""
    keys = run_git(top, "config", "--list", "--name-only", "--null").split("\0")
    names = dict.fromkeys(key.rpartition(".")[0] for key in keys if key.startswith("filter."))
    off = ("smudge=", "clean=", "process=", "required=false")
    return [word for name in names for setting in off for word in ("-c", f"{name}.{setting}")]


def _commit(top: Path, revision: str) -> str:
    if revision == MERGE_BASE:
        return _merge_base(top)
    if not revision or revision.startswith("-"):
        raise UsageError(f"{PREFIX}{revision} is not a revision: write {PREFIX}main or {PREFIX}HEAD~1, for example")
    try:
        return run_git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except UsageError:
        raise UsageError(f"{top} has no revision {revision!r}; fetch it, or name another") from None


def _merge_base(top: Path) -> str:
    # GitHub sets this to the target branch of a pull request.
    target = os.environ.get("GITHUB_BASE_REF")
    branches = [f"origin/{target}"] if target else list(_MAIN_BRANCHES)
    for branch in branches:
        with contextlib.suppress(UsageError):
            return run_git(top, "merge-base", "HEAD", branch)
    raise UsageError(
        f"{top} has no commit that HEAD shares with {' or '.join(branches)}: fetch the branch with its whole history, "
        "not a shallow clone, or name the revision of the base"
    )


def _build(place: Path, top: Path, commit: str, inside: Path) -> None:
    """Check out a commit and install it, after removing the remains of an interrupted attempt."""
    tree, env, log = place / "tree", place / "env", place.with_suffix(".log")
    shutil.rmtree(place, ignore_errors=True)
    run_git(top, "worktree", "prune")
    place.mkdir(parents=True)
    run_git(top, "worktree", "add", "--detach", "--quiet", str(tree), commit, options=_without_filters(top))
    log.write_text("")
    venv.create(env, with_pip=False, symlinks=os.name != "nt")
    # The environment sees the running environment's packages, after its own.
    own = {sysconfig.get_paths()[name] for name in ("purelib", "platlib")}
    paths = [entry for entry in sys.path if entry in own or Path(entry).name in ("site-packages", "dist-packages")]
    text = _SHARE.format(folders=list(dict.fromkeys(paths)), top=str(top.resolve()))
    (_site_packages(env) / f"{SHARING}.py").write_text(text, encoding="utf-8")
    (_site_packages(env) / f"{SHARING}.pth").write_text(f"import {SHARING}\n")
    _install(env, tree / inside, commit, log)
    (place / _READY).touch()


def _site_packages(env: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(env), "platbase": str(env)}))


def _python_of(env: Path) -> Path:
    return env / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _install(env: Path, project: Path, commit: str, log: Path) -> None:
    # Install without dependencies first, so that pip does not touch the shared packages; then add the missing ones.
    isolation = ["--no-build-isolation"] if _has_build_backend(project) else []
    _pip(env, commit, log, ["--no-deps", "--ignore-installed", *isolation, str(project)])
    installed = next(d for d in metadata.distributions(path=[str(_site_packages(env))]) if d.metadata["Name"])
    needed = [text for text in installed.requires or [] if "extra ==" not in text]
    if needed:
        _pip(env, commit, log, needed)


def _has_build_backend(project: Path) -> bool:
    try:
        table = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
        for requirement in table.get("build-system", {}).get("requires", ["setuptools"]):
            metadata.distribution(re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0])
    except (OSError, ValueError, metadata.PackageNotFoundError):  # pip reports what is wrong with the file
        return False
    return True


def _pip(env: Path, commit: str, log: Path, words: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(_python_of(env)), "install", "--no-input", "--quiet"]
    with log.open("a") as file:
        done = subprocess.run([*command, *words], stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        tail = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-_LINES_SHOWN:]
        raise EnvironmentBuildError(
            f"the environment of {commit[:12]} cannot be built: {' '.join(tail)} (all of pip's output is in {log})"
        )
