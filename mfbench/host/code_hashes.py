"""Versions and hashes of the code that a result depends on: changing that code invalidates stored results."""

import contextlib
import hashlib
import importlib
import json
import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from mfbench.host import meaning
from mfbench.host.expressions import Plugin, Registered, identity
from mfbench.host.registry import GROUP

HOST = "mfbench"
# The host modules that take part in computing a result, by names that stay fixed when files move; a change to a report
# leaves results valid.
HOST_PARTS = {
    "specs": "model/specs.py",
    "evaluation": "model/evaluation.py",
    "trials": "model/trials.py",
    "expressions": "host/expressions.py",
    "factories": "host/factories.py",
    "registry": "host/registry.py",
    "prepare": "data/prepare.py",
    "rounds": "data/rounds.py",
    "plan": "suite/plan.py",
    "methods": "suite/methods.py",
    "resolve": "suite/resolve.py",
    "search": "suite/search.py",
    "splitters": "suite/splitters.py",
    "protocols": "suite/protocols.py",
    "job": "run/workers/job.py",
    "global state": "run/workers/global_state.py",
    "trial": "run/trial",
    "worker": "run/workers/worker.py",
}
NUMERIC = ("numpy", "scipy", "scikit-learn", "numba", "xgboost")
# Import names of the scientific stack and of mfbench's own requirements. These packages are large and change only with
# a release, so they are identified by version rather than by a hash of their files.
BY_VERSION = frozenset({
    "numpy", "scipy", "sklearn", "numba", "llvmlite", "xgboost", "pandas", "pyarrow", "joblib", "threadpoolctl",
    "matplotlib", "statsmodels", "networkx", "sympy", "torch", "tensorflow", "keras", "jax", "jaxlib", "lightgbm",
    "catboost", "cupy", "dask",
    "filelock", "openml", "pebble", "platformdirs", "pluggy", "psutil", "pydantic", "requests", "rich", "typer",
})  # fmt: skip


# Code that reads the weights of selectors named by import path; keys of other methods do not depend on it.
ADAPTER_PARTS = {"adapter": "host/adapter.py"}


def method_code(registered: Registered) -> dict[str, str]:
    """Return the code that an estimator's results depend on, as ``{name: version or hash}``."""
    # For a built-in method this is a hash of the meaning (see `mfbench.host.meaning`) of the module that defines the
    # estimator and of everything it imports, including compiled extensions of those packages and data files whose
    # suffix the code mentions. If the estimator comes from another package, for instance scikit-learn, it is the
    # version of that package.
    #
    # For any other plugin it is the version of its distribution, a hash of the files of the plugin's packages (all
    # top-level packages of the distribution that belong to no other plugin; for an editable installation, all code of
    # the project), the versions of the distribution's requirements, and a hash of every other package that the
    # estimator's module and the plugin's module import, directly or indirectly, declared or not. Packages of the
    # scientific stack (`BY_VERSION`) are identified by version. Nothing of the plugin is imported.
    plugin = registered.plugin
    is_adapted = plugin.declared is not None and plugin.declared.kind == "selector"
    adapter = {"adapter": adapter_code()} if is_adapted else {}
    module = _factory(registered)[0]
    root = module.partition(".")[0]
    if plugin.distribution == HOST and _is_built_in(root):
        return {f"code {registered.spec.name}": _closure_hash(module)} | adapter
    if plugin.distribution == HOST:
        return _foreign_package(root) | adapter
    code = {f"plugin {root}": package_hash(root) for root in _plugin_roots(plugin) if root not in BY_VERSION}
    if plugin.distribution:
        code[f"distribution {plugin.distribution}"] = plugin.version
        code |= _requirements(plugin.distribution)
        project = _editable_project(plugin.distribution)
        if project is not None:
            code["project"] = _project_hash(project)
    if f"plugin {root}" not in code:
        code |= _foreign_package(root)
    packages, stack = _reachable((module, plugin.module.partition(":")[0]))
    code |= {f"import {name}": package_hash(name) for name in sorted(packages) if f"plugin {name}" not in code}
    versions = map(_distribution_of, sorted(stack))
    return code | adapter | {f"package {n}": version for n, version in versions if n and n not in NUMERIC}


def factory_name(registered: Registered) -> str:
    """Return the name of a spec's factory or loader; for a built-in one without its module, which may move."""
    target = registered.target
    if not isinstance(target, str):
        return identity(target)
    module, attribute = _factory(registered)
    is_own = registered.plugin.distribution == HOST and _is_built_in(module.partition(".")[0])
    return attribute if is_own else str(target)


