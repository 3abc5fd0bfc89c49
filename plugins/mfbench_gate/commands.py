"""The commands of this package for ``mfbench --help``; importing this loads none of them."""

from mfbench.host.features import CommandSpec

COMPARE = CommandSpec("Compare two stored results.", "mfbench_gate.cli:compare")
GATE = CommandSpec("Measure two versions in turns, and fail if the head is worse.", "mfbench_gate.cli:gate")
TRACK = CommandSpec("Keep a history of measurements over commits.", "mfbench_gate.cli:app")
