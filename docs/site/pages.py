"""The made pages of the site: estimators, references, ``import mfbench``, the published reports, the sections."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import listings

import mfbench
from mfbench.host import features
from mfbench.host.expressions import Registered
from mfbench.host.registry import STEPS, Registry, load_registry

ROOT = Path(__file__).resolve().parents[2]
Estimator = tuple[str, str]  # plugin and factory
PAGE, BOARD = "page.html", "board.html"
USE = (
    "suites", "columns", "data", "datasets", "results", "claims", "select", "audit", "leakage", "scale", "gate",
    "security", "cli", "checks",
)  # fmt: skip
PROJECT = ("docs/citation", "CHANGELOG", "CONTRIBUTING", "docs/architecture")


@cache
def estimators() -> dict[Estimator, list[tuple[str, Registered]]]:
    """Return the built-in estimators: {(plugin, factory): [(kind, what is registered), …]}."""
    registry = load_registry(strict=True)
    table = defaultdict(list)
    for kind in STEPS:
        for _, entry in sorted(registry.listed(kind).items()):
            if entry.plugin.distribution == "mfbench":
                table[entry.plugin.name, entry.spec.factory].append((kind, entry))
    return dict(sorted(table.items(), key=lambda item: (item[0][0], class_of(item[0]).lower())))


def class_of(estimator: Estimator) -> str:
    """Return the name of an estimator's class."""
    return estimator[1].partition(":")[2]


def name_of_page(estimator: Estimator) -> str:
    """Return the page of an estimator, without its ending."""
    return f"methods/{estimator[0]}/{class_of(estimator)}"


@cache
def published() -> dict[str, dict[str, Any]]:
    """Return the entries of the list of published reports, by folder."""
    with (ROOT / "reports" / "published.toml").open("rb") as file:
        return {entry["folder"]: entry for entry in tomllib.load(file)["report"]}


def report_files() -> dict[str, list[Path]]:
    """Return the files of the published reports by folder, in the order of the list; no runs are among them.

    Raises
    ------
    FileNotFoundError
        If a report of the list has not been made.
    """
    folders: dict[str, list[Path]] = {folder: [] for folder in published()}
    for path in sorted((ROOT / "reports").glob("*/*")):
        if path.suffix in (".md", ".svg", ".png"):
            folders.setdefault(path.parent.name, []).append(path)
    if missing := [folder for folder, files in folders.items() if not _texts(files)]:
        raise FileNotFoundError(f"reports/{missing[0]} has no report.md: run .ci/publish {missing[0]}")
    return folders


def claims() -> dict[str, Path]:
    """Return the bundles in git by the folder of their report; the site makes a page of each."""
    return {path.parent.name: path for path in sorted((ROOT / "reports").glob("*/claim.zip"))}


def contents(names: Iterable[str], *, title: str = "", hidden: bool = True) -> str:
    """Return a table of contents for Sphinx.

    Parameters
    ----------
    names : iterable of str
        Pages, as ``path`` or ``title <path>``, from the root of the site.
    title : str, default=""
        Caption in the navigation.
    hidden : bool, default=True
        Whether it is in the navigation only.

    Returns
    -------
    str
        A directive of MyST.
    """
    options = [":hidden:"] if hidden else [":maxdepth: 1"]
    options += [f":caption: {title}"] if title else []
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def made_pages() -> dict[str, str]:
    """Return every page that is made: {path: text}."""
    pages = {
        "docs/use.md": section("Guide", ["docs/gallery/index", *(f"docs/{name}" for name in USE)]),
        "docs/project.md": section("Project", PROJECT),
        "docs/python.rst": python_page(),
        "docs/cli.md": listings.command_line(),
        "docs/checks.md": listings.checks(built_in()),
        "docs/columns.md": listings.columns(built_in()),
        "docs/datasets.md": listings.datasets(built_in()),
        "reports/README.md": gallery(),
    }
    return pages | {f"{name_of_page(key)}.rst": estimator_page(key) for key in estimators()}


