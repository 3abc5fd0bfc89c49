"""The hooks of this package: a bundle can be opened as a run, and its results need not be computed again."""

from __future__ import annotations

import weakref
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from mfbench.host.hookspecs import hookimpl

if TYPE_CHECKING:
    from mfbench.api.request import Request
    from mfbench.model.earlier import EarlierRun
    from mfbench.stats.results import Run


@hookimpl
def mfbench_open_run(path: Path) -> Run | None:
    """Return the run of a bundle; its folder is removed when the run is no longer used."""
    if path.suffix.lower() != ".zip" and not zipfile.is_zipfile(path):
        return None
    from mfbench_claims.reading import opened_bundles
    from mfbench_claims.verdicts import claimed_run

    with ExitStack() as stack:
        (bundle,) = stack.enter_context(opened_bundles([path]))
        run = claimed_run(bundle)
        # Runs of some of the datasets, and the functions that a run returns, read the same store.
        weakref.finalize(run._stored, stack.pop_all().close)
    return run


@hookimpl
def mfbench_earlier_results(request: Request) -> Iterator[EarlierRun]:
    """Yield the bundles that a request names, which stay open until the generator is closed."""
    from mfbench_claims.reading import opened_bundles

    with opened_bundles(request.reuse) as opened:
        yield from (bundle.results for bundle in opened)
