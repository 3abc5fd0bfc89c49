"""The commands of this package for ``mfbench --help``; importing this loads none of them."""

from mfbench.host.features import CommandSpec

CHECK = CommandSpec("Check that plugins keep what they promise.", "mfbench_check.cli:check")
NEW_PLUGIN = CommandSpec("Write a plugin package to start from.", "mfbench_check.cli:new_plugin")
