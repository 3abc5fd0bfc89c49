"""The form in which weights of pairs are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from mfbench.model.trials import Interactions
from mfbench.run.store.formats.documents import unpack_document

_TYPES = {"pairs": np.int64, "values": np.float64, "ranks": np.int64, "p_values": np.float64}


def interactions_from_plain(content: dict[str, Any]) -> Interactions:
    """Return the interactions with these fields, as JSON knows them."""
    arrays = {name: np.array(content[name], kind) for name, kind in _TYPES.items() if content[name] is not None}
    return Interactions(**{**content, **arrays, "pairs": arrays["pairs"].reshape(-1, 2)})


def unpack_interactions(blob: bytes) -> Interactions:
    """Return the interactions that `pack_document` packed."""
    return interactions_from_plain(unpack_document(blob))
