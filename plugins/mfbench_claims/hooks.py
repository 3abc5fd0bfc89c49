"""The hooks of this package: open a bundle as a run, and reuse its results."""

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
    """Return the run in a bundle; its folder is removed when the run is garbage-collected."""
    if path.suffix.lower() != ".zip" and not zipfile.is_zipfile(path):
        return None
    from mfbench_claims.reading import opened_bundles
    from mfbench_claims.verdicts import claimed_run

    with ExitStack() as stack:
        (bundle,) = stack.enter_context(opened_bundles([path]))
        run = claimed_run(bundle)
        # Restricted runs and functions returned by the run share this store, so keep it open as long as they do.
        weakref.finalize(run._stored, stack.pop_all().close)
    return run


@hookimpl
def mfbench_earlier_results(request: Request) -> Iterator[EarlierRun]:
    """Yield the bundles named in a request, open until the generator is closed."""
    from mfbench_claims.reading import opened_bundles

    with opened_bundles(request.reuse) as opened:
        yield from (bundle.results for bundle in opened)
