"""The Python functions behind ``mfbench bundle``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mfbench.bundles.writing import Written, write_bundle
from mfbench.errors import UsageError
from mfbench.runs import DEFAULT_OUT, Run, find_run

__all__ = ["Written", "bundle_run", "bundle_runs"]

FILE_NAME = "claim.zip"


def bundle_run(run: Run | Path | str, target: Path | str) -> Path:
    """Write a run as one file with which anyone can verify its results.

    Parameters
    ----------
    run : Run, Path or str
        A run, or a path as in `load_run`; it is only read.
    target : Path or str
        The file, replaced if it exists.

    Returns
    -------
    Path
        The file. The same run gives the same bytes.

    Raises
    ------
    UsageError
        If there is no run at `run`, or `target` is a folder.
    RunError
        If it cannot be read, or contains something private where it cannot be left out.

    Examples
    --------
    >>> import mfbench, tempfile, zipfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = mfbench.run_suite("uci", only=["iris", "1NN", "DUM"], out=folder, jobs=1)
    ...     claim = mfbench.bundle_run(run, Path(folder) / "claim.zip")
    ...     sorted(zipfile.ZipFile(claim).namelist())[:3]
    ['datasets.jsonl', 'left_out.jsonl', 'manifest.json']
    """
    stored = _own(run if isinstance(run, Run) else find_run(str(run)))
    return write_bundle(stored.path, Path(target)).path


def bundle_runs(runs: Sequence[str], target: Path, out: Path | str = DEFAULT_OUT) -> Iterator[Written]:
    """Write one run to a file, or several runs into a folder.

    Parameters
    ----------
    runs : sequence of str
        Each as for `mfbench.runs.find_run`.
    target : Path
        A file that ends in ``.zip``; or else a folder, in which each run has ``SUITE/claim.zip``.
    out : Path or str, default="reports"
        Folder of all runs.

    Yields
    ------
    Written

    Raises
    ------
    UsageError
        If several runs would be one file.
    """
    stored = [_own(find_run(run, out)) for run in runs]
    if target.suffix.lower() == ".zip" and not target.is_dir():
        if len(stored) > 1:
            raise UsageError(f"{target} is one file: name a folder to bundle several runs")
        yield write_bundle(stored[0].path, target)
        return
    targets = [target / run.meta.name / FILE_NAME for run in stored]
    for run, path in zip(stored, targets, strict=True):
        if targets.count(path) > 1:
            raise UsageError(f"several runs of the suite {run.meta.name} would be {path}: bundle them one by one")
    for run, path in zip(stored, targets, strict=True):
        yield write_bundle(run.path, path)


def _own(run: Run) -> Run:
    """Return a run, unless its results are those of somebody's bundle."""
    if run.claims:
        raise UsageError(f"{run.bundle} is a bundle: to write one, name a run")
    return run
