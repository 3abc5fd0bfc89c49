"""Checks of suites: each profile is valid, names what exists, and has something to run."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from mfbench.base.wording import counted
from mfbench.data.lookup import Lookup
from mfbench.data.reference import RegisteredReference
from mfbench.data.sources import DataOptions
from mfbench.errors import MfbenchError, suggestion
from mfbench.suite.loading import LoadedSuite, load_suite, parse_suite, read_text
from mfbench.suite.plan import Plan, make_plan
from mfbench.suite.published import load_published
from mfbench.suite.resolve import resolve_datasets, resolve_methods
from mfbench.suite.restriction import matching
from mfbench.suite.schema import standard_profiles
from mfbench_check.catalog import check
from mfbench_check.subjects import Opened
from mfbench_check.verdicts import CheckFailedError, NotApplicableError

SUITE = ("suite",)
ALIKE = 2  # a suite may have a thousand replicates of one dataset
T = TypeVar("T")


@check("suite-valid", group="suites", kinds=SUITE)
def is_valid(subject: Opened) -> str:
    """The file can be read, and every profile of it is valid, also those that every suite has."""
    profiles = _profiles(subject)
    for profile in profiles:
        _require(subject, lambda profile=profile: _loaded(subject, profile), profile)  # type: ignore[misc]
    return ", ".join(profiles)


@check("suite-names", group="suites", kinds=SUITE, needs=("suite-valid",))
def names_what_exists(subject: Opened) -> None:
    """Every method, dataset, parameter and published table that a profile names exists, and what its parts match."""
    names: set[str] = set()
    for profile in _profiles(subject):

        def resolve(profile: str = profile) -> LoadedSuite:
            loaded = _loaded(subject, profile)
            load_published(loaded, subject.registry)
            methods, left_out = resolve_methods(loaded, subject.registry)
            names.update(methods, left_out, resolve_datasets(loaded, subject.registry, _offline()))
            return loaded

        loaded = _require(subject, resolve, profile)
    for name, part in loaded.suite.parts.items():
        for pattern in part.only:
            if not matching([pattern], names):
                expected = f"a match of each pattern of the part {name!r} in some profile"
                seen = f"{pattern!r} matches nothing{suggestion(pattern, names)}"
                raise CheckFailedError(expected, seen, _snippet(subject, None, part=name))


@check("suite-plan", group="suites", kinds=SUITE, needs=("suite-valid", "suite-names"))
def has_trials(subject: Opened) -> str:
    """Every profile has at least one trial, and nothing is left out but data that are not on this machine.

    The network is not used. Of datasets that differ in their parameters alone, two are loaded.
    """
    absent: dict[str, None] = {}
    n_trials = 0
    for profile in _profiles(subject):
        plan = _require(subject, lambda profile=profile: _planned(subject, profile), profile)  # type: ignore[misc]
        if plan.failures:
            label = plan.failures[0]
            seen = f"{label!r} is left out: {plan.left_out[label]}"
            raise CheckFailedError(
                f"every dataset and method of the profile {profile!r}", seen, _snippet(subject, profile)
            )
        if not plan.trials and not plan.unavailable:
            raise CheckFailedError(f"a trial in the profile {profile!r}", "it has none", _snippet(subject, profile))
        absent |= dict.fromkeys(plan.unavailable)
        n_trials += len(plan.trials)
    if not n_trials:
        raise NotApplicableError(f"none of its data are on this machine, such as {next(iter(absent))!r}")
    return f"{counted(len(absent), 'dataset')} not on this machine, such as {next(iter(absent))!r}" if absent else ""


def _profiles(subject: Opened) -> list[str]:
    try:
        suite = parse_suite(read_text(subject.path), str(subject.path))
    except MfbenchError as error:
        raise CheckFailedError("a valid suite", _one_line(error), _snippet(subject, None)) from error
    return list(dict.fromkeys([*standard_profiles(suite.protocol.kind), *suite.profiles]))


def _loaded(subject: Opened, profile: str) -> LoadedSuite:
    return load_suite(str(subject.path), subject.registry, profile)


def _planned(subject: Opened, profile: str) -> Plan:
    loaded = _loaded(subject, profile)
    alike: Counter[str] = Counter()
    labels = []
    for label, entry in resolve_datasets(loaded, subject.registry, _offline()).items():
        reference = entry.reference
        name = reference.expression.name if isinstance(reference, RegisteredReference) else label
        alike[name] += 1
        if alike[name] <= ALIKE:
            labels.append(glob.escape(label))
    return make_plan(loaded, subject.registry, labels, _offline())


def _offline() -> Lookup:
    return Lookup(DataOptions.of(None, offline=True))


def _require(subject: Opened, work: Callable[[], T], profile: str) -> T:
    try:
        return work()
    except MfbenchError as error:
        raise CheckFailedError(f"a valid profile {profile!r}", _one_line(error), _snippet(subject, profile)) from error


def _one_line(error: MfbenchError) -> str:
    return "; ".join(str(error).splitlines())


def _snippet(subject: Opened, profile: str | None, part: str | None = None) -> str:
    options = f"profile={profile!r}" if part is None else f"part={part!r}"
    return "\n".join(
        [
            "from mfbench.api import Request, prepare_suite",
            f"plan, folder, registry = prepare_suite(Request({subject.name!r}, {options}, offline=True))",
            "assert plan.trials and not plan.failures, plan.left_out",
        ]
    )
