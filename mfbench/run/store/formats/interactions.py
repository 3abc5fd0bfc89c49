"""The form in which weights of pairs are stored: compressed JSON."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

from mfbench.model.trials import Interactions


def interactions_to_plain(interactions: Interactions) -> dict[str, Any]:
    """Return plain lists and numbers, for JSON."""
    return {
        "pairs": interactions.pairs.tolist(),
        "values": interactions.values.tolist(),
        "ranks": interactions.ranks.tolist(),
        "p_values": None if interactions.p_values is None else interactions.p_values.tolist(),
        "norm": interactions.norm,
        "n_pairs": interactions.n_pairs,
    }


def interactions_from_plain(content: dict[str, Any]) -> Interactions:
    """Return the interactions that `interactions_to_plain` converted."""
    return Interactions(
        pairs=np.array(content["pairs"], dtype=np.int64).reshape(-1, 2),
        values=np.array(content["values"], dtype=np.float64),
        ranks=np.array(content["ranks"], dtype=np.int64),
        p_values=None if content["p_values"] is None else np.array(content["p_values"], dtype=np.float64),
        norm=content["norm"],
        n_pairs=content["n_pairs"],
    )


def pack_interactions(interactions: Interactions) -> bytes:
    """Return weights of pairs as compressed JSON."""
    return zlib.compress(json.dumps(interactions_to_plain(interactions)).encode())


def unpack_interactions(blob: bytes) -> Interactions:
    """Return the interactions that `pack_interactions` packed."""
    return interactions_from_plain(json.loads(zlib.decompress(blob)))
