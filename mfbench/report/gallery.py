"""The gallery: a page for every run of a folder, and an index that leads to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from mfbench.base.wording import counted
from mfbench.errors import MfbenchError, UsageError
from mfbench.host.registry import Registry, load_registry
from mfbench.report.files import write_text
from mfbench.report.heading import environment_of, setting_of
from mfbench.report.notebook import open_run
from mfbench.report.pages import FILE, answer_of, page_of
from mfbench.report.render.html.templates import asset, render
from mfbench.run.store.file import FILE_NAME
from mfbench.stats.results import Run

INDEX = "index.html"


def write_gallery(folder: Path, registry: Registry | None = None) -> Path:
    """Write the page of every run in a folder, and an index that leads to them."""
    from markupsafe import Markup

    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    stores = sorted(folder.rglob(FILE_NAME))
    if not stores:
        raise UsageError(f"{folder} holds no run (no {FILE_NAME} at any depth); 'mfbench suite NAME' creates one")
    registry = registry or load_registry()
    entries, problems = [], []
    for store in stores:
        try:
            entries.append(_entry(open_run(store.parent), folder, registry))
        except MfbenchError as error:
            problems.append(str(error))
    index, style = folder / INDEX, Markup(asset("style.css"))  # nosec B704  # made by this package
    write_text(index, render("gallery.html", entries=entries, problems=problems, style=style))
    if problems:
        raise MfbenchError(f"{counted(len(problems), 'run')} missing in {index}: {'; '.join(problems)}")
    return index


def _entry(run: Run, folder: Path, registry: Registry) -> dict[str, Any]:
    """Write the page of a run; return what the index shows of it, and the address of the page."""
    page = run.path / FILE
    write_text(page, page_of(run, registry))
    datasets, methods = run.outcomes["dataset"].nunique(), run.outcomes["method"].nunique()
    return {
        "title": run.meta.title,
        "setting": setting_of(run),
        "size": f"{counted(datasets, 'dataset')}, {counted(methods, 'method')}, {counted(len(run.outcomes), 'trial')}",
        "environment": environment_of(run),
        "answer": answer_of(run),
        "link": quote(page.relative_to(folder).as_posix()),
    }
