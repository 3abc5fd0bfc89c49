"""The packages that a module imports, found by reading import statements: nothing is imported or executed.

`reachable` follows the statements from file to file, also those inside functions. In a file that imports by a text,
such as with ``importlib.import_module``, every text that is the name of a module counts as an import. A name that is
computed when the code runs cannot be seen.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path
from pkgutil import get_importer

# Functions that import what a text names.
_IMPORT_BY_TEXT = {"import_module", "__import__", "resolve_name", "run_module"}
_MODULE = re.compile(r"\.*[^\W\d]\w*(\.[^\W\d]\w*)*(:[\w.]+)?")


def reachable(modules: Iterable[str], boundary: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the packages that modules import, directly or through other modules, including their own."""
    packages: set[str] = set()
    touched: set[str] = set()
    waiting, visited = list(modules), set[str]()
    while waiting:
        name = waiting.pop()
        root = name.partition(".")[0]
        if name in visited or not root or root in sys.stdlib_module_names:
            continue
        visited.add(name)
        if root in boundary:
            touched.add(root)
            continue
        parent = name.rpartition(".")[0]
        if parent:
            waiting.append(parent)  # Python imports it first
        spec = locate(name)
        if spec is None:  # an attribute of a module, or an optional requirement that is not installed
            continue
        if spec.origin is not None:
            packages.add(_unit(name))
            package = name if spec.submodule_search_locations is not None else parent
            waiting += _imports(Path(spec.origin), package)
    return packages, touched


@cache
def locate(name: str) -> ModuleSpec | None:
    """Return the location of a module without importing its parents; None if there is no such module."""
    parent = name.rpartition(".")[0]
    if parent:
        above = locate(parent)
        if above is None or above.submodule_search_locations is None:
            return None
        return _locate_in(name, above.submodule_search_locations)
    try:
        return find_spec(name)
    except ValueError:  # a script or a notebook, whose __main__ has no spec
        file = getattr(sys.modules.get(name), "__file__", None)
        return ModuleSpec(name, None, origin=file) if file else None


def _locate_in(name: str, folders: Iterable[str]) -> ModuleSpec | None:
    # PathFinder would look up the parent of a namespace package in sys.modules, where it is only if it was imported.
    portions: list[str] = []
    for folder in folders:
        finder = get_importer(folder)
        spec = None if finder is None else finder.find_spec(name)
        if spec is not None and spec.loader is not None:
            return spec
        if spec is not None:
            portions += spec.submodule_search_locations or ()
    if not portions:
        return None
    namespace = ModuleSpec(name, None, is_package=True)
    namespace.submodule_search_locations = portions
    return namespace


def forget() -> None:
    """Clear what has been read so far, so that all files are read again."""
    locate.cache_clear()


def _unit(name: str) -> str:
    """Return the outermost package or module of a name that is not a mere namespace."""
    parts = name.split(".")
    for length in range(1, len(parts)):
        above = locate(".".join(parts[:length]))
        if above is not None and above.origin is not None:
            return ".".join(parts[:length])
    return name


def _imports(file: Path, package: str) -> tuple[str, ...]:
    """Return the names that a file imports; some may be attributes of modules instead of modules."""
    if file.suffix != ".py":
        return ()
    try:
        state = file.stat()
    except OSError:
        return ()
    return _parsed(file, package, state.st_mtime_ns, state.st_size)


@cache
def _parsed(file: Path, package: str, modified: int, size: int) -> tuple[str, ...]:
    """Return the names that a file imports; a large package is parsed once per process unless its files change."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # Python cannot import this file either
        return ()
    names = {name for node in ast.walk(tree) for name in _names(node, package)} | set(names_in_texts(tree, package))
    # __main__ depends on how the process was started.
    return tuple(sorted(name for name in names if name.partition(".")[0] != "__main__"))


def _names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        origin = resolved("." * node.level + (node.module or ""), package)
        yield origin
        yield from (f"{origin}.{alias.name}" for alias in node.names if origin)


def names_in_texts(tree: ast.AST, package: str) -> Iterator[str]:
    """Return all texts that may be names of modules, if the file imports anything by a text."""
    nodes = list(ast.walk(tree))
    words = {word for node in nodes for word in _words(node)}
    if not words & _IMPORT_BY_TEXT:
        return
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    names = {text.partition(":")[0] for text in texts if _MODULE.fullmatch(text)}
    packages = [package, *(name for name in names if not name.startswith("."))]
    for name in names:
        yield from {resolved(name, origin) for origin in packages} if name.startswith(".") else [name]


def _words(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names]
    return [node.id] if isinstance(node, ast.Name) else [node.attr] if isinstance(node, ast.Attribute) else []


def resolved(name: str, package: str) -> str:
    """Return an import's absolute name; "" if it leads out of the top-level package."""
    try:
        return resolve_name(name, package)
    except ImportError:
        return ""