def additions() -> dict[str, str]:
    """Return what the site adds to a document: {path: text}."""
    plugins: dict[str, list[str]] = defaultdict(list)
    for key in estimators():
        plugins[key[0]].append(f"{class_of(key)} </{name_of_page(key)}>")
    top = ("guide", "use", "plugins", "methods", "python", "statistics", "reproduction")
    titles = ("Get started", "Guide", "Plugins", "Methods", "Python", "Statistics", "Reproduction")
    entries = [f"{title} </docs/{name}>" for name, title in zip(top, titles, strict=True)]
    reports = {
        f"reports/{folder}/{_texts(files)[0].name}": _texts(files)[1:] for folder, files in report_files().items()
    }
    children = {
        name: contents(f"{_words(path)} <{path.stem}>" for path in rest) for name, rest in reports.items() if rest
    }
    return children | {
        "README.md": contents([*entries, "Reports </reports/README>", "Project </docs/project>"]),
        "docs/methods.md": tables_of_methods()
        + "".join(contents(names, title=plugin) for plugin, names in plugins.items()),
    }


@cache
def built_in() -> Registry:
    """Return the registry of the built-in plugins alone."""
    return listings.built_in_registry()


def tables_of_methods() -> str:
    """Return the tables of metrics, and of methods with links to the pages of their classes."""
    pages = {
        (kind, entry.spec.name): f"../{name_of_page(key)}.rst"
        for key, entries in estimators().items()
        for kind, entry in entries
    }
    selectors, classifiers, regressors = map(built_in().listed, STEPS)
    others = set(selectors) | set(classifiers)
    tables = (
        ("Selectors", "selector", selectors, frozenset(selectors)),
        ("Classifiers", "classifier", classifiers, frozenset(set(classifiers) - set(selectors))),
        ("Regressors", "regressor", regressors, frozenset(set(regressors) - others)),
    )
    return (
        "".join(
            f"\n## {title}\n\n" + listings.methods(entries, lambda name, kind=kind: pages[kind, name], anchors=anchors)
            for title, kind, entries, anchors in tables
        )
        + f"\n## Metrics\n\n{listings.metrics(built_in())}"
    )


def section(title: str, names: Iterable[str]) -> str:
    """Return the page of a section: what is in it."""
    return f"# {title}\n" + contents([f"/{name}" for name in names], hidden=False)


def estimator_page(key: Estimator) -> str:
    """Return the page of an estimator: its names in suites, its papers and its docstring.

    Parameters
    ----------
    key : (str, str)
        A key of `estimators`.

    Returns
    -------
    str
        reStructuredText, as docstrings are.
    """
    module, _, name = key[1].partition(":")
    lines = [name, "=" * len(name), ""]
    for spec, kinds in _by_spec(estimators()[key]):
        grid = {parameter: list(values) for parameter, values in spec.grid.items()}
        rows = {
            "In a suite": f"`{spec.name} <../../docs/methods.html#{spec.name}>`__",
            "Registered as": " and ".join(kinds),
        }
        rows |= {"What it is": _plain(spec.summary), "Defaults there": _values(spec.defaults)}
        rows |= {"Default grid": _values(grid), "Paper": _plain(spec.paper), "Tags": ", ".join(spec.tags)}
        lines += [".. list-table::", "   :stub-columns: 1", "   :widths: auto", ""]
        for title, text in rows.items():
            lines += [f"   * - {title}", f"     - {text}"] if text else []
        lines += [""]
    return "\n".join([*lines, *(_own(module, name) if module.startswith("mfbench_") else _elsewhere(module, name)), ""])


def _by_spec(entries: list[tuple[str, Registered]]) -> Iterator[tuple[Any, list[str]]]:
    """Yield a spec for each name, with all kinds that are registered alike."""
    rows: dict[str, tuple[Any, list[str]]] = {}
    for kind, entry in entries:
        spec = entry.spec
        rows.setdefault(repr((spec.name, spec.summary, spec.defaults, spec.grid, spec.tags)), (spec, []))[1].append(
            kind
        )
    yield from rows.values()


def _plain(text: str) -> str:
    """Return a text in which nothing is markup, not even "R." at its begin, which would number a list."""
    return "\\ " + re.sub(r"([*`|_\\])", r"\\\1", text) if text else ""


def _values(values: dict[str, Any]) -> str:
    return ", ".join(f"``{name}={value!r}``" for name, value in values.items())


