"""Registers the folder of the built-in suite files."""

from __future__ import annotations

from pathlib import Path

from mfbench import hookimpl


@hookimpl
def mfbench_suites() -> list[Path]:
    """Return the folder of the built-in suites."""
    # In a wheel the folder is inside this package; in a checkout it is the top-level folder "suites".
    shipped = Path(__file__).parent / "suites"
    return [shipped if shipped.is_dir() else Path(__file__).parents[2] / "suites"]
