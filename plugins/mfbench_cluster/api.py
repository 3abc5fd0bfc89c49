"""The Python functions behind ``mfbench merge``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mfbench.base.untrusted import shell_command
from mfbench.errors import MfbenchError, NeverStartedError, UsageError
from mfbench.report.notebook import open_run
from mfbench.run.merge.merging import merge_runs
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.folder_lock import locked
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.store.store import Store
from mfbench.stats.results import Run


@dataclass(frozen=True)
class Merged:
    """The result of a merge.

    Attributes
    ----------
    path : Path
        The run folder.
    n_stores : int
        The runs that were merged, each counted once.
    n_trials : int
        Trials of the whole plan.
    n_results : int
        Those that have a result.
    remarks : list of str
        What differs between the merged runs, and what is missing; a sentence each.
    resume : str
        The command that runs what is missing in this folder; empty if nothing is missing, or if there is none because
        the folder is not where a run of this suite would be.
    """

    path: Path
    n_stores: int
    n_trials: int
    n_results: int
    remarks: list[str]
    resume: str


def merge(sources: Sequence[Path | str], into: Path | str | None = None) -> Run:
    """Merge runs of one suite, such as the shards of a run.

    Parameters
    ----------
    sources : sequence of Path or str
        Run folders; they are only read.
    into : Path, str or None, default=None
        The folder of the merged run; created if needed. If it holds a run, the results are added to it. None takes the
        folder of the whole run, which is beside its shards.

    Returns
    -------
    Run
        The merged run.

    Raises
    ------
    UsageError
        If there are no sources, one of them is not a run, `into` is None and they are not shards of one run, or `into`
        is the folder of a shard or holds something else.
    RunError
        If runs cannot be merged, because they differ in the suite, in versions or in the result of a trial, or the
        folder is in use or cannot be written to. Then nothing is changed.

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
    return open_run(merged.path)


def merge_stores(sources: Sequence[Path], into: Path | None = None) -> Merged:
    """Merge runs as `merge` does, and return what a user must know about it.

    Parameters
    ----------
    sources : sequence of Path
    into : Path or None, default=None

    Raises
    ------
    UsageError, RunError
        As in `merge`.
    """
    for source in sources:
        if not (source / FILE_NAME).is_file():
            raise UsageError(f"{source} holds no run (no {FILE_NAME}); name the folders of runs")
    target = _whole(sources) if into is None else into
    _check_target(target)
    with _removed_if_refused(target), locked(target, "--into"):
        remarks = merge_runs(sources, target)
        with Store(target, read_only=True) as store:
            meta = store.meta()
            query = "SELECT COUNT(*), COUNT(t.key) FROM plan p LEFT JOIN trials t ON t.key = p.key"
            ((n_planned, n_results),) = store.raw(query)
    n_trials = n_planned if meta.share is None else meta.share.n_trials
    resume = _resume_command(meta, target) if n_results < n_trials else ""
    return Merged(target, len({source.resolve() for source in sources}), n_trials, n_results, remarks, resume)


def _check_target(target: Path) -> None:
    """Refuse a folder whose own command would take a merged run for its own, or that holds something else."""
    if (target / FILE_NAME).is_file():
        with suppress(NeverStartedError), Store(target, read_only=True) as store:
            share = store.meta().share
            if share is not None and share.folder_name == target.resolve().name:
                raise UsageError(
                    f"{target} is the folder of a share of a run, which has no place for others; name the folder of "
                    "the merged run with --into"
                )
    elif target.is_dir() and any(not path.name.startswith(".") for path in target.iterdir()):
        raise UsageError(f"{target} holds other files and no run; name another folder with --into")


@contextmanager
def _removed_if_refused(target: Path) -> Iterator[None]:
    """Remove a folder that exists only because it was locked for a merge that was refused."""
    was_there = target.exists()
    try:
        yield
    except MfbenchError:
        if not was_there:
            (target / ".lock").unlink(missing_ok=True)
            with suppress(OSError):
                target.rmdir()
        raise


def _whole(sources: Sequence[Path]) -> Path:
    """Return the folder of the run that all sources are shards of, or are themselves."""
    if not sources:
        raise UsageError("there is nothing to merge; name at least one run")
    places: dict[Path, Path] = {}
    for source in sources:
        with Store(source, read_only=True) as store:
            share = store.meta().share
        if share is not None and share.kind == "task":
            raise UsageError(f"{source} is part of a batch; name the folder of the merged run with --into")
        # The name of a share was read from a file: only its last component can be that of a folder.
        name = source.resolve().name if share is None else Path(share.run).name
        places.setdefault(source.resolve().parent / name, source.parent / name)
    if len(places) > 1 or not _has_shards(sources):
        raise UsageError("these are not the shards of one run; name the folder of the merged run with --into")
    return next(iter(places.values()))


def _has_shards(sources: Sequence[Path]) -> bool:
    for source in sources:
        with Store(source, read_only=True) as store:
            if store.meta().share is not None:
                return True
    return False


def _resume_command(meta: RunMetadata, target: Path) -> str:
    if meta.share is None or (target.parent.name, target.name) != (meta.name, meta.share.run):
        return ""
    out = target.parent.parent.as_posix()
    return shell_command(["mfbench", *meta.command[1:], *([] if out == "reports" else ["--out", out])])
