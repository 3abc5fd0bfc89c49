"""Make `spies` importable: test files share its estimator."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
