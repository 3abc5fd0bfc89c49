"""The command of this package for ``mfbench --help``; importing this loads nothing else."""

from mfbench.host.features import CommandSpec

EXPORT = CommandSpec("Write a run as Parquet or SQLite, or for OpenML or MLflow.", "mfbench_export.cli:export")
