"""The command line: translates commands into calls of the other packages, and has no logic of its own.

Heavy imports stay inside the commands, so that ``mfbench --help`` starts quickly.
"""

from mfbench.cli.entry import app, main

__all__ = ["app", "main"]
