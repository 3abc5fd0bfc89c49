"""The Python door: what the command line does, as functions that return objects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mfbench.analysis.results import Run
from mfbench.data.catalog import load
from mfbench.data.lookup import Follower, Lookup
from mfbench.data.sources import DataOptions
from mfbench.errors import UsageError
from mfbench.host.registry import Registry, load_registry
from mfbench.models import Dataset
from mfbench.report.progress import Silent
from mfbench.run.runner import Observer, RunOptions, execute, run_folder
from mfbench.run.store import FILE_NAME
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import Plan, make_plan

DEFAULT_OUT = Path("reports")

__all__ = ["DEFAULT_OUT", "Run", "load_dataset", "load_run", "make", "prepare_suite", "run_suite"]


def make(expression: str, kind: str | None = None, *, registry: Registry | None = None) -> Any:
    """Build a selector or classifier by its registered name.

    Parameters
    ----------
    expression : str
        A name, with parameters if wanted: ``"relieff(n_neighbors=10)"``.
    kind : {"selector", "classifier"} or None, default=None
        Which is meant when a name is registered as both; None prefers the classifier.
    registry : Registry or None, default=None
        Plugins; None loads the installed ones.

    Returns
    -------
    estimator
        A scikit-learn estimator, not fitted.

    Raises
    ------
    UsageError
        If the name or a parameter does not exist.

    Examples
    --------
    >>> import mfbench
    >>> mfbench.make("knn(n_neighbors=3)").n_neighbors
    3
    """
    return (registry or load_registry()).make(expression, kind)


def load_dataset(
    reference: str,
    *,
    target: str | None = None,
    categorical: Sequence[str] | None = None,
    data_dir: Path | str | None = None,
    offline: bool = False,
    registry: Registry | None = None,
) -> Dataset:
    """Load a dataset by its registered name, by its number in a repository, or a file of your own.

    Parameters
    ----------
    reference : str
        ``"wine"``, ``"waveform-21(n_samples=1000)"``, ``"file:PATH"`` (CSV, ARFF or Parquet), ``"openml:61"``,
        ``"uci:53"``, ``"mirror:NAME"`` or ``"import:NAME"``.
    target : str or None, default=None
        For files and repositories: the label column; None takes the last one, or the one that the repository names.
    categorical : sequence of str or None, default=None
        For files and repositories: columns that hold categories although they are numbers.
    data_dir : Path, str or None, default=None
        A mirror, looked into before cache and network; None takes the environment variable ``MFBENCH_DATA_DIR``.
    offline : bool, default=False
        Never use the network.
    registry : Registry or None, default=None
        Plugins; None loads the installed ones.

    Returns
    -------
    Dataset

    Raises
    ------
    UsageError
        If the name does not exist.
    DataUnavailableError
        If it is not at hand; the message names the command that brings it.
    DataError
        If it cannot be loaded.

    Examples
    --------
    >>> import mfbench
    >>> mfbench.load_dataset("wine").X.shape
    (178, 13)
    """
    options = DataOptions.of(data_dir, offline)
    return load(reference, registry or load_registry(), options=options, target=target, categorical=categorical)


def prepare_suite(
    suite: str,
    *,
    profile: str | None = None,
    only: Sequence[str] = (),
    out: Path | str = DEFAULT_OUT,
    seed: int | None = None,
    data_dir: Path | str | None = None,
    offline: bool = False,
    registry: Registry | None = None,
    follower: Follower | None = None,
) -> tuple[Plan, Path, Registry]:
    """Load a suite, its datasets and methods; return the plan, the run folder and the plugins. Nothing runs yet.

    See `run_suite` for the parameters; `follower` is told of downloads.
    """
    registry = registry or load_registry()
    loaded = load_suite(suite, registry, profile, seed)
    plan = make_plan(loaded, registry, only, Lookup(DataOptions.of(data_dir, offline), follower))
    return plan, run_folder(Path(out), loaded, only), registry


def run_suite(
    suite: str,
    *,
    profile: str | None = None,
    jobs: int = 0,
    only: Sequence[str] = (),
    out: Path | str = DEFAULT_OUT,
    fresh: bool = False,
    retry_failed: bool = False,
    seed: int | None = None,
    strict: bool = False,
    data_dir: Path | str | None = None,
    offline: bool = False,
    observer: Observer | None = None,
) -> Run:
    """Run a suite, or what is left of it, and return the results.

    Parameters
    ----------
    suite : str
        The name of an installed suite, or the path of a TOML file.
    profile : str or None, default=None
        ``"quick"``, ``"standard"``, ``"paper"`` or one of the suite's own; None takes the suite's choice.
    jobs : int, default=0
        Worker processes; 0 takes one for each available processor.
    only : sequence of str, default=()
        Shell patterns that restrict datasets and methods by name.
    out : Path or str, default="reports"
        Folder of all runs.
    fresh : bool, default=False
        Throw away an earlier run of the same suite and options.
    retry_failed : bool, default=False
        Run trials again that failed before.
    seed : int or None, default=None
        Goes over the suite's seed.
    strict : bool, default=False
        Raise if a plugin cannot be loaded, instead of warning.
    data_dir : Path, str or None, default=None
        A mirror of datasets, looked into before cache and network; None takes the environment variable
        ``MFBENCH_DATA_DIR``. Results do not depend on where the data were found.
    offline : bool, default=False
        Never use the network; datasets that are not at hand are left out.
    observer : Observer or None, default=None
        Told of every result as it comes.

    Returns
    -------
    Run
        Its frames are ``trials``, ``scores``, ``summary()`` and ``wins_ties_losses()``.

    Raises
    ------
    SuiteError, UsageError
        If the suite or an option is wrong.
    RunError
        If the run folder is in use or cannot be written to.

    Notes
    -----
    Worker processes import the main script, so a script calls this under ``if __name__ == "__main__":``.

    Examples
    --------
    >>> import mfbench, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = mfbench.run_suite("uci", only=["iris", "1NN", "DUM"], out=folder, jobs=1)
    >>> run.scores.set_index("method")["mean"].round(2).to_dict()
    {'1NN': 1.0, 'DUM': 0.5}
    """
    plan, folder, registry = prepare_suite(
        suite,
        profile=profile,
        only=only,
        out=out,
        seed=seed,
        data_dir=data_dir,
        offline=offline,
        registry=load_registry(strict=strict),
    )
    execute(plan, folder, registry, RunOptions(jobs, fresh, retry_failed), observer or Silent())
    return load_run(folder)


def load_run(path: Path | str) -> Run:
    """Open the results of a run.

    Parameters
    ----------
    path : Path or str
        A run folder, or a folder of runs such as ``reports/uci``: then the one that was written to last.

    Returns
    -------
    Run

    Raises
    ------
    UsageError
        If there is no run.
    RunError
        If it cannot be read.
    """
    folder = Path(path)
    if not (folder / FILE_NAME).is_file():
        runs = sorted(folder.glob(f"*/{FILE_NAME}"), key=lambda file: file.stat().st_mtime)
        if not runs:
            known = sorted({file.parent.parent.name for file in folder.parent.glob(f"*/*/{FILE_NAME}")})
            there = f"; there are runs of {', '.join(known)}" if known else ""
            raise UsageError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' makes one{there}")
        folder = runs[-1].parent
    return Run(folder)
