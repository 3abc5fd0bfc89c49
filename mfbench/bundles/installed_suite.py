"""How the suite of a bundle differs from the installed suite of that name: the name alone says little about a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from mfbench.bundles.public_metadata import public_suite
from mfbench.errors import SuiteError, UsageError
from mfbench.host.registry import Registry
from mfbench.run.metadata import RecordedSuite, RunMetadata
from mfbench.suite.loading import load_suite
from mfbench.untrusted import plain_text

LONGEST_VALUE = 200  # characters
Entries = Mapping[str, Mapping[str, Any]]

# The published figures of a run are recorded beside its suite.
_NOT_COMPARED = {"published"}


def differences_from_installed(meta: RunMetadata, registry: Registry) -> list[str]:
    """Return a clause on each difference that may change results or verdicts; none if the suites are the same.

    Parameters
    ----------
    meta : RunMetadata
        That of the bundle.
    registry : Registry
        Provides the installed suites.
    """
    if meta.name not in registry.suites():
        return ["no suite of this name is installed here"]
    try:
        loaded = load_suite(meta.name, registry, meta.profile)
    except SuiteError:
        return ["the installed one cannot be read"]
    except UsageError:
        return [f"the installed one has no profile {meta.profile!r}"]
    installed = public_suite(RecordedSuite.model_validate(loaded.suite.model_dump(mode="json")))
    clauses = []
    if meta.seed != installed.suite.seed:
        clauses.append(_instead("the seed", meta.seed, installed.suite.seed))
    clauses += _of_tables("protocol.", _plain(meta.protocol), _plain(loaded.protocol))
    clauses += _of_tables("report.", _plain(meta.report), _plain(installed.report))
    clauses += _of_entries("method", _methods(meta.suite), _methods(installed))
    clauses += _of_entries("dataset", _datasets(meta.suite), _datasets(installed))
    return clauses


def _plain(table: BaseModel) -> dict[str, Any]:
    return table.model_dump(mode="json", exclude=_NOT_COMPARED)


def _methods(suite: RecordedSuite) -> Entries:
    return {method["label"]: {**method, "label": None} for method in (suite.model_extra or {}).get("methods", ())}


def _datasets(suite: RecordedSuite) -> Entries:
    groups = (suite.model_extra or {}).get("datasets", ())
    return {use: {**group, "use": None, "replicates": None} for group in groups for use in group["use"]}


def _of_entries(noun: str, theirs: Entries, installed: Entries) -> Iterator[str]:
    for label, entry in theirs.items():
        if label not in installed:
            yield f"the {noun} {label} is added"
        else:
            yield from _of_tables(f"{noun} {label}: ", entry, installed[label])
    for label in installed:
        if label not in theirs:
            yield f"the {noun} {label} is missing"


def _of_tables(place: str, theirs: Mapping[str, Any], installed: Mapping[str, Any]) -> Iterator[str]:
    """Yield a clause for each key with another value; another version may lack a key, which then has no value."""
    for key in dict.fromkeys((*theirs, *installed)):
        # In which profiles an entry is: both suites have those of one profile.
        if key != "profiles" and theirs.get(key) != installed.get(key):
            yield _instead(f"{place}{key}", theirs.get(key), installed.get(key))


def _instead(place: str, theirs: Any, installed: Any) -> str:
    """Return a clause on one value.

    Examples
    --------
    >>> _instead("protocol.folds", 5, 10)
    'protocol.folds is 5 instead of 10'
    >>> _instead("report.reference", None, "IGT")
    'report.reference is not set instead of IGT'
    """
    return f"{place} is {_text(theirs)} instead of {_text(installed)}"


def _text(value: Any) -> str:
    """Return a value, cut if it is long: whoever made the bundle chose it."""
    return "not set" if value is None else plain_text(str(value), LONGEST_VALUE)
