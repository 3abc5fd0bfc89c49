"""The command line: it translates commands into calls of the other rooms and has no logic of its own.

Heavy imports stay inside the commands, so that ``mfbench --help`` answers at once.
"""

from mfbench.cli.entry import app, main

__all__ = ["app", "main"]
