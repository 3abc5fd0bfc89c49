"""JSON files of pytest-benchmark, of any origin: nothing in them is trusted.

The form is the one that ``pytest --benchmark-json=FILE`` writes; pytest-benchmark does not publish a schema of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from mfbench.base.untrusted import plain_text
from mfbench.errors import UsageError, explained
from mfbench_gate.comparison import Omission, Place, Side
from mfbench_gate.readers.result import BENCHMARK_FILE, Series, StoredResult

LARGEST_FILE = 100_000_000
MOST_BENCHMARKS = 100_000
MOST_ROUNDS = 1_000
"""Rounds that are kept; of a benchmark with more it is their median alone."""
MAJOR_VERSIONS = (3, 4, 5)
_NO_COMMIT = ("", "unversioned", "unknown")


def read_benchmark_file(path: Path) -> StoredResult:
    """Return the benchmarks of a JSON file of pytest-benchmark as a result to compare.

    The time of a benchmark is the median of its rounds: of the rounds in the file if it has them, otherwise
    the median that it states. A benchmark without a usable time is an omission.

    Parameters
    ----------
    path : Path

    Raises
    ------
    UsageError
        If the file cannot be read, is too large, is not JSON, is not of pytest-benchmark or of an unknown version.
    """
    content = _load(path)
    times: dict[Place, Series] = {}
    omissions = []
    for entry in content["benchmarks"]:
        name, seconds, reason = _benchmark(entry)
        place = Place(name)
        if place in times:
            reason = "appears more than once in the file; the first one is compared"
        if reason:
            omissions.append(Omission(name, f"{reason}."))
        else:
            times[place] = seconds
    machine = _table(content.get("machine_info"))
    return StoredResult(
        Side(plain_text(path), _commit(_table(content.get("commit_info"))), _machine(machine)),
        BENCHMARK_FILE,
        plain_text(path.name),
        times=times,
        libraries={"Python": python} if (python := plain_text(machine.get("python_version"), 40)) else {},
        omissions=omissions,
    )


def _load(path: Path) -> dict[str, Any]:
    """Return the content of a file after checking that it has the form of pytest-benchmark."""
    shown = plain_text(path)
    with explained(UsageError, lambda reason: f"cannot read {shown}: {reason}", OSError):
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UsageError(f"{shown} has {size / 1e6:.0f} MB; files up to {LARGEST_FILE / 1e6:.0f} MB are read")
        data = path.read_bytes()
    not_json = f"{shown} is neither a run folder nor a JSON file"
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{not_json} ({plain_text(error, 100)})") from None
    if not isinstance(content, dict) or not isinstance(content.get("benchmarks"), list):
        raise UsageError(f"{shown} is not a file of pytest-benchmark: it has no list 'benchmarks'")
    version = content.get("version")
    match = re.match(r"(\d{1,4})\.\d", version) if isinstance(version, str) else None
    if match is None or int(match[1]) not in MAJOR_VERSIONS:
        readable = f"versions {MAJOR_VERSIONS[0]} to {MAJOR_VERSIONS[-1]} are read"
        raise UsageError(
            f"{shown} is of an unknown version of pytest-benchmark ({plain_text(repr(version), 40)}): {readable}"
        )
    if len(content["benchmarks"]) > MOST_BENCHMARKS:
        raise UsageError(f"{shown} has more than {MOST_BENCHMARKS} benchmarks")
    return content


def _benchmark(entry: object) -> tuple[str, Series, str]:
    """Return the name of a benchmark with the seconds of its rounds, or with the reason why there are none."""
    table = _table(entry)
    name = plain_text(table.get("fullname") or table.get("name"), 300) or "a benchmark without a name"
    stats = _table(table.get("stats"))
    rounds = stats.get("data")
    if isinstance(rounds, list) and rounds:
        values = [_seconds(value) for value in rounds]
    else:
        values = [_seconds(stats.get("median", stats.get("mean")))]
    usable = [value for value in values if value is not None]
    if len(usable) < len(values):
        return name, {}, "has no usable time in the file"
    if len(usable) > MOST_ROUNDS:
        usable = [median(usable)]
    return name, {(0, number): value for number, value in enumerate(usable)}, ""


def _seconds(value: object) -> float | None:
    """Return a number of the file as seconds; None if it is anything else, negative or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _commit(table: dict[str, Any]) -> str:
    commit = plain_text(table.get("id"), 40)
    if commit in _NO_COMMIT:
        return ""
    return commit[:12] + (" with uncommitted changes" if table.get("dirty") is True else "")


def _machine(table: dict[str, Any]) -> str:
    cpu = _table(table.get("cpu"))
    names: Iterable[object] = (cpu.get("brand_raw"), cpu.get("brand"), table.get("processor"), table.get("machine"))
    processor = next((text for text in (plain_text(name, 100) for name in names if isinstance(name, str)) if text), "")
    system = " ".join(text for text in (plain_text(table.get(key), 60) for key in ("system", "release")) if text)
    return ", ".join(part for part in (processor, system) if part)
