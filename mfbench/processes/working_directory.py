"""What a working directory may not contain, because libraries in child processes would read it."""

from __future__ import annotations

from pathlib import Path

from mfbench.errors import UsageError

NUMBA_SETTINGS = ".numba_config.yaml"


def check_working_directory() -> None:
    """Refuse a working directory that configures numba."""
    # numba reads this file whenever it compiles a function. It can change results, and with `cache_dir` it makes
    # numba load pickled objects from a folder of its choice.
    if Path(NUMBA_SETTINGS).exists():
        raise UsageError(
            f"the working directory contains {NUMBA_SETTINGS}, which can change results and make numba execute code: "
            "run mfbench in another directory, or set environment variables such as NUMBA_CPU_NAME instead"
        )
