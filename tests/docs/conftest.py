"""Make importable what the tests of the documents share, beside them, and the modules that build the site."""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
for _folder in (_HERE, _HERE.parents[1] / "docs" / "site"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
