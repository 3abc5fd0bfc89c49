"""The metadata of a run as a bundle has them: everything that a reader needs, and nothing that is private."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

from mfbench.data.reference import FileReference
from mfbench.run.metadata import Environment, RecordedSuite, Reused, RunMetadata


def public_metadata(meta: RunMetadata) -> RunMetadata:
    """Return the metadata without what is private.

    Parameters
    ----------
    meta : RunMetadata
    """
    return meta.model_copy(
        update={
            "suite": public_suite(meta.suite),
            "environment": _environment(meta.environment),
            "other_environments": [_environment(each) for each in meta.other_environments],
            # Not the one that was typed: whoever reads the bundle may have neither its files nor its folders.
            "command": ["mfbench", "suite", meta.name, "--profile", meta.profile],
            "out": "",
            "reused": Reused(keys=meta.reused.keys, differences=meta.reused.differences),
            "machines": {f"machine {number}": kind for number, kind in enumerate(meta.machines.values(), 1)},
        }
    )


def _environment(environment: Environment) -> Environment:
    """Return an environment without the command line, and without fields that another version may have added."""
    named = {name: getattr(environment, name) for name in Environment.model_fields}
    return Environment(**{**named, "command": []})


def public_suite(suite: RecordedSuite) -> RecordedSuite:
    """Return a suite whose files have names alone; its published figures are recorded beside it.

    Parameters
    ----------
    suite : RecordedSuite
    """
    content = suite.model_dump(mode="json")
    for group in content.get("datasets", []):
        group["use"] = [_reference(text) for text in group["use"]]
    content["report"]["published"] = []
    return RecordedSuite.model_validate(content)


def _reference(text: str) -> str:
    """Return the reference of a dataset; of a file only the name.

    Examples
    --------
    >>> _reference("file:/home/ann/mine.csv"), _reference("wine")
    ('file:mine.csv', 'wine')
    """
    prefix = FileReference.prefix
    return f"{prefix}{_name(text.removeprefix(prefix))}" if text.startswith(prefix) else text


def _name(path: str) -> str:
    return PurePosixPath(path).name if "/" in path else PureWindowsPath(path).name
