"""The versions and hashes of the code behind a run's results, as a run records them, and how those here differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from mfbench.run.fingerprint import VERSION, Fingerprint, differences

if TYPE_CHECKING:
    from mfbench.suite.plan import Plan

_VERSIONED = ("distribution", "package", "requirement")
UNRECORDED = "the run does not record the versions and hashes of its code"


class RecordedCode(BaseModel):
    """What the keys of a run's trials say about code; empty for a run without trials."""

    model_config = ConfigDict(frozen=True)

    mfbench: str = ""  # its version
    host: str = ""  # hash of the files of mfbench that take part in computing a result
    libraries: dict[str, str] = {}  # versions of the numeric libraries
    methods: dict[str, dict[str, str]] = {}  # the code of each method: versions and hashes by what they are of
    datasets: dict[str, dict[str, str]] = {}  # the same for datasets that workers generate


def code_of(plan: Plan) -> RecordedCode:
    """Return the code that the keys of a plan depend on."""
    methods: dict[str, dict[str, str]] = {}
    datasets: dict[str, dict[str, str]] = {}
    host, libraries = "", {}
    for (dataset, method), ingredients in plan.ingredients.items():
        host, libraries = ingredients["host"], ingredients["libraries"]
        methods[method] = dict(ingredients["code"])
        if isinstance(ingredients["dataset"], Mapping):
            datasets[dataset] = dict(ingredients["dataset"]["code"])
    if not methods:
        return RecordedCode()
    return RecordedCode(mfbench=VERSION, host=host, libraries=dict(libraries), methods=methods, datasets=datasets)


def joined_code(codes: Sequence[RecordedCode]) -> RecordedCode:
    """Return the code of runs that are joined; empty if they do not agree on it."""
    joined = codes[0]
    for code in codes[1:]:
        common = [
            (name, value)
            for ours, theirs in ((joined.methods, code.methods), (joined.datasets, code.datasets))
            for name, value in ours.items()
            if theirs.get(name, value) != value
        ]
        if common or any(getattr(joined, name) != getattr(code, name) for name in ("mfbench", "host", "libraries")):
            return RecordedCode()
        joined = joined.model_copy(
            update={"methods": joined.methods | code.methods, "datasets": joined.datasets | code.datasets}
        )
    return joined


def differences_of(there: RecordedCode, here: RecordedCode, dataset: str, method: str) -> list[str]:
    """Return how the code here differs from that behind a result, a clause for each difference."""
    if not there.mfbench:
        return [UNRECORDED]
    clauses = differences(_shared(there), _shared(here))
    for ours, theirs in (
        (here.methods.get(method, {}), there.methods.get(method, {})),
        (here.datasets.get(dataset, {}), there.datasets.get(dataset, {})),
    ):
        clauses += _parts(theirs, ours)
    return list(dict.fromkeys(clauses))


def _shared(code: RecordedCode) -> Fingerprint:
    return Fingerprint(code.mfbench, code.host, code.libraries, {})


def _parts(theirs: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    clauses = []
    for key in dict.fromkeys([*theirs, *ours]):
        kind, _, name = key.partition(" ")
        before, now = theirs.get(key, ""), ours.get(key, "")
        if before == now:
            continue
        if kind in _VERSIONED and before and now:
            clauses.append(f"{name} {now} instead of {before}")
        elif before and now:
            clauses.append(f"{name or 'the project of the method'} with other code")
        else:
            clauses.append(f"{name or 'the project of the method'} only {'here' if now else 'there'}")
    return clauses
