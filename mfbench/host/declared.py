"""Classes that the user names by import path, as in ``my_module:MyClass``: each becomes a plugin with one spec.

They are therefore checked, isolated and hashed like registered ones, and imported only in child processes.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import inspect
import linecache
import os
import symtable
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import platformdirs

from mfbench.base.files import write_whole
from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.host import meaning
from mfbench.host.expressions import Declaration, Expression, Plugin, Registered, is_reference
from mfbench.host.hookspecs import PROJECT
from mfbench.host.probes import shown

MAIN = "__main__"
PREFIX = "mfbench_notebook_"
REMEDY = "move it to a module, such as my_methods.py, import it from there, and add it again"


def make_importable() -> None:
    """Make the saved modules importable in this process and in its children."""
    folder = str(_folder())
    if folder not in sys.path:
        sys.path.append(folder)


def saved(name: str, place_of: Callable[[Any], str]) -> str:
    """Save a class or function of the main module with its dependencies; return its new import path."""
    # The module is named by a hash of its text, so equal definitions have the same import path in every session.
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
    """Add the definition of a name after the definitions that it depends on."""
    main = vars(sys.modules[MAIN])
    text = _definition(main.get(name), name)
    pieces[name] = ""  # definitions may be recursive or refer to each other
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
    """Return the statement that assigns a notebook's value to a name."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if isinstance(value, type) or inspect.isroutine(value):
        module, _, attribute = place_of(value).partition(":")
        outer, *inner = attribute.split(".")
        return f"from {module} import {outer} as {name}" + "".join(f"\n{name} = {name}.{part}" for part in inner)
    if _is_literal(value):
        return f"{name} = {value!r}"
    raise UsageError(
        f"cannot add {user!r}: it uses {name!r} of the notebook or main script, which is {shown(value)}: only "
        f"definitions, modules and literals can be taken along; make it a parameter, or {REMEDY}"
    )


def _is_literal(value: Any) -> bool:
    """Return whether the text of a value is a literal with this value."""
    try:
        copy = ast.literal_eval(repr(value))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return type(copy) is type(value) and bool(copy == value)


def _definition(value: Any, name: str) -> str:
    """Return the source of a class or function without comments and annotations."""
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
    """Yield the code objects of a function or of the methods of a class."""
    for member in vars(value).values() if isinstance(value, type) else [value]:
        function = inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", None) or member))
        if inspect.isfunction(function) and function.__module__ == MAIN:
            yield function.__code__


class _Bare(ast.NodeTransformer):
    """Remove annotations of functions, which may refer to any name in a notebook."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        self.generic_visit(node)
        return node


def declared_plugin(declaration: Declaration) -> Plugin:
    """Return the plugin for a declaration, with the distribution that its module belongs to."""
    reference = declaration.reference
    module, _, attribute = reference.partition(":")
    if not is_reference(reference):
        raise UsageError(
            f"{reference!r} is not the import path of a class: write MODULE:CLASS, such as 'my_module:MyClass'"
        )
    if module.startswith(PREFIX):
        make_importable()
    if module == "__main__" or meaning.locate(module) is None:
        raise UsageError(
            f"there is no module {module!r} to import {attribute!r} from; install it, for example with 'pip install "
            "-e .' in its project, or name its folder in PYTHONPATH: mfbench does not import from the working directory"
        )
    name, version = _distribution(module.partition(".")[0])
    return Plugin(f"{declaration.kind} {reference}", module, name, version, declared=declaration)


def _distribution(package: str) -> tuple[str, str]:
    """Return name and version of a top-level package's distribution; empty for a module that is not installed."""
    for entry in metadata.entry_points(group=PROJECT):  # for an editable installation, the only link to the package
        if entry.dist is not None and entry.value.partition(":")[0].partition(".")[0] == package:
            return entry.dist.name, entry.dist.version
    names = metadata.packages_distributions().get(package, ())
    return (names[0], metadata.version(names[0])) if names else ("", "")


def reference_of(target: Any) -> str:
    """Return the import path of a class or function."""
    # A definition from a notebook or the main script is first saved as a module, with its dependencies.
    return next(iter(_places(target)))


