"""Make `undisturbed` and `processes` importable, which the tests of all faults share, and their host a fixture."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("e2e", "run", "run/workers")]
sys.path.insert(0, str(Path(__file__).parent))

from hosts import command_server, host, small_suite

__all__ = ["command_server", "host", "small_suite"]
