"""The commands of this package for ``mfbench --help``; importing this loads none of them."""

from mfbench.host.features import CommandSpec

DATASETS = CommandSpec("List, show, download and manage datasets.", "mfbench_catalog.cli:app")
PLUGINS = CommandSpec("List all methods and executors.", "mfbench_catalog.cli:plugins")
SUITES = CommandSpec("List the installed suites.", "mfbench_catalog.cli:suites")
