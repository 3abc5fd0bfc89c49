"""Suites with one mistake each, and a sound one; a plugin."""

from pathlib import Path

from mfbench import hookimpl


@hookimpl
def mfbench_suites():
    return [Path(__file__).parent / "suites"]
