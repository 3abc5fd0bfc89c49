"""The Python API behind ``mfbench check``: check plugins and everything they register."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata

from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.code_hashes import numeric_versions
from mfbench.host.discovery import PluginWarning
from mfbench.host.registry import HOST, Registry
from mfbench_check.catalog import all_checks
from mfbench_check.display import CheckReport, CheckVerdict
from mfbench_check.loading import load_for_checks
from mfbench_check.running import SECONDS, Options, checks_of, run_checks
from mfbench_check.subjects import Subject, subjects_of

__all__ = ["CheckReport", "check_plugins", "chosen_subjects", "make_options", "parse_skips"]

_SEEDS = 2**32  # accepted by scikit-learn as random_state


def check_plugins(
    names: Sequence[str] | str = (),
    *,
    package: str | None = None,
    skip: Mapping[str, str] | None = None,
    only: Iterable[str] | None = None,
    seed: int = 0,
    timeout: float = SECONDS,
    jobs: int = 0,
    registry: Registry | None = None,
    strict: bool = False,
    follow: Callable[[CheckVerdict, int], None] | None = None,
) -> CheckReport:
    """Check that plugins keep what they promise: whatever they register, and the plugins themselves.

    Every subject is checked in a child process, so that it cannot affect this one.

    Parameters
    ----------
    names : str or sequence of str, default=()
        Names of what plugins register, plugins or packages; a plugin or package stands for everything that it
        registers.
        Empty means everything registered by third parties, or by `package`.
    package : str or None, default=None
        Check only what this distribution registers; ``"mfbench"`` contains the built-in plugins.
    skip : mapping of str to str or None, default=None
        Checks to skip, with the reason for each.
    only : iterable of str or None, default=None
        Ids of the checks to run; None runs all.
    seed : int, default=0
        Seed of all randomness in the checks.
    timeout : float, default=120.0
        Time limit of one check, and of the import of a plugin, in seconds.
    jobs : int, default=0
        Number of subjects to check concurrently; 0 means one per processor.
    registry : Registry or None, default=None
        The plugins; None loads the installed ones.
    strict : bool, default=False
        Raise `PluginError` if an installed plugin cannot be loaded, even one that is not checked.
    follow : callable or None, default=None
        Called with each verdict and the total number of verdicts, from several threads.

    Returns
    -------
    CheckReport

    Raises
    ------
    UsageError
        If a name, a check or an option is not valid.

    Examples
    --------
    >>> import mfbench
    >>> report = mfbench.check_plugins("nearest-centroid", only=["factory", "fit"])
    >>> [(verdict.check, str(verdict.outcome)) for verdict in report.verdicts]
    [('factory', 'pass'), ('fit', 'pass')]
    """
    options = make_options(seed=seed, timeout=timeout, jobs=jobs, skip=skip)
    ids = None if only is None else _checked_ids(only)
    start = time.perf_counter()
    subjects: list[Subject] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PluginWarning)  # for plugins that are checked, it becomes a failure
            registry = registry or load_for_checks(timeout, strict=strict)
            subjects = chosen_subjects(registry, names, package)
    finally:  # the name may be unknown because its plugin was left out
        _warn_of_others(registry, subjects)
    table = [check for check in all_checks() if ids is None or check.id in ids]
    total = sum(len(checks_of(subject, table)) for subject in subjects)
    verdicts = run_checks(
        subjects, registry, options, ids, (lambda verdict: None) if follow is None else lambda one: follow(one, total)
    )
    return CheckReport(tuple(verdicts), seed, _versions(subjects), time.perf_counter() - start)


def chosen_subjects(registry: Registry, names: Sequence[str] | str = (), package: str | None = None) -> list[Subject]:
    """Return the subjects that `check_plugins` checks; see there for names and package.

    Raises
    ------
    UnknownNameError
        If a name or the package does not exist.
    """
    names = [names] if isinstance(names, str) else names
    subjects = subjects_of(registry, names, package)
    if names or package is not None:
        return subjects
    return [subject for subject in subjects if subject.plugin.distribution != HOST]


def make_options(
    *, seed: int = 0, timeout: float = SECONDS, jobs: int = 0, skip: Mapping[str, str] | None = None
) -> Options:
    """Return validated run options; see `check_plugins`.

    Raises
    ------
    UsageError
        If an option is not valid.
    """
    if not 0 <= seed < _SEEDS:
        raise UsageError(f"the seed {seed} is out of range: use a whole number from 0 to {_SEEDS - 1}")
    if not timeout > 0.0:
        raise UsageError(f"the time limit {timeout:g} s is not positive: give a check at least a few seconds")
    if jobs < 0:
        raise UsageError(f"{jobs} subjects cannot be checked at the same time: use 0 for one per processor")
    skip = dict(skip or {})
    _checked_ids(skip)
    for name, reason in skip.items():
        if not reason.strip():
            raise UsageError(f"the check {name!r} is skipped without a reason: write one, such as '{name}=too slow'")
    return Options(seed, timeout, jobs, skip)


def parse_skips(words: Iterable[str]) -> dict[str, str]:
    """Parse the checks to skip, with the reasons.

    Parameters
    ----------
    words : iterable of str
        Texts of the form ``CHECK=REASON``.

    Raises
    ------
    UsageError
        If a text has another form.

    Examples
    --------
    >>> parse_skips(["growth=too slow here"])
    {'growth': 'too slow here'}
    """
    skips = {}
    for word in words:
        name, equals, reason = word.partition("=")
        if not equals:
            raise UsageError(f"--skip {word!r} has no reason: write CHECK=REASON, such as '{name}=too slow'")
        skips[name.strip()] = reason.strip()
    return skips


def _checked_ids(names: Iterable[str]) -> set[str]:
    ids = {check.id for check in all_checks()}
    for name in (chosen := list(names)):
        if name not in ids:
            raise UnknownNameError("check", name, ids, "see 'mfbench check --list'")
    return set(chosen)


def _warn_of_others(registry: Registry | None, subjects: Sequence[Subject]) -> None:
    """Warn about problems of plugins that are not checked themselves."""
    checked = {subject.plugin for subject in subjects if subject.kind == "plugin"}
    for problem in registry.problems.records if registry is not None else ():
        if problem.plugin not in checked:
            problem.warn()


def _versions(subjects: Sequence[Subject]) -> dict[str, str]:
    plugins = {subject.plugin for subject in subjects if subject.plugin.distribution}
    packages = {plugin.distribution: plugin.version for plugin in plugins}
    own = {"python": platform.python_version(), HOST: metadata.version(HOST), **numeric_versions()}
    return {**own, **dict(sorted(packages.items()))}
