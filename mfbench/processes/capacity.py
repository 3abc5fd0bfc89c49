"""What this process may use of the machine, within the limits of containers and batch systems."""

from __future__ import annotations

from pathlib import Path

import psutil

_ROOT = Path("/")


def available_memory(root: Path = _ROOT) -> int:
    """Return the bytes of memory that this process and its children may use together."""
    # That is the memory of the machine, or less if a control group of Linux sets a limit, as containers and batch
    # systems do. Beyond it the system ends processes of its own choice.
    limits = [limit for folder, name in _groups(root) if (limit := _limit(folder / name)) is not None]
    return min([int(psutil.virtual_memory().total), *limits])


def _groups(root: Path) -> list[tuple[Path, str]]:
    """Return the folders of this process's control groups, up to their roots, each with the file of its limit."""
    mounted = root / "sys/fs/cgroup"
    groups = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:  # version 2
            base, name = mounted, "memory.max"
        elif "memory" in controllers.split(","):
            base, name = mounted / "memory", "memory.limit_in_bytes"
        else:
            continue
        # Inside a container the path may be that of the host, which is not mounted; the root's limit holds anyway.
        parts = [part for part in path.split("/") if part not in ("", "..")]
        groups += [(base.joinpath(*parts[:depth]), name) for depth in range(len(parts) + 1)]
    return groups


def _limit(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() and int(text) > 0 else None  # "max" means none


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # not Linux, or not mounted: there is no limit to read
        return ""
