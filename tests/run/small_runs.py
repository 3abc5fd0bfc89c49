"""A suite of four methods on iris, and the job that a plan of it becomes."""

from pathlib import Path

from mfbench.data.prepare import Columns
from mfbench.host.registry import load_registry
from mfbench.run.job import Job, write_arrays

SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
repeats = 1
[profiles.quick]
folds = 3
[[datasets]]
use = ["iris"]
[[methods]]
label = "A"
selector = "anova-f"
classifier = "knn"
top = 1
[[methods]]
label = "B"
selector = "anova-f"
classifier = "naive-bayes"
top = 2
[[methods]]
label = "C"
selector = "variance"
classifier = "knn"
[[methods]]
label = "D"
classifier = "knn"
"""


def job_of(plan, folder: Path, **changes) -> Job:
    folder.mkdir(exist_ok=True)
    values = {
        "methods": plan.methods,
        "datasets": {label: Columns.of(planned.data) for label, planned in plan.datasets.items()},
        "files": {label: write_arrays(planned, folder) for label, planned in plan.datasets.items()},
        "data_folder": folder,
        "protocol": plan.protocol,
        "settings": plan.loaded.protocol,
        "plugins": tuple(load_registry().plugins.values()),
    }
    return Job(**{**values, **changes})
