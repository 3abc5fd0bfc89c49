"""The metadata of a run as a bundle has them: everything that a reader needs, and nothing that is private."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from mfbench.bundles.private_text import PrivateText
from mfbench.data.reference import FileReference
from mfbench.run.metadata import Environment, RecordedSuite, Reused, RunMetadata

_DROPPED = {"--data-dir": 2, "--out": 2, "--jobs": 2, "--offline": 1}
"""Options of this machine, each with its number of words."""


def public_metadata(meta: RunMetadata, private: PrivateText) -> RunMetadata:
    """Return the metadata without what is private.

    Parameters
    ----------
    meta : RunMetadata
    private : PrivateText
    """
    return meta.model_copy(
        update={
            "suite": _suite(meta.suite),
            "environment": _environment(meta.environment),
            "other_environments": [_environment(each) for each in meta.other_environments],
            "command": _words(meta.command, private),
            "out": "",
            "reused": Reused(keys=meta.reused.keys, differences=meta.reused.differences),
            "machines": {f"machine {number}": kind for number, kind in enumerate(meta.machines.values(), 1)},
        }
    )


def _environment(environment: Environment) -> Environment:
    """Return an environment without the command line, and without fields that another version may have added."""
    named = {name: getattr(environment, name) for name in Environment.model_fields}
    return Environment(**{**named, "command": []})


def _suite(suite: RecordedSuite) -> RecordedSuite:
    """Return a suite whose files have names alone; its published figures are recorded beside it."""
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


def _words(words: Sequence[str], private: PrivateText) -> list[str]:
    """Return the command that started the run, without the options that are about its machine."""
    kept: list[Any] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in _DROPPED:
            del rest[: _DROPPED[word] - 1]
        elif word.startswith(FileReference.prefix):
            kept.append(_reference(word))
        elif word.endswith(".toml"):
            kept.append(_name(word))
        else:
            kept.append(private.removed(word))
    return kept
