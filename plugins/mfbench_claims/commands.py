"""The commands of this package for ``mfbench --help``; importing this loads none of them."""

from mfbench.host.features import CommandSpec

BOARD = CommandSpec("Rate the methods of bundles, with what was verified.", "mfbench_claims.cli:board")
BUNDLE = CommandSpec("Write a run as one file that anyone can verify.", "mfbench_claims.cli:bundle")
VERIFY = CommandSpec("Run trials of a bundle again, and compare.", "mfbench_claims.cli:verify")
