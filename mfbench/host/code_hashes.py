"""Versions and hashes of the code that a result depends on, so that an edit makes stored results obsolete."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import sys
from functools import cache
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from mfbench.host import imports
from mfbench.host.registered import Plugin, Registered
from mfbench.host.registry import GROUP
from mfbench.models import DatasetSpec

HOST = "mfbench"
# The parts of the host that take part in computing a result; a change in a report leaves results valid.
HOST_PARTS = (
    "models.py",
    "trials.py",
    "host/collecting.py",
    "host/expressions.py",
    "host/factories.py",
    "host/names.py",
    "host/registered.py",
    "host/registry.py",
    "data/prepare.py",
    "data/rounds.py",
    "suite/plan.py",
    "suite/planned_dataset.py",
    "suite/methods.py",
    "suite/curves.py",
    "suite/tuning_grids.py",
    "suite/resolve.py",
    "suite/forms.py",
    "suite/protocols",
    "suite/seeds.py",
    "run/job.py",
    "run/surroundings.py",
    "run/trial",
    "run/worker.py",
)
NUMERIC = ("numpy", "scipy", "scikit-learn", "numba", "xgboost")
# Import names of the scientific stack and of what mfbench itself requires. These are large and change by release, so
# their version stands for their files.
BY_VERSION = frozenset(
    {
        "numpy", "scipy", "sklearn", "numba", "llvmlite", "xgboost", "pandas", "pyarrow", "joblib", "threadpoolctl",
        "matplotlib", "statsmodels", "networkx", "sympy", "torch", "tensorflow", "keras", "jax", "jaxlib", "lightgbm",
        "catboost", "cupy", "dask",
        "filelock", "openml", "pebble", "platformdirs", "pluggy", "psutil", "pydantic", "requests", "rich", "typer",
    }
)  # fmt: skip


def method_code(registered: Registered) -> dict[str, str]:
    """Return the code that an estimator's results depend on, as ``{what: version or hash}``.

    This is the version of the plugin's distribution, a hash of every Python file and compiled extension module of the
    plugin's packages (all top-level packages of its distribution that belong to no other plugin; for an editable
    installation all files of the project), the versions of the distribution's requirements and, if the estimator
    itself comes from another package such as scikit-learn, the version of that package. For a plugin outside of
    mfbench, it is also a hash of every other package that the estimator's module and the plugin's module import,
    directly or not, whatever the plugin declares; packages of the scientific stack (`BY_VERSION`) have their version
    instead. Nothing of the plugin is imported.

    Parameters
    ----------
    registered : Registered
        A selector, classifier or dataset with its plugin.

    Returns
    -------
    dict of str to str
    """
    plugin = registered.plugin
    code = {f"plugin {root}": package_hash(root) for root in _plugin_roots(plugin) if root not in BY_VERSION}
    if plugin.distribution:
        code[f"distribution {plugin.distribution}"] = plugin.version
        if plugin.distribution != HOST:  # what mfbench itself computes with is in `numeric_versions`
            code |= _requirements(plugin.distribution)
            project = _editable_project(plugin.distribution)
            if project is not None:
                code["project"] = _project_hash(project)
    root = _factory_module(registered).partition(".")[0]
    if root and f"plugin {root}" not in code:
        name, version = _distribution_of(root)
        code[f"package {name or root}"] = version or package_hash(root)
    if plugin.distribution != HOST:
        packages, stack = _reachable((_factory_module(registered), plugin.module.partition(":")[0]))
        code |= {f"import {name}": package_hash(name) for name in sorted(packages) if f"plugin {name}" not in code}
        versions = map(_distribution_of, sorted(stack))
        code |= {f"package {name}": version for name, version in versions if name and name not in NUMERIC}
    return code


def forget() -> None:
    """Clear the hashes computed so far, so that all files are read again."""
    for cached in (
        host_code,
        package_hash,
        _plugin_roots,
        _requirements,
        _editable_project,
        _project_hash,
        _reachable,
    ):
        cached.cache_clear()
    imports.forget()
    importlib.invalidate_caches()


@cache
def host_code() -> str:
    """Return a hash of the host's files that take part in computing a result."""
    folder = Path(__file__).parent.parent
    files: list[Path] = []
    for part in HOST_PARTS:
        path = folder / part
        files += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return _hash_files(folder, files)


@cache
def numeric_versions() -> dict[str, str]:
    """Return the versions of the libraries that every result depends on."""
    return {name: metadata.version(name) for name in NUMERIC}