def _own(module: str, name: str) -> list[str]:
    """Return the directive that shows the docstring, under the shortest path by which the class can be imported."""
    package = module.partition(".")[0]
    same = getattr(import_module(package), name, None) is getattr(import_module(module), name)
    return [f".. autoclass:: {package if same else module}.{name}", "   :members:", "   :inherited-members:"]


def _elsewhere(module: str, name: str) -> list[str]:
    """Return what the page says about a class of another package: its parameters, and where it is documented."""
    package = module.partition(".")[0]
    url = f"https://scikit-learn.org/stable/modules/generated/{module}.{name}.html"
    where = f"scikit-learn, which `documents it <{url}>`__" if package == "sklearn" else package
    parameters = inspect.signature(getattr(import_module(module), name)).parameters.values()
    code = [f"   {module}.{name}(", *(f"       {parameter}," for parameter in parameters), "   )"]
    return [
        ".. code-block:: python",
        "",
        *code,
        "",
        f"This is a class of {where}.",
    ]


def python_page() -> str:
    """Return the page of ``import mfbench``."""
    added = [name for name, entry in features.entries(features.NAMES)[0].items() if entry.distribution == features.HOST]
    values = {name: getattr(mfbench, name) for name in sorted([*mfbench.__all__, *added]) if not name.startswith("_")}
    classes = [name for name, value in values.items() if inspect.isclass(value)]
    lines = ["Python", "======", "", "What ``import mfbench`` offers.", "", ".. currentmodule:: mfbench", ""]
    for title, names in (("Functions", [name for name in values if name not in classes]), ("Classes", classes)):
        lines += [title, "-" * len(title), ""]
        for name in names:
            kind = "autoclass" if name in classes else "autofunction" if inspect.isroutine(values[name]) else "autodata"
            lines += [f".. {kind}:: {name}", *(["   :members:"] if name in classes else []), ""]
    return "\n".join(lines)


def gallery() -> str:
    """Return the index of the published reports, each with its picture."""
    board = f'<a href="{BOARD}">Leaderboards of the bundles</a>, with what was verified of each method'
    lines, tree = ["# Published reports", "", f"{board}.", ""], []
    for folder, files in report_files().items():
        first, *rest = _texts(files)
        title = published().get(folder, {}).get("title", _title(first))
        tree += [f"{title} <{folder}/{first.stem}>"]
        lines += [f"## [{title}]({folder}/{first.name})", ""]
        for path in rest or [first]:
            lines += [f"- [{_run(path)}]({folder}/{path.name}): {_protocol(path)}"]
        entry = published().get(folder, {})
        if folder in claims():
            link = f'<a href="{folder}/{PAGE}">The page</a>'
            smaller = "" if entry.get("bundle") == entry.get("suite") else " of a smaller run"
            lines += [f"- {link}{smaller}: tables to sort and filter, the folds behind each cell, every chart"]
        shown = re.findall(
            r"^!\[.*\]\(([^()]+)\)$", first.with_name("report.md").read_text(encoding="utf-8"), re.MULTILINE
        )
        pictures = entry.get("pictures", shown)[:1]
        lines += ["", *(f"![{_words(Path(picture))}]({folder}/{picture})" for picture in pictures), ""]
    lines += ["## Bundles in the checkout", "", listings.bundles()]
    return "\n".join(lines) + contents(tree)


def _texts(files: list[Path]) -> list[Path]:
    """Return the documents of a report, the one that introduces the others first."""
    return sorted((path for path in files if path.suffix == ".md"), key=lambda path: path.stem != "README")


def _title(path: Path) -> str:
    match = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else _words(path)


def _run(path: Path) -> str:
    """Return the suite, profile and part of a report, by its command, and its name where that says more."""
    command = r"^ +mfbench suite (\S+) --profile (\S+)(?: --part (\S+))?"
    match = re.search(command, path.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        return _words(path)
    part = f", part {match[3]}" if match[3] else ""
    more = "" if path.stem in f"report {match[1]} {match[2]}" else f": {_words(path)}"
    return f"suite {match[1]}, profile {match[2]}{part}{more}"


def _protocol(path: Path) -> str:
    """Return the protocol of a report: the first sentence below its command, without the profile."""
    match = re.search(r"^Profile .+?: (.+?)\.? mfbench ", path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


def _words(path: Path) -> str:
    return path.stem.replace("-", " ")
