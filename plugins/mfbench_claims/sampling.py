"""A sample of trials, and what it shows about all of them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable

Place = tuple[str, str, int, int]
"""Dataset, method, repeat and fold of a trial."""
CONFIDENCE = 0.95
# At the edge, a probability of exactly 5 % may be computed a little below it.
_DOUBT = (1 - CONFIDENCE) * (1 - 1e-9)


def new_seed() -> int:
    """Return a seed that nobody can foresee, so that no author can know which trials will be looked at."""
    return secrets.randbits(32)


def sample_of(places: Iterable[Place], number: int | None, seed: int) -> list[Place]:
    """Return a simple random sample; a larger one with the same seed contains a smaller one."""
    ordered = sorted(places)
    if number is not None:
        ordered = sorted(sorted(ordered, key=lambda place: _draw(place, seed))[:number])
    return ordered


def _draw(place: Place, seed: int) -> bytes:
    return hashlib.sha256(repr((seed, *place)).encode()).digest()


def largest_share(population: int, sample: int, differing: int) -> float:
    """Return the largest share of differing trials that a sample is compatible with, at a confidence of 95 %."""
    # It is exact (hypergeometric): with a larger share, a sample with so few differing trials has a probability below 5
    # %.
    from scipy.stats import hypergeom

    if population == 0 or sample == 0:
        return 1.0
    # The probability falls with the number of differing trials, so that a search by halves reaches the largest.
    low, high = differing, population - (sample - differing)
    while low < high:
        middle = (low + high + 1) // 2
        if hypergeom.cdf(differing, population, middle, sample) > _DOUBT:
            low = middle
        else:
            high = middle - 1
    return low / population