def _foreign_package(root: str) -> dict[str, str]:
    if not root:
        return {}
    name, version = _distribution_of(root)
    return {f"package {name or root}": version or package_hash(root)}


@cache
def _is_built_in(root: str) -> bool:
    """Return whether a top-level package belongs to mfbench's distribution, possibly an editable installation."""
    return root not in ("", HOST) and root not in sys.stdlib_module_names and _distribution_of(root)[0] in ("", HOST)


@cache
def _closure_hash(module: str) -> str:
    digest = hashlib.sha256()
    folders, texts = set[Path](), set[str]()
    for name, content in meaning.closure(module, _is_built_in):
        digest.update(content + b"\0")
        spec = meaning.locate(name.partition(".")[0])
        folders |= {Path(folder) for folder in (spec and spec.submodule_search_locations) or ()}
        texts |= meaning.code_of(name).texts
    for folder in sorted(folders):
        extensions = [path for path in _code_files(folder) if path.suffix not in (".py", ".pyc")]
        digest.update(_hash_files(folder, extensions + _data_files(folder, "\n".join(texts))).encode())
    return digest.hexdigest()[:16]


def forget() -> None:
    """Clear the cached hashes, so that all files are read again."""
    for function in globals().values():
        if hasattr(function, "cache_clear") and function is not _packages:  # which notices changes by itself
            function.cache_clear()
    meaning.locate.cache_clear()
    importlib.invalidate_caches()


@cache
def host_code() -> str:
    """Return a hash of the meaning of the host modules that take part in computing a result."""
    return _parts_hash(HOST_PARTS)


@cache
def adapter_code() -> str:
    """Return a hash of the meaning of the code that reads the weights of selectors named by import path."""
    return _parts_hash(ADAPTER_PARTS)


def _parts_hash(parts: Mapping[str, str]) -> str:
    folder = Path(__file__).parent.parent
    # The fixed name of each file, by its path without suffix.
    names = {}
    for name, part in parts.items():
        path = folder / part
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            inner = f"{name}/{file.relative_to(path).with_suffix('').as_posix()}" if path.is_dir() else name
            names[file.relative_to(folder).with_suffix("").as_posix()] = inner

    def described(binding: meaning.Binding) -> str:
        module, attribute = meaning.definition(binding.module, binding.attribute, lambda root: root == HOST)
        if module.partition(".")[0] != HOST:
            return f"{binding.local}={module}:{attribute}"
        part = names.get(module.partition(".")[2].replace(".", "/"), "" if attribute else module.rpartition(".")[2])
        return f"{binding.local}={HOST} {part}:{attribute}"

    digest = hashlib.sha256()
    for place, name in sorted(names.items(), key=lambda item: item[1]):
        package = ".".join((HOST, *Path(place).parts[:-1]))
        pieces = meaning.code_in(folder / f"{place}.py", package).pieces
        digest.update(name.encode() + b"\0" + meaning.written(pieces, described) + b"\0")
    return digest.hexdigest()[:16]


@cache
def numeric_versions() -> dict[str, str]:
    """Return the versions of the libraries that every result depends on."""
    return {name: metadata.version(name) for name in NUMERIC}


@cache
def package_hash(root: str) -> str:
    """Return a hash of the files that define a package's or module's behaviour; "" if there are none."""
    # These are Python files, compiled extension modules, and data files whose suffix occurs in the Python files.
    spec = meaning.locate(root)
    if spec is None:
        return ""
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    if not folders:
        file = Path(spec.origin or "")
        return _hash_files(file.parent, [file]) if file.is_file() else ""
    digest = hashlib.sha256()
    for folder in sorted(folders):
        files = _code_files(folder, links=True)
        sources = b"\n".join(path.read_bytes() for path in files if path.suffix == ".py")
        files += _data_files(folder, sources.decode("utf-8", "replace"))
        digest.update(_hash_files(folder, files).encode())
    return digest.hexdigest()[:16]


def _code_files(folder: Path, *, links: bool = False) -> list[Path]:
    """Return sources, extension modules and compiled files without source; with `links`, follow linked folders."""
    sources, compiled, visited = [], [], set[str]()
    for name, folders, files in os.walk(folder, followlinks=links):
        real = os.path.realpath(name)
        if real in visited:  # a link to a parent folder
            folders.clear()
            continue
        visited.add(real)
        paths = [Path(name, file) for file in files]
        sources += [path for path in paths if path.suffix == ".py"]
        compiled += [path for path in paths if path.name.endswith(tuple(EXTENSION_SUFFIXES))]
        if Path(name).name != "__pycache__":
            compiled += [path for path in paths if path.suffix == ".pyc"]
    return sorted(sources) + sorted(compiled)


