"""The metadata of a run as a bundle has them: everything that a reader needs, and nothing that is private."""

from __future__ import annotations

import re

from mfbench.data.reference import FileReference
from mfbench.run.store.metadata import RecordedSuite, Reused, RunMetadata

_DIGEST = re.compile(r" \(sha256 [0-9a-f]+\)$")


def public_metadata(meta: RunMetadata) -> RunMetadata:
    """Return the metadata without what is private."""
    return meta.model_copy(
        update={
            "suite": public_suite(meta.suite),
            "environment": meta.environment.model_copy(update={"command": []}),
            "other_environments": [each.model_copy(update={"command": []}) for each in meta.other_environments],
            # Not the one that was typed: whoever reads the bundle may have neither its files nor its folders.
            "command": ["mfbench", "suite", meta.name, "--profile", meta.profile],
            "out": "",
            "reused": _reused(meta.reused),
            "machines": {f"machine {number}": kind for number, kind in enumerate(meta.machines.values(), 1)},
        }
    )


def _reused(reused: Reused) -> Reused:
    """Return which results are from elsewhere, without the names of folders and files, which their owner chose."""
    names = {}
    for number, name in enumerate(reused.keys, 1):
        digest = _DIGEST.search(name) if name in reused.bundles else None
        names[name] = f"run {number}" if digest is None else f"bundle {number}{digest[0]}"
    return Reused(
        keys={names[name]: keys for name, keys in reused.keys.items()},
        differences={names[name]: text for name, text in reused.differences.items() if name in names},
        bundles=[names[name] for name in reused.bundles if name in names],
    )


def public_suite(suite: RecordedSuite) -> RecordedSuite:
    """Return a suite whose files have names alone; its published figures are recorded beside it."""
    content = suite.model_dump(mode="json")
    for group in content.get("datasets", []):
        group["use"] = [_reference(text) for text in group["use"]]
    content["report"]["published"] = []
    return RecordedSuite.model_validate(content)


def _reference(text: str) -> str:
    """Return the reference of a dataset; of a file only the name."""
    prefix = FileReference.prefix
    return prefix + re.split(r"[\\/]", text)[-1].removeprefix(prefix) if text.startswith(prefix) else text
