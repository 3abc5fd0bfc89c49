"""The form in which a trial's candidates are stored: a document that contains equal arrays once."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from mfbench.model.trials import Candidate
from mfbench.run.store.formats.documents import pack_document, plain, unpack_document
from mfbench.run.store.formats.interactions import interactions_from_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_TYPES = {"selected": "int64", "weights": "float64", "predictions": "int64"}


def pack_candidates(candidates: Sequence[Candidate]) -> bytes:
    """Return candidates as compressed bytes."""
    # Grid points that differ only in the classifier share the selector's weights, and often the selected features. So
    # each distinct array is written once and referred to by its number.
    arrays: dict[str, int] = {}
    points = [plain(candidate) for candidate in candidates]
    for point in points:
        for name in _TYPES:
            if point[name] is not None:
                point[name] = arrays.setdefault(json.dumps(point[name].tolist()), len(arrays))
    return pack_document({"points": points, "arrays": list(arrays)})


def unpack_candidates(blob: bytes) -> list[Candidate]:
    """Return the candidates that `pack_candidates` packed; those with equal arrays share one."""
    import numpy as np

    content = unpack_document(blob)

    @functools.cache
    def array(number: int, kind: str) -> NDArray[Any]:
        return np.array(json.loads(content["arrays"][number]), dtype=kind)

    for point in content["points"]:
        point |= {name: array(point[name], kind) for name, kind in _TYPES.items() if point[name] is not None}
        if point["interactions"] is not None:
            point["interactions"] = interactions_from_plain(point["interactions"])
    return [Candidate(**point) for point in content["points"]]
