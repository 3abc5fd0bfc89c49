"""Stored runs: opening them or the bundles of runs, and several as one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from mfbench.errors import RunError, UsageError
from mfbench.host.features import feature_hooks
from mfbench.report.notebook import open_run
from mfbench.run.store.file import FILE_NAME
from mfbench.stats.results import Run
from mfbench.suite.shards import is_shard_folder_name

DEFAULT_OUT = Path("reports")


def load_run(path: Path | str) -> Run:
    """Open the results of a run."""
    folder = Path(path)
    if folder.is_file() and (run := feature_hooks().first("mfbench_open_run", path=folder)) is not None:
        return cast(Run, run)
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise RunError(f"{folder} cannot be read: you have no permission to; ask its owner for it (chmod a+rX)")
    if not (folder / FILE_NAME).is_file():
        # A shard is a part of a run, so it is not what the name of a suite stands for.
        runs = sorted(
            folder.glob(f"*/{FILE_NAME}"),
            key=lambda file: (not is_shard_folder_name(file.parent.name), file.stat().st_mtime),
        )
        if folder.is_file():
            raise UsageError(f"{folder} is not the folder of a run, but a file")
        if not runs:
            suites = sorted({file.parent.parent.name for file in folder.parent.glob(f"*/*/{FILE_NAME}")})
            there = f"; there are runs of {', '.join(suites)}" if suites else ""
            raise UsageError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' creates one{there}")
        folder = runs[-1].parent
    return open_run(folder)


def find_run(run: str, out: Path | str = DEFAULT_OUT) -> Run:
    """Open the results of a run by its path or, in the folder of all runs, by the name of its suite."""
    place, stored = Path(run), Path(out) / run
    # Something else may have the name of a suite, such as a folder that bundles were written to.
    other = run == place.name and stored.is_dir() and not _holds_runs(place)
    return load_run(stored if other or not place.exists() else place)


def _holds_runs(folder: Path) -> bool:
    return (folder / FILE_NAME).is_file() or any(folder.glob(f"*/{FILE_NAME}"))


@contextmanager
def opened_runs(names: Sequence[str], out: Path | str = DEFAULT_OUT) -> Iterator[Run]:
    """Open a run, or several runs of one suite as one for as long as the context lasts."""
    from mfbench.processes.temporary import temporary_folder
    from mfbench.run.merge.merging import merge_runs

    runs = [find_run(name, out) for name in names]
    paths = list(dict.fromkeys(run.path.resolve() for run in runs))
    if len(paths) == 1:
        yield runs[0]
        return
    with temporary_folder("joined") as folder:
        target = folder / "joined"
        try:
            remarks = merge_runs([run.path for run in runs], target)
        except RunError as error:
            if not any(run.claims for run in runs):
                raise
            raise RunError(_with_bundles(str(error), runs)) from error
        joined = open_run(target)
        yield joined.replace(
            claims=tuple(dict.fromkeys(name for run in runs for name in run.claims)),
            remarks=[*joined.remarks, *(_with_bundles(remark, runs) for remark in remarks)],
        )


def _with_bundles(text: str, runs: Sequence[Run]) -> str:
    """Return a text about run folders with the names of bundles in place of their temporary folders."""
    for run in runs:
        text = text.replace(str(run.path), str(run.bundle or run.path))
    return text
