"""JSON files of pytest-benchmark, of any origin: nothing in them is trusted.

The form is the one that ``pytest --benchmark-json=FILE`` writes; pytest-benchmark does not publish a schema of it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

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
_Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False, strict=True)]


class _Stats(BaseModel):
    """The times of a benchmark: its rounds, or what is left of them."""

    data: list[_Seconds] | None = None
    median: _Seconds | None = None
    mean: _Seconds | None = None


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
    for entry in map(_table, content["benchmarks"]):
        name = plain_text(entry.get("fullname") or entry.get("name"), 300) or "a benchmark without a name"
        seconds = _rounds(entry.get("stats"))
        if Place(name) in times:
            omissions.append(Omission(name, "appears more than once in the file; the first one is compared."))
        elif seconds:
            times[Place(name)] = {(0, number): value for number, value in enumerate(seconds)}
        else:
            omissions.append(Omission(name, "has no usable time in the file."))
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


def _rounds(stats: object) -> list[float]:
    """Return the seconds of the rounds of a benchmark, or the median that stands for them; empty if none is usable."""
    try:
        times = _Stats.model_validate(stats)
    except ValidationError:
        return []
    rounds = times.data or [value for value in (times.median, times.mean) if value is not None][:1]
    return rounds if len(rounds) <= MOST_ROUNDS else [median(rounds)]


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _commit(table: dict[str, Any]) -> str:
    commit = plain_text(table.get("id"), 40)
    if commit in _NO_COMMIT:
        return ""
    return commit[:12] + (" with uncommitted changes" if table.get("dirty") is True else "")


def _machine(table: dict[str, Any]) -> str:
    cpu = _table(table.get("cpu"))
    names = (cpu.get("brand_raw"), cpu.get("brand"), table.get("processor"), table.get("machine"))
    processor = next(filter(None, (plain_text(name, 100) for name in names if isinstance(name, str))), "")
    system = " ".join(filter(None, (plain_text(table.get(key), 60) for key in ("system", "release"))))
    return ", ".join(filter(None, (processor, system)))
