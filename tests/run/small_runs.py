"""A suite of four methods on iris, the job that a plan of it becomes, and a pool without processes."""

from pathlib import Path
from typing import ClassVar

from mfbench.data.prepare import Columns
from mfbench.host.registry import load_registry
from mfbench.run.job import Job, write_arrays
from mfbench.run.worker import Worker

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


class InProcess:
    """The pool's work without its processes."""

    machines: ClassVar = {}

    def __init__(self, job, jobs, timeout):
        self.worker = Worker(job, load_registry(exactly=job.plugins))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, trials):
        for trial in trials:
            yield trial, self.worker.run(trial, {})[0]
