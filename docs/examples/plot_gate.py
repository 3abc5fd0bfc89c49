"""
Did the last change make it worse?
==================================

In CI, ``mfbench gate`` measures two versions of a package in turns. ``mfbench compare`` judges two stored runs: here
of the same method before and after a change.
"""

import subprocess
import tempfile

import mfbench

DATA = ["wine-igt", "wdbc", "optdigits"]


def measured(learner):
    """Run the method, whose label stays the same."""
    methods = {"MINE": ("relieff", learner)}
    return mfbench.run_suite("uci", only=[*DATA, "DUM"], add=methods, out=tempfile.mkdtemp())


before = measured("knn(n_neighbors=3)")
after = measured("knn(n_neighbors=100)")

# %%
# A regression is a score that is significantly worse, by more than a limit: exit code 4.

words = ["mfbench", "compare", str(before.path), str(after.path), "--limit", "accuracy=0.02"]
ended = subprocess.run(words, capture_output=True, text=True)
print(ended.stdout)
print("exit code", ended.returncode)

# %%
# The changed method against a constant guess, as its run has it:

chart = after.replace(reference="MINE").chart("wins-ties-losses")
