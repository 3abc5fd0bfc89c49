"""Checks of a method in this process, without a child."""

from mfbench.check.catalog import CHECKS
from mfbench.check.listing import all_checks
from mfbench.check.subjects import Opened, subjects_of
from mfbench.check.verdicts import CheckFailedError
from mfbench.host.registry import load_registry


def opened(module, name, kind, seed=0):
    """Return a method of a module as checks see it."""
    registry = load_registry(only=[module])
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
