"""The commands of this package for ``mfbench --help``; importing this loads none of them."""

from mfbench.host.features import CommandSpec

BATCH = CommandSpec("Write jobs for a batch system.", "mfbench_cluster.cli:app")
MERGE = CommandSpec("Merge runs of one suite.", "mfbench_cluster.cli:merge")
