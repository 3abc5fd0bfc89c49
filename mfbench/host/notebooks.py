"""Classes and functions of a notebook's cell or of the main script, saved as modules that worker processes import."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import linecache
import os
import symtable
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import platformdirs

from mfbench.base.whole_files import write_whole
from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.host.spec_checks import shown

MAIN = "__main__"
PREFIX = "mfbench_notebook_"
REMEDY = "move it to a module, such as my_methods.py, import it from there, and add it again"


def make_importable() -> None:
    """Let this process, and those that it starts, import what has been saved."""
    folder = str(_folder())
    if folder not in sys.path:
        sys.path.append(folder)


def saved(name: str, place_of: Callable[[Any], str]) -> str:
    """Save a class or function of the main module with all that it uses; return the place to import it from."""
    # The name of the module is a hash of its text, so that an equal definition has the same place in every session.
    pieces: dict[str, str] = {}
    _collect(name.partition(".")[0], place_of, pieces)
    text = "\n\n".join(["from __future__ import annotations", *pieces.values()]) + "\n"
    module = f"{PREFIX}{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    path = _folder() / f"{module}.py"
    if not path.exists():
        with explained(MfbenchError, lambda reason: f"cannot save {name!r} to {path}: {reason}", OSError):
            write_whole(path, text.encode())
    make_importable()
    importlib.invalidate_caches()
    return f"{module}:{name}"


def _folder() -> Path:
    cache = os.environ.get("MFBENCH_CACHE") or platformdirs.user_cache_dir("mfbench", appauthor=False)
    return Path(cache).absolute() / "notebooks"


def _collect(name: str, place_of: Callable[[Any], str], pieces: dict[str, str]) -> None:
    """Add the definition of a name after those of the names that it uses."""
    main = vars(sys.modules[MAIN])
    text = _definition(main.get(name), name)
    pieces[name] = ""  # a definition may use itself, or one that uses it
    for used in sorted(_globals(symtable.symtable(text, MAIN, "exec"))):
        if used in main and used not in pieces:
            value = main[used]
            if getattr(value, "__module__", None) == MAIN and (isinstance(value, type) or inspect.isroutine(value)):
                _collect(used, place_of, pieces)
            else:
                pieces[used] = _statement(used, value, name, place_of)
    del pieces[name]
    pieces[name] = text


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    yield from (symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced())
    for child in table.get_children():
        yield from _globals(child)


def _statement(name: str, value: Any, user: str, place_of: Callable[[Any], str]) -> str:
    """Return the statement that gives a name of a notebook its value."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if isinstance(value, type) or inspect.isroutine(value):
        module, _, attribute = place_of(value).partition(":")
        outer, *inner = attribute.split(".")
        return f"from {module} import {outer} as {name}" + "".join(f"\n{name} = {name}.{part}" for part in inner)
    try:
        if ast.literal_eval(repr(value)) == value:
            return f"{name} = {value!r}"
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    raise UsageError(
        f"cannot add {user!r}: it uses {name!r} of the notebook or main script, which is {shown(value)}: only "
        f"definitions, modules and literals can be taken along; make it a parameter, or {REMEDY}"
    )


def _definition(value: Any, name: str) -> str:
    """Return the definition of a class or function without comments and annotations."""
    for code in _codes(value):
        source = "".join(linecache.getlines(code.co_filename))
        try:
            nodes = list(ast.walk(ast.parse(source)))
        except SyntaxError:
            continue
        for node in nodes:
            if (
                isinstance(node, ast.ClassDef | ast.FunctionDef)
                and node.name == name
                and node.lineno - len(node.decorator_list) <= code.co_firstlineno <= (node.end_lineno or node.lineno)
            ):
                return ast.unparse(_Bare().visit(node))
    raise UsageError(
        f"cannot add {name!r}: it is defined in a notebook cell or in the main script, which worker processes do not "
        f"import, and its source is not known; {REMEDY}"
    )


def _codes(value: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or that of the methods of a class."""
    for member in vars(value).values() if isinstance(value, type) else [value]:
        function = inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", None) or member))
        if inspect.isfunction(function) and function.__module__ == MAIN:
            yield function.__code__


class _Bare(ast.NodeTransformer):
    """Removes the annotations of functions, which may name anything of a notebook."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        self.generic_visit(node)
        return node
