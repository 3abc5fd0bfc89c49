"""
Does a selector keep its promise?
=================================

Some selectors promise a rate of errors: of their selected features, at most a share is irrelevant. ``mfbench audit``
fits them to data on which the irrelevant features are known, and tests the promise on each of ten designs: it holds,
is broken, or more rounds are needed to tell.
"""

import subprocess
import tempfile
from pathlib import Path

import mfbench

folder = Path(tempfile.mkdtemp())
selectors = ["f-test-fdr(level=0.2)", "kernel-ranking"]
words = ["mfbench", "audit", *selectors, "--profile", "standard", "--out", str(folder)]
ended = subprocess.run(words, capture_output=True, text=True, check=True)
print(ended.stdout.partition("Remarks\n")[0])

# %%
# Each dot is a design; the line is where the rate is as promised.

chart = mfbench.load_run(folder / "audit").chart("promises")
