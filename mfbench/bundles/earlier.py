"""Bundles as a source of results that a run need not compute again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from mfbench.bundles.reading import opened_bundles
from mfbench.earlier import EarlierRun
from mfbench.host.hookspecs import hookimpl


class Reusing(Protocol):
    """A request that may name bundles."""

    @property
    def reuse(self) -> Sequence[Path]:
        """The files, none by default."""


@hookimpl
def mfbench_earlier_results(request: Reusing) -> Iterator[EarlierRun]:
    """Yield the bundles that a request names, which stay open until the generator is closed."""
    with opened_bundles(request.reuse) as opened:
        yield from (bundle.results for bundle in opened)
