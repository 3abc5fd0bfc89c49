"""The commands of this package for ``mfbench --help``; importing this loads none of them."""

from mfbench.host.features import CommandSpec

AUDIT = CommandSpec("Check whether selectors keep their promised error rates.", "mfbench_audit.cli:audit")
RANK = CommandSpec("Rank the methods of a table of scores.", "mfbench_audit.cli:rank")
