"""The command of this package for ``mfbench --help``; importing this loads nothing else."""

from mfbench.host.features import CommandSpec

SELECT = CommandSpec("Select features of one table, with an honest score.", "mfbench_select.cli:select")
