#!/usr/bin/env python3
"""Run a small part of the uci suite, offline, with other Pythons of this machine than the one that runs this script.

These are the system's Python, and of each minor version the oldest and the newest patch release, where pyproject.toml
promises them. Each has an environment of its own, with the same wheel; the system's runs as an ordinary user if it can.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
SYSTEM = Path("/usr/bin/python3")
ORDINARY = "nobody"
COMMAND = ("suite", "uci", "--offline", "--only", "iris", "--only", "?NN")
ASK = "import sys, venv; print(*sys.version_info[:3], sep='.'); print(getattr(sys, '_base_executable', sys.executable))"


def candidates() -> list[Path]:
    """Return what may be an interpreter; a `pythonX.Y` on the path may be a shim of pyenv that refuses to run."""
    folders = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep) if name]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    paths = [SYSTEM, *pyenv.glob("versions/3.*/bin/python")]
    return paths + [path for folder in folders for path in folder.glob("python3.*") if path.suffix[1:].isdigit()]


def asked(path: Path) -> tuple[str, Path] | None:
    """Return the version of an interpreter and where it is, or None if it does not run or has no venv."""
    try:
        answer = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer[0], Path(answer[1]).resolve()


def key(version: str) -> tuple[int, ...]:
    """Return a version as numbers."""
    return tuple(map(int, version.split(".")))


def chosen(found: dict[str, Path], promised: str, system: str | None, tested: str) -> dict[str, Path]:
    """Return the interpreters to run by version, of those found."""
    allowed = sorted((version for version in found if version in SpecifierSet(promised)), key=key)
    minors: dict[tuple[int, ...], list[str]] = {}
    for version in allowed:
        minors.setdefault(key(version)[:2], []).append(version)
    ends = {version for versions in minors.values() for version in (versions[0], versions[-1])}
    return {version: found[version] for version in allowed if version in ends | {system} and version != tested}


def ordinary_user(python: Path, folder: Path) -> dict[str, object]:
    """Give a folder to an ordinary user; return options that run a process as this user, if any can."""
    if os.geteuid() != 0:
        return {}
    options = {"user": ORDINARY, "group": "nogroup", "extra_groups": []}
    try:
        shutil.chown(folder, ORDINARY, "nogroup")
        subprocess.run([python, "-c", ""], cwd=folder, check=True, capture_output=True, **options)
    except (LookupError, OSError, subprocess.CalledProcessError):
        return {}
    return options


def smoke(version: str, python: Path, wheel: Path, folder: Path, is_system: bool) -> tuple[bool, str]:
    """Install the wheel in a new environment and run the command; return whether it succeeded, and what to print."""
    environment, home = folder / "venv", folder / "home"
    home.mkdir(parents=True)
    title = f"Python {version}: {python}"
    inside = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", inside, "install", "-q", wheel]
    for words in ([python, "-m", "venv", "--without-pip", environment], pip):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return False, f"{title}\n{done.stdout}{done.stderr}"
    user = ordinary_user(inside, home) if is_system else {}
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))}
    command = [environment / "bin" / "mfbench", *COMMAND]
    done = subprocess.run(
        command, cwd=home, env=variables | {"HOME": str(home)}, capture_output=True, text=True, **user
    )
    title += f", as {ORDINARY}" if user else ""
    if done.returncode:
        return False, f"{title}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return True, "\n".join([title, *done.stdout.splitlines()[-3:]])


def main() -> int:
    """Run all; return 1 if any failed."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    answers = {path: answer for path in candidates() if (answer := asked(path))}
    system = answers[SYSTEM][0] if SYSTEM in answers else None
    found: dict[str, Path] = {}
    for version, path in answers.values():  # the system's comes first
        found.setdefault(version, path)
    tested = ".".join(map(str, sys.version_info[:3]))
    for minor in re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.MULTILINE):
        if not any(version.startswith(f"{minor}.") for version in found):
            print(f"Python {minor}: skipped, because this machine does not have it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # for the ordinary user
        build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, ROOT]
        subprocess.run(build, check=True)
        (wheel,) = folder.glob("*.whl")
        jobs = [
            (version, path, wheel, folder / version, version == system)
            for version, path in chosen(found, project["requires-python"], system, tested).items()
        ]
        is_good = True
        with ThreadPoolExecutor(2) as pool:
            for succeeded, text in pool.map(lambda job: smoke(*job), jobs):
                print(text, flush=True)
                is_good &= succeeded
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
