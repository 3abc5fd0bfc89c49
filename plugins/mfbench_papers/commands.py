"""The command of this package for ``mfbench --help``; importing this loads none of it."""

from mfbench.host.features import CommandSpec

PAPER = CommandSpec("Compare a paper's printed figures with ours.", "mfbench_papers.cli:paper")
