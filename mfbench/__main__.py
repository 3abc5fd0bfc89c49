"""``python -m mfbench`` is the command ``mfbench``."""

from mfbench.cli import main

main()
