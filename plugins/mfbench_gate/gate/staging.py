"""The files that replicates need: the gate's own mfbench, the arrays of the datasets, and their order."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import mfbench_gate
from mfbench import errors
from mfbench.data.prepare import Columns
from mfbench.processes.temporary import temporary_folder
from mfbench.run.environment import memory_limit
from mfbench.run.workers.job import Job, write_arrays
from mfbench.suite.plan import Plan
from mfbench_gate.gate.side import RunningReplicate

# Four processes are alive at a time.
_PROCESSES = 4


@contextmanager
def staged(plan: Plan) -> Iterator[Callable[[Path], RunningReplicate]]:
    """Write the files of a gate to a temporary folder, which is removed afterwards."""
    with temporary_folder("gate") as folder:
        order, harness = folder / "order.pickle", folder / "harness"
        order.write_bytes(pickle.dumps((plan.loaded, _job(plan, folder))))
        harness.mkdir()
        # mfbench and the gate alone: the folders that they are installed in contain other packages.
        for package in (Path(errors.__file__).parent, Path(mfbench_gate.__file__).parent):
            if os.name == "nt":  # links need a privilege there
                shutil.copytree(package, harness / package.name)
            else:
                (harness / package.name).symlink_to(package, target_is_directory=True)
        yield partial(RunningReplicate, harness=harness, order=order, timeout=plan.loaded.protocol.timeout)


def _job(plan: Plan, folder: Path) -> Job:
    return Job(
        methods={},
        datasets={label: Columns.of(planned.data) for label, planned in plan.datasets.items()},
        files={label: write_arrays(planned, folder) for label, planned in plan.datasets.items()},
        data_folder=folder,
        protocol=plan.protocol,
        settings=plan.loaded.protocol,
        true_pairs={label: tuple(planned.data.interactions or ()) for label, planned in plan.datasets.items()},
        references={label: p.reference for label, p in plan.datasets.items() if p.reference is not None},
        classes={label: p.classes for label, p in plan.datasets.items()},
        memory_limit=memory_limit(plan.loaded.protocol.memory, _PROCESSES),
        log=folder / "replicates.log",
    )
