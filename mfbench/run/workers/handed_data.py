"""The data that workers read, handed over so that none of them can change what the others read.

Where the system has them (Linux), arrays are in sealed memory, which no process can write to. Elsewhere, and at the
places of an engine, they are files named by their hash: whoever reads one checks it, and so does the process that
receives a result. The methods of a run could write to such a file, and a result on changed data is dropped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.run.workers.job import ArrayFiles, Job, hash_of, is_hash, write_arrays
from mfbench.suite.planned_dataset import PlannedDataset

if sys.platform == "linux":
    import fcntl

if TYPE_CHECKING:
    from numpy.typing import NDArray

Handed = tuple[Path, dict[str, ArrayFiles]]


@contextmanager
def handed_over(datasets: Mapping[str, PlannedDataset], folder: Path, *, is_local: bool) -> Iterator[Handed]:
    """Yield a folder and, by label, the names of each dataset's arrays in it."""
    with ExitStack() as stack:
        if is_local:
            try:
                handed = _sealed(datasets, stack)
            except (OSError, AttributeError):  # the system has none, or not enough of it
                stack.close()
            else:
                yield handed
                return
        yield folder, {label: write_arrays(planned, folder) for label, planned in datasets.items()}


def _sealed(datasets: Mapping[str, PlannedDataset], stack: ExitStack) -> Handed:
    descriptors = Path(f"/proc/{os.getpid()}/fd")
    if descriptors.stat().st_uid != os.geteuid():  # then no other process may look there
        raise PermissionError
    files = {
        label: (_seal(np.ascontiguousarray(planned.data.X), stack), _seal(planned.data.y, stack))
        for label, planned in datasets.items()
    }
    return descriptors, files


def _seal(array: NDArray[Any], stack: ExitStack) -> str:
    """Copy an array to sealed memory; return the number of its descriptor."""
    descriptor = os.memfd_create("mfbench", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    stack.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return str(descriptor)


class HandedData:
    """Looks whether the files of a job still have the content that their names state."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._seen: dict[str, tuple[int, ...]] = {}

    def damage(self, dataset: str) -> str:
        """Return a sentence if the arrays of a dataset were changed; empty if they were not."""
        # A file is hashed once, and again when it has been written to.
        for name in self._job.files.get(dataset, ()):
            if is_hash(name) and not self._is_intact(name):
                return (
                    f"the data of {dataset!r} that all workers read were changed while trials ran, by this one or "
                    "another one, so its result was dropped; run again with --retry-failed, without the method that "
                    "writes to files of the run"
                )
        return ""

    def _is_intact(self, name: str) -> bool:
        path = self._job.data_folder / name
        try:
            state = path.stat()
            # A method can set every time of a file but that of its last change, which Windows does not tell.
            seen = (state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            if seen != self._seen.get(name) or os.name == "nt":
                if hash_of(path) != name:
                    return False
                self._seen[name] = seen
        except OSError:
            return False
        return True
