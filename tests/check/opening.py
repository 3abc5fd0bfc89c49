"""Checks of a method in this process, without a child."""

import warnings
from contextlib import contextmanager
from functools import cache

from threadpoolctl import threadpool_limits

from mfbench.host.registry import load_registry
from mfbench.run.workers.global_state import GlobalState
from mfbench_check.catalog import CHECKS, all_checks
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Opened, subjects_of


@cache
def registry_of(module):
    """Return a registry with that plugin alone, read once."""
    return load_registry(only=[module])


def opened(module, name, kind, seed=0):
    """Return a method of a module as checks see it."""
    registry = registry_of(module)
    (subject,) = [one for one in subjects_of(registry, [name]) if one.kind == kind]
    return Opened(subject, registry, seed)


def remark(check, subject):
    """Make a check and return its remark; what it raises is raised."""
    all_checks()
    return CHECKS[check].function(subject)


def failure(check, subject):
    """Make a check and return its failure, None if it passes."""
    try:
        remark(check, subject)
    except CheckFailedError as error:
        return error
    return None


@contextmanager
def restored_process():
    """Put back what broken methods change in this process, which later methods and child processes would inherit."""
    before = GlobalState()
    with warnings.catch_warnings(), threadpool_limits():
        try:
            yield
        finally:
            before.restore()
