"""Make the modules importable that tests share, and a small run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))

from small_claims import in_process, small_claim, small_run

__all__ = ["in_process", "small_claim", "small_run"]
