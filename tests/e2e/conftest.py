"""Make the modules that the tests of the command line share importable, and their host a fixture."""

import sys
from pathlib import Path

# Tests are imported by their files, so a module that several of them share needs its folder on the path.
sys.path.insert(0, str(Path(__file__).parent))

from hosts import command_server, host, small_suite

__all__ = ["command_server", "host", "small_suite"]
