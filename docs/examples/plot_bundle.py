"""
A claim that anyone can verify
==============================

A bundle is a run as one file. Its reader runs a sample of the trials again, elsewhere, and learns whether a verdict
would change.
"""

import tempfile
from pathlib import Path

import mfbench

folder = Path(tempfile.mkdtemp())
run = mfbench.run_suite("uci", only=["iris", "wine-igt", "wdbc", "REL", "FSC", "3NN"], out=folder)
claim = mfbench.bundle_run(run, folder / "claim.zip", license_id="CC-BY-4.0")
print(f"{claim.stat().st_size / 1024:.0f} KiB")

# %%
# The reader's side; a sample of one's own choice, or all of it:

verification = mfbench.verify_bundle(claim, sample=20, seed=1)
print(verification)

# %%
# A bundle is read like a run:

claimed = mfbench.load_run(claim)
print(claimed.summary()[["method", "mean", "rank"]].round(3).to_string(index=False))
chart = claimed.chart("score-time")
