"""Seeds from named coordinates: a result depends neither on the order of trials nor on the number of workers."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def derive_seed(*coordinates: Any) -> int:
    """Return a 32-bit seed that is a function of the coordinates alone."""
    # The coordinates are hashed (BLAKE2b over their JSON text) and the digest is the entropy of a
    # `numpy.random.SeedSequence`, whose first word is the seed.
    return seed_of(json.dumps(coordinates))


def seed_of(text: str) -> int:
    """Return the seed of coordinates that are already written as JSON; see `derive_seed`."""
    import numpy as np

    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return int(np.random.SeedSequence(int.from_bytes(digest, "little")).generate_state(1)[0])