def _places(target: Any) -> list[str]:
    """Return all import paths of a class or function, from the shortest module to the defining one."""
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", None)
    if not (isinstance(target, type) or inspect.isroutine(target)) or not isinstance(name, str):
        raise UsageError(f"cannot add {shown(target)}: expected a class, an estimator, or an expression such as 'knn'")
    if name.endswith("<lambda>"):
        raise UsageError(f"cannot add a lambda, which has no name to import: write a function or a class; {REMEDY}")
    if "<locals>" in name:
        raise UsageError(
            f"cannot add {name.rpartition('.')[2]!r}: it is defined inside of the function "
            f"{name.partition('.<locals>')[0]!r}, from which it cannot be imported; {REMEDY}"
        )
    if module == MAIN:
        return [saved(name, reference_of)]
    words = module.split(".") if isinstance(module, str) else []
    parents = [".".join(words[:length]) for length in range(1, len(words) + 1)]
    places = [f"{parent}:{name}" for parent in parents if _attribute(parent, name) is target]
    if not places or meaning.locate(words[0]) is None:
        raise UsageError(
            f"cannot add {name!r}: it cannot be imported from {module!r}, the module that it names as its own; {REMEDY}"
        )
    return places


def _attribute(module: str, name: str) -> Any:
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = inspect.getattr_static(value, part, None) if isinstance(value, type) else getattr(value, part, None)
    return value


def expression_of(value: Any, registered: Mapping[str, Registered] | None = None) -> Expression:
    """Return the expression of an estimator: its name, and the parameters that differ from their defaults."""
    is_object = not (isinstance(value, type) or inspect.isroutine(value))
    target = type(value) if is_object else value
    if is_object and not callable(getattr(value, "get_params", None)):
        raise UsageError(
            f"cannot add {shown(value)}: expected a class, an expression such as 'knn', or an object with the method "
            "get_params, as sklearn.base.BaseEstimator provides it"
        )
    places = _places(target)
    params = value.get_params(deep=False) if is_object else {}
    own = Expression(places[0], _changed(params, _defaults(target), target))
    names = [
        Expression(name, _changed(params, {**_defaults(target), **entry.spec.defaults}, target))
        for name, entry in (registered or {}).items()
        if (entry.spec.factory is target or entry.spec.factory in places) and (is_object or not entry.spec.defaults)
    ]
    # Plugins may register a class several times with different defaults; pick the name whose defaults are nearest.
    nearest = min(names, key=lambda expression: len(expression.params), default=own)
    return nearest if len(nearest.params) <= len(own.params) else own


def _defaults(target: Any) -> dict[str, Any]:
    try:
        parameters = inspect.signature(target).parameters
    except (ValueError, TypeError):  # a class of a compiled module
        return {}
    defaults = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if isinstance(target, type) and takes_any and hasattr(target, "get_params"):  # the signature omits most
        with contextlib.suppress(Exception):  # it may have required parameters
            return dict(target().get_params(deep=False)) | defaults
    return defaults


def _changed(params: Mapping[str, Any], defaults: Mapping[str, Any], target: Any) -> dict[str, Any]:
    changed = {}
    for name, value in params.items():
        if name in defaults and (value is defaults[name] or _equal(value, defaults[name])):
            continue
        changed[str(name)] = _literal(value, f"{target.__qualname__}({name}=…)")
    return changed


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default) and " at 0x" not in repr(value)


def _literal(value: Any, what: str) -> Any:
    """Return a value that round-trips as text: NumPy numbers become Python's, objects and functions expressions."""
    if callable(getattr(value, "get_params", None)) or isinstance(value, type) or inspect.isroutine(value):
        return expression_of(value)
    if type(value) in (list, tuple):
        return type(value)(_literal(item, what) for item in value)
    if isinstance(value, dict):
        return {key: _literal(item, what) for key, item in value.items()}
    plain = value.item() if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () else value
    if _is_literal(plain):
        return plain
    raise UsageError(
        f"cannot add {what} with {shown(value)}: a parameter must be a literal (a number, a text, True, None, or a "
        "list of these), an estimator or a function, because workers read it as text; write a class or a function that "
        "builds the estimator in a module, and add that"
    )
