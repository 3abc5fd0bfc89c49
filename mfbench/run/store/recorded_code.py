"""The versions and hashes of the code behind a run's results, as a run records them, and how those here differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from mfbench.run.fingerprint import VERSION, Fingerprint, code_differences, differences

if TYPE_CHECKING:
    from mfbench.suite.plan import Plan

_TABLES = ("methods", "datasets")
UNRECORDED = "the run does not record the versions and hashes of its code"


class RecordedCode(BaseModel):
    """What the keys of a run's trials say about code; empty for runs that were merged and differ in it."""

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
    shared: dict[str, Any] = {}
    for (dataset, method), ingredients in plan.ingredients.items():
        shared = {"mfbench": VERSION, "host": ingredients["host"], "libraries": dict(ingredients["libraries"])}
        methods[method] = dict(ingredients["code"])
        if isinstance(ingredients["dataset"], Mapping):
            datasets[dataset] = dict(ingredients["dataset"]["code"])
    return RecordedCode(**shared, methods=methods, datasets=datasets)


def joined_code(codes: Sequence[RecordedCode]) -> RecordedCode:
    """Return the code of runs that are joined; empty if they do not agree on it."""
    methods, datasets = ({k: v for code in codes for k, v in getattr(code, name).items()} for name in _TABLES)
    joined = codes[0].model_copy(update={"methods": methods, "datasets": datasets})
    is_one_code = all(
        (code.mfbench, code.host, code.libraries) == (joined.mfbench, joined.host, joined.libraries)
        and code.methods.items() <= methods.items()
        and code.datasets.items() <= datasets.items()
        for code in codes
    )
    return joined if is_one_code else RecordedCode()


def differences_of(there: RecordedCode, here: RecordedCode, dataset: str, method: str) -> list[str]:
    """Return how the code here differs from that behind a result, a clause for each difference."""
    if not there.mfbench:
        return [UNRECORDED]
    clauses = differences(_shared(there), _shared(here))
    clauses += code_differences(there.methods.get(method, {}), here.methods.get(method, {}))
    clauses += code_differences(there.datasets.get(dataset, {}), here.datasets.get(dataset, {}))
    return list(dict.fromkeys(clauses))


def _shared(code: RecordedCode) -> Fingerprint:
    return Fingerprint(code.mfbench, code.host, code.libraries, {})
