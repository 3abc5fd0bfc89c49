"""The form in which a trial's candidates are stored: compressed JSON that contains equal arrays once."""

from __future__ import annotations

import dataclasses
import json
import zlib
from typing import TYPE_CHECKING, Any

from mfbench.model.trials import Candidate
from mfbench.run.store.formats.interactions import interactions_from_plain, interactions_to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TYPES = {"selected": "int64", "weights": "float64", "predictions": "int64"}


def pack_candidates(candidates: Sequence[Candidate]) -> bytes:
    """Return candidates as compressed bytes."""
    # Grid points that differ only in the classifier share the selector's weights, and often the selected features. So
    # each distinct array is written once and referred to by its number.
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
    """Return the candidates that `pack_candidates` packed; those with equal arrays share one."""
    import numpy as np

    content = json.loads(zlib.decompress(blob))
    lists = [json.loads(text) for text in content["arrays"]]
    arrays: dict[tuple[int, str], NDArray[Any]] = {}
    for point in content["points"]:
        for name, kind in _TYPES.items():
            if point[name] is not None:
                place = (point[name], kind)
                if place not in arrays:
                    arrays[place] = np.array(lists[point[name]], dtype=kind)
                point[name] = arrays[place]
        if point["interactions"] is not None:
            point["interactions"] = interactions_from_plain(point["interactions"])
    return [Candidate(**point) for point in content["points"]]


def plain(value: Any) -> Any:
    """Convert a NumPy scalar of a tuning grid for JSON; anything else becomes its text."""
    return value.item() if hasattr(value, "item") else repr(value)
