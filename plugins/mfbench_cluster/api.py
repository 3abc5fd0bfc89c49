"""The Python API behind ``mfbench merge``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mfbench.base.text import shell_command
from mfbench.errors import MfbenchError, NeverStartedError, UsageError
from mfbench.report.present import Run
from mfbench.run.merging import merge_runs
from mfbench.run.store.file import FILE_NAME, locked
from mfbench.run.store.metadata import RecordedShard, RunMetadata
from mfbench.run.store.store import Store


@dataclass(frozen=True)
class Merged:
    """The result of a merge.

    Attributes
    ----------
    path : Path
        The run folder.
    n_stores : int
        Number of distinct runs merged.
    n_trials : int
        Number of trials in the whole plan.
    n_results : int
        Number of trials with a result.
    remarks : list of str
        One sentence on each difference between the merged runs and on missing results.
    resume : str
        The command that runs the missing trials in this folder; empty if none are missing, or if the folder is not the
        default location for a run of this suite.
    """

    path: Path
    n_stores: int
    n_trials: int
    n_results: int
    remarks: list[str]
    resume: str


def merge(sources: Sequence[Path | str], into: Path | str | None = None) -> Run:
    """Merge runs of one suite, for example the shards of a run.

    Parameters
    ----------
    sources : sequence of Path or str
        Run folders, which stay unchanged.
    into : Path, str or None, default=None
        The folder of the merged run; created if needed. If it contains a run, the results are added to it. None uses
        the folder of the whole run, next to its shards.

    Returns
    -------
    Run
        The merged run.

    Raises
    ------
    UsageError
        If there are no sources, one of them is not a run, `into` is None and they are not shards of one run, or `into`
        is the folder of a shard or contains something else.
    RunError
        If the runs differ in the suite, in versions or in the result of a trial, or the folder is in use or not
        writable. If so, nothing is changed.

    Examples
    --------
    >>> import mfbench, tempfile
    >>> only = ["iris", "1NN", "DUM"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = [mfbench.run_suite("uci", only=only, out=folder, jobs=1, shard=f"{i}/2") for i in (1, 2)]
    ...     run = mfbench.merge([part.path for part in parts])
    >>> [part.n_pending for part in parts], run.n_pending
    ([5, 5], 0)
    """
    merged = merge_stores([Path(source) for source in sources], None if into is None else Path(into))
    return Run(merged.path)


def merge_stores(sources: Sequence[Path], into: Path | None = None) -> Merged:
    """Merge runs as `merge` does, and return the details for the user.

    Parameters
    ----------
    sources : sequence of Path
    into : Path or None, default=None

    Raises
    ------
    UsageError, RunError
        As in `merge`.
    """
    shards: dict[Path, RecordedShard | None] = {}
    for source in sources:
        if not (source / FILE_NAME).is_file():
            raise UsageError(f"{source} holds no run (no {FILE_NAME}); name the folders of runs")
        shards[source] = _shard(source)
    target = _whole(shards) if into is None else into
    was_there = target.exists()
    if (target / FILE_NAME).is_file():
        shard = _shard(target)
        if shard is not None and shard.folder_name == target.resolve().name:
            raise UsageError(
                f"{target} is the folder of a shard, so other results cannot be merged into it; name the folder of the "
                "merged run with --into"
            )
    elif was_there and any(not path.name.startswith(".") for path in target.iterdir()):
        raise UsageError(f"{target} holds other files and no run; name another folder with --into")
    try:
        with locked(target, "--into"):
            remarks = merge_runs(sources, target)
            with Store(target, read_only=True) as store:
                meta = store.meta()
                query = "SELECT COUNT(*), COUNT(t.key) FROM plan p LEFT JOIN trials t ON t.key = p.key"
                ((n_planned, n_results),) = store.raw(query)
    except MfbenchError:
        if not was_there:  # it was created only for the lock
            (target / ".lock").unlink(missing_ok=True)
            with suppress(OSError):
                target.rmdir()
        raise
    n_trials = n_planned if meta.shard is None else meta.shard.n_trials
    resume = _resume_command(meta, target) if n_results < n_trials else ""
    return Merged(target, len({source.resolve() for source in sources}), n_trials, n_results, remarks, resume)


def _shard(folder: Path) -> RecordedShard | None:
    """Return which part of a plan a run covers; None for a whole run, and for one that never started."""
    with suppress(NeverStartedError), Store(folder, read_only=True) as store:
        return store.meta().shard
    return None


def _whole(shards: Mapping[Path, RecordedShard | None]) -> Path:
    """Return the folder of the run that all sources are shards of (or the run itself)."""
    if not shards:
        raise UsageError("there is nothing to merge; name at least one run")
    targets: dict[Path, Path] = {}
    for source, shard in shards.items():
        if shard is not None and shard.batch:
            raise UsageError(f"{source} is part of a batch; name the folder of the merged run with --into")
        # The run's name was read from a file, so use only its last component as a folder name.
        name = source.resolve().name if shard is None else Path(shard.run).name
        targets.setdefault(source.resolve().parent / name, source.parent / name)
    if len(targets) > 1 or not any(shards.values()):
        raise UsageError("these are not the shards of one run; name the folder of the merged run with --into")
    return next(iter(targets.values()))


def _resume_command(meta: RunMetadata, target: Path) -> str:
    if meta.shard is None or (target.parent.name, target.name) != (meta.name, meta.shard.run):
        return ""
    out = target.parent.parent.as_posix()
    return shell_command(["mfbench", *meta.command[1:], *([] if out == "reports" else ["--out", out])])