@cache
def package_hash(root: str) -> str:
    """Return a hash of the Python files and compiled extension modules of a package or module, "" if it has none.

    Parameters
    ----------
    root : str
        Import name.
    """
    spec = imports.locate(root)
    if spec is None:
        return ""
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    if not folders:
        return _hash_files(Path(), [Path(spec.origin)]) if spec.origin and Path(spec.origin).is_file() else ""
    digest = hashlib.sha256()
    for folder in sorted(folders):
        digest.update(_hash_files(folder, _code_files(folder, links=True)).encode())
    return digest.hexdigest()[:16]


def _code_files(folder: Path, *, links: bool = False) -> list[Path]:
    """Return sources, then extension modules and compiled files without source; with `links`, linked folders too."""
    sources, compiled, visited = [], [], set[str]()
    for name, folders, files in os.walk(folder, followlinks=links):
        real = os.path.realpath(name)
        if real in visited:  # a link to a folder above it
            folders.clear()
            continue
        visited.add(real)
        paths = [Path(name, file) for file in files]
        sources += [path for path in paths if path.suffix == ".py"]
        compiled += [path for path in paths if path.name.endswith(tuple(EXTENSION_SUFFIXES))]
        if Path(name).name != "__pycache__":
            compiled += [path for path in paths if path.suffix == ".pyc"]
    return sorted(sources) + sorted(compiled)


def _hash_files(base: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        name = path.relative_to(base) if base != Path() else Path(path.name)
        digest.update(name.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _factory_module(registered: Registered) -> str:
    spec = registered.spec
    target = spec.loader if isinstance(spec, DatasetSpec) else spec.factory
    module = target if isinstance(target, str) else getattr(target, "__module__", "")
    return module.partition(":")[0]


@cache
def _reachable(modules: tuple[str, ...]) -> tuple[set[str], set[str]]:
    return imports.reachable(modules, {HOST, *BY_VERSION})


@cache
def _plugin_roots(plugin: Plugin) -> tuple[str, ...]:
    roots = {plugin.module.partition(":")[0].partition(".")[0]}
    if plugin.distribution and plugin.distribution != HOST:
        others = {e.value.partition(":")[0].partition(".")[0] for e in metadata.entry_points(group=GROUP)} - roots
        roots |= {root for root in _top_level(plugin.distribution) if root not in others}
    elif not plugin.distribution and plugin.declared is None:
        roots |= _local_helpers(plugin)
    return tuple(sorted(roots))


def _local_helpers(plugin: Plugin) -> set[str]:
    """Return the modules next to a plugin that is not an installed package: it may import any of them."""
    spec = None if "." in plugin.module else imports.locate(plugin.module.partition(":")[0])
    if spec is None or spec.origin is None:
        return set()
    return {path.stem for path in Path(spec.origin).parent.glob("*.py") if path.stem.isidentifier()}


def _top_level(distribution: str) -> set[str]:
    files = metadata.files(distribution) or []
    return {
        file.parts[0].removesuffix(".py")
        for file in files
        if file.suffix == ".py" and file.parts and not file.parts[0].startswith((".", "__editable__"))
    }


@cache
def _requirements(distribution: str) -> dict[str, str]:
    """Return the installed versions of a distribution's direct requirements, extras left out."""
    versions = {}
    for line in metadata.requires(distribution) or []:
        name = re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0]
        if name != HOST and "extra ==" not in line:
            with contextlib.suppress(metadata.PackageNotFoundError):  # not needed on this system
                versions[f"requirement {name}"] = metadata.version(name)
    return versions


@cache
def _editable_project(distribution: str) -> Path | None:
    """Return the folder of an editable installation, whose record lists no Python files."""
    text = metadata.distribution(distribution).read_text("direct_url.json")
    source = json.loads(text) if text else {}
    if not source.get("dir_info", {}).get("editable"):
        return None
    return Path(url2pathname(urlparse(source["url"]).path))


@cache
def _project_hash(folder: Path) -> str:
    inside = [path for path in _code_files(folder) if not _hidden(path.relative_to(folder))]
    return _hash_files(folder, inside)


def _hidden(path: Path) -> bool:
    """Tell whether a path in the project's folder is not part of the project: environments, caches, builds."""
    return any(
        part.startswith(".") or part in ("build", "dist", "node_modules", "site-packages") for part in path.parts
    )


def _packages() -> dict[str, list[str]]:
    """Return the distributions of each importable package, looked up again after an installation."""
    return _packages_in(tuple((folder, _changed(Path(folder))) for folder in sys.path))


@cache
def _packages_in(folders: tuple[tuple[str, int], ...]) -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())


def _changed(folder: Path) -> int:
    return folder.stat().st_mtime_ns if folder.exists() else 0


def _distribution_of(root: str) -> tuple[str, str]:
    names = _packages().get(root)
    return (names[0], metadata.version(names[0])) if names else ("", "")