def _data_files(folder: Path, text: str) -> list[Path]:
    """Return the non-code files of a package whose suffix (or name, without a suffix) occurs in its code."""
    paths = [path for path in folder.rglob("*") if path.parent.name != "__pycache__" and path.is_file()]
    others = [path for path in paths if not path.name.endswith((".py", ".pyc", *EXTENSION_SUFFIXES))]
    occurring = {word for word in {path.suffix or path.name for path in others} if word in text}
    return sorted(path for path in others if (path.suffix or path.name) in occurring)


def _hash_files(base: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(base).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _factory(registered: Registered) -> tuple[str, str]:
    """Return the module that defines a spec's factory or loader, and its name in that module."""
    target = registered.target
    if not isinstance(target, str):
        return registered.module, getattr(target, "__qualname__", "")
    module, _, attribute = target.partition(":")
    follows = _is_built_in if registered.plugin.distribution == HOST else lambda root: False
    home, name = meaning.definition(module, attribute, follows)
    return (home, name) if name else (module, attribute)


@cache
def _reachable(modules: tuple[str, ...]) -> tuple[set[str], set[str]]:
    return meaning.reachable(modules, {HOST, *BY_VERSION})


@cache
def _plugin_roots(plugin: Plugin) -> tuple[str, ...]:
    roots = {plugin.module.partition(":")[0].partition(".")[0]}
    if plugin.distribution:
        others = {e.value.partition(":")[0].partition(".")[0] for e in metadata.entry_points(group=GROUP)} - roots
        roots |= {root for root in _top_level(plugin.distribution) if root not in others}
    elif plugin.declared is None:
        roots |= _local_helpers(plugin)
    return tuple(sorted(roots))


def _local_helpers(plugin: Plugin) -> set[str]:
    """Return the modules in the folder of a plugin that is not an installed package: it may import any of them."""
    spec = None if "." in plugin.module else meaning.locate(plugin.module.partition(":")[0])
    if spec is None or spec.origin is None:
        return set()
    return {path.stem for path in Path(spec.origin).parent.glob("*.py") if path.stem.isidentifier()}


def _top_level(distribution: str) -> set[str]:
    names = [file.parts[0] for file in metadata.files(distribution) or [] if file.suffix == ".py"]
    return {name.removesuffix(".py") for name in names if not name.startswith((".", "__editable__"))}


@cache
def _requirements(distribution: str) -> dict[str, str]:
    """Return the installed versions of a distribution's direct requirements, without extras."""
    versions = {}
    for line in metadata.requires(distribution) or []:
        name = re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0]
        if name != HOST and "extra ==" not in line:
            with contextlib.suppress(metadata.PackageNotFoundError):  # not required on this system
                versions[f"requirement {name}"] = metadata.version(name)
    return versions


@cache
def _editable_project(distribution: str) -> Path | None:
    """Return the project folder of an editable installation, whose record lists no Python files."""
    text = metadata.distribution(distribution).read_text("direct_url.json")
    source = json.loads(text) if text else {}
    is_editable = source.get("dir_info", {}).get("editable")
    return Path(url2pathname(urlparse(source["url"]).path)) if is_editable else None


@cache
def _project_hash(folder: Path) -> str:
    # Hidden folders and these hold environments, caches and builds.
    others = {"build", "dist", "node_modules", "site-packages"}
    files = [(path, path.relative_to(folder).parts) for path in _code_files(folder)]
    inside = [path for path, parts in files if not others & {*parts} and not any(p.startswith(".") for p in parts)]
    return _hash_files(folder, inside)


@cache
def _packages(folders: tuple[tuple[str, int], ...]) -> dict[str, list[str]]:
    """Return the distributions of each importable package; the folders of the path make a change visible."""
    return dict(metadata.packages_distributions())


def _distribution_of(root: str) -> tuple[str, str]:
    folders = [Path(folder) for folder in sys.path if Path(folder).exists()]
    names = _packages(tuple((str(folder), folder.stat().st_mtime_ns) for folder in folders)).get(root)
    return (names[0], metadata.version(names[0])) if names else ("", "")
