"""Make modules importable that tests of other rooms share."""

import sys
from pathlib import Path

for room in ("run", "faults"):
    sys.path.insert(0, str(Path(__file__).parents[1] / room))
