"""The gallery: a page for every run of a folder, and an index that leads to them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class Entry:
    """A run in the gallery."""

    title: str
    setting: str
    size: str
    environment: str
    answer: list[str]
    link: str  # address of its page, relative to the index


def write_gallery(folder: Path, registry: Registry | None = None) -> Path:
    """Write the page of every run in a folder, and an index that leads to them."""
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
    index = folder / INDEX
    write_text(index, render("gallery.html", entries=entries, problems=problems, style=_style()))
    if problems:
        raise MfbenchError(f"{counted(len(problems), 'run')} missing in {index}: {'; '.join(problems)}")
    return index


def _entry(run: Run, folder: Path, registry: Registry) -> Entry:
    page = run.path / FILE
    write_text(page, page_of(run, registry))
    datasets, methods = run.outcomes["dataset"].nunique(), run.outcomes["method"].nunique()
    size = f"{counted(datasets, 'dataset')}, {counted(methods, 'method')}, {counted(len(run.outcomes), 'trial')}"
    link = quote(page.relative_to(folder).as_posix())
    return Entry(run.meta.title, setting_of(run), size, environment_of(run), answer_of(run), link)


def _style() -> object:
    from markupsafe import Markup

    return Markup(asset("style.css"))  # nosec B704  # made by this package
