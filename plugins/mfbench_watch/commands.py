"""The command of this package for ``mfbench --help``; importing this loads nothing else."""

from mfbench.host.features import CommandSpec

WATCH = CommandSpec("Show a run under way in a browser.", "mfbench_watch.server:watch")
