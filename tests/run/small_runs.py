"""A suite of four methods on iris, the job that a plan of it becomes, and a pool without processes."""

from contextlib import closing, contextmanager
from pathlib import Path

from mfbench.data.prepare import Columns
from mfbench.engines import Executor
from mfbench.host.registry import load_registry
from mfbench.run.workers.job import Job, write_arrays
from mfbench.run.workers.worker import Worker

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
        "structures": {label: p.structure for label, p in plan.datasets.items() if p.structure is not None},
        "protocol": plan.protocol,
        "runner": plan.loaded.spec.runner,
        "settings": plan.loaded.protocol,
        "task": plan.loaded.task,
        "plugins": tuple(load_registry().plugins.values()),
    }
    return Job(**{**values, **changes})


class InProcess(Executor):
    """The pool's work without its processes."""

    def __init__(self, jobs=1):
        pass

    def start(self, job, budget=None, follow=None):
        self.worker, self.budget = Worker(job, load_registry(exactly=job.plugins)), budget

    def submit(self, trials):
        self.trials = list(trials)

    def collect(self):
        for trial in self.trials:
            yield trial, self.worker.run(trial, {})[0]

    def close(self):
        pass


@contextmanager
def started(executor, job, **options):
    """Start an executor, and close it afterwards."""
    executor.start(job, **options)
    with closing(executor):
        yield executor


def results_of(executor, trials):
    """Return what an executor that was started gives for trials."""
    executor.submit(trials)
    return list(executor.collect())
