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
    """What the keys of a run's trials say about code; empty for runs that were merged and differ in it.

    Attributes
    ----------
    mfbench : str
        Its version.
    host : str
        Hash of the files of mfbench that take part in computing a result.
    libraries : dict of str to str
        Versions of the numeric libraries.
    methods : dict of str to dict
        The code of each method: versions and hashes by what they are of.
    datasets : dict of str to dict
        The same for datasets that workers generate.
    """

    model_config = ConfigDict(frozen=True)

    mfbench: str = ""
    host: str = ""
    libraries: dict[str, str] = {}
    methods: dict[str, dict[str, str]] = {}
    datasets: dict[str, dict[str, str]] = {}


def code_of(plan: Plan) -> RecordedCode:
    """Return the code that the keys of a plan depend on.

    Parameters
    ----------
    plan : Plan
    """
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
    """Return the code of runs that are joined; empty if they do not agree on it.

    Parameters
    ----------
    codes : sequence of RecordedCode

    Examples
    --------
    >>> one, two = (RecordedCode(mfbench="1", methods={name: {"plugin p": name}}) for name in "ab")
    >>> sorted(joined_code([one, two]).methods), joined_code([one, RecordedCode()]).mfbench
    (['a', 'b'], '')
    """
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
    """Return how the code here differs from that behind a result, a clause for each difference.

    Parameters
    ----------
    there : RecordedCode
        That of the result.
    here : RecordedCode
    dataset, method : str
        The labels of the trial.

    Examples
    --------
    >>> there = RecordedCode(mfbench="0.2.0", host="a", libraries={"numpy": "2.0"}, methods={"A": {"plugin p": "0f"}})
    >>> here = there.model_copy(update={"libraries": {"numpy": "2.1"}, "methods": {"A": {"plugin p": "1e"}}})
    >>> differences_of(there, here, "iris", "A")
    ['numpy 2.1 instead of 2.0', 'p with other code']
    """
    if not there.mfbench:
        return [UNRECORDED]
    clauses = differences(_shared(there), _shared(here))
    clauses += code_differences(there.methods.get(method, {}), here.methods.get(method, {}))
    clauses += code_differences(there.datasets.get(dataset, {}), here.datasets.get(dataset, {}))
    return list(dict.fromkeys(clauses))


def _shared(code: RecordedCode) -> Fingerprint:
    return Fingerprint(code.mfbench, code.host, code.libraries, {})
