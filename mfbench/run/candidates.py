"""The form in which a trial's candidates are stored: compressed JSON in which equal arrays stand once."""

from __future__ import annotations

import dataclasses
import json
import zlib
from typing import TYPE_CHECKING, Any

from mfbench.run.trial.interactions import interactions_from_plain, interactions_to_plain
from mfbench.trials import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

_TYPES = {"selected": "int64", "weights": "float64", "predictions": "int64"}


def pack_candidates(candidates: Sequence[Candidate]) -> bytes:
    """Return candidates as compressed bytes.

    Grid points that differ in the classifier alone share the selector's weights, and often a selection, so each
    different array is written once and named by its number.

    Examples
    --------
    >>> unpack_candidates(pack_candidates([Candidate(chosen={"top": 2}, scores={"accuracy": 0.5})]))[0].chosen
    {'top': 2}
    """
    arrays: dict[str, int] = {}
    points = []
    for candidate in candidates:
        point = {field.name: getattr(candidate, field.name) for field in dataclasses.fields(candidate)}
        for name in _TYPES:
            if point[name] is not None:
                point[name] = arrays.setdefault(json.dumps(point[name].tolist()), len(arrays))
        if candidate.interactions is not None:
            point["interactions"] = interactions_to_plain(candidate.interactions)
        points.append(point)
    text = json.dumps({"points": points, "arrays": list(arrays)}, default=plain)
    return zlib.compress(text.encode())


def unpack_candidates(blob: bytes) -> list[Candidate]:
    """Return what `pack_candidates` was given."""
    import numpy as np

    content = json.loads(zlib.decompress(blob))
    arrays = [json.loads(text) for text in content["arrays"]]
    for point in content["points"]:
        for name, kind in _TYPES.items():
            if point[name] is not None:
                point[name] = np.array(arrays[point[name]], dtype=kind)
        if point["interactions"] is not None:
            point["interactions"] = interactions_from_plain(point["interactions"])
    return [Candidate(**point) for point in content["points"]]


def plain(value: Any) -> Any:
    """Let NumPy scalars of a tuning grid into JSON; anything else by its text."""
    return value.item() if hasattr(value, "item") else repr(value)
