"""The runs of a paper: those that are stored, or made now."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import mfbench
from mfbench import Run, load_run
from mfbench.api import write_report
from mfbench.api.request import Request
from mfbench.errors import MfbenchError, UsageError
from mfbench.model.sections import Report
from mfbench.report.present import rendered
from mfbench_papers.paper import Paper, PaperRun


def request_of(part: PaperRun, scale: str, **options: Any) -> Request:
    """Return the request of a run of a paper at a scale, "quick" or "whole"."""
    own = getattr(part, scale).model_dump()
    return Request(part.suite, **own | {"only": tuple(own["only"])}, **options)


def stored_runs(paper: Paper, places: Sequence[Path], out: Path) -> dict[str, Run]:
    """Return the run of each suite of a paper: of the given ones, or else the largest under a folder of reports.

    A bundle counts as a run. Parts of runs, such as shards, do not.
    """
    chosen: dict[str, Run] = {}
    for path in places or _candidates(paper, out):
        try:
            run = load_run(path)
        except MfbenchError:
            if places:
                raise
            continue
        suite = run.meta.suite.suite.name
        is_own = any(suite == part.suite for part in paper.runs)
        if places and not is_own:
            raise UsageError(f"{path} is a run of {suite}, which this paper does not use")
        if is_own and run.meta.shard is None and (suite not in chosen or _size(run) > _size(chosen[suite])):
            chosen[suite] = run
    return chosen


def _candidates(paper: Paper, out: Path) -> list[Path]:
    folders = [path for part in paper.runs for path in sorted((out / part.suite).glob("*/")) if path.is_dir()]
    bundles = {path for part in paper.runs for path in out.glob(f"{part.suite}*/claim.zip")}
    return [*folders, *sorted(bundles)]


def _size(run: Run) -> int:
    return int((run.outcomes["status"] == "ok").sum())


def write_bundle(dossier: Report, runs: Mapping[str, Run], folder: Path) -> None:
    """Write a dossier as a page, LaTeX and JSON, and each of its runs as a bundle, into a folder."""
    if not hasattr(mfbench, "bundle_run"):
        raise UsageError("--bundle needs mfbench_claims, which is not installed")
    for form, name in (("html", "dossier.html"), ("latex", "dossier.tex"), ("json", "dossier.json")):
        write_report(folder / name, rendered(dossier, form))
    for suite, run in runs.items():
        target = folder / f"{suite}.zip"
        if run.bundle is None:
            mfbench.bundle_run(run, target)
        elif run.bundle.resolve() != target.resolve():
            shutil.copyfile(run.bundle, target)
