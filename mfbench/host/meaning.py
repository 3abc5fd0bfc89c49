"""The meaning of built-in code: a new comment or a moved file leaves stored results valid, a changed constant does not.

Comments, docstrings, type hints, layout and file names do not count. An import counts as the module that defines the
imported name, behind any re-export. Unlike `ast.dump`, the form is the same in every Python release. Nothing is
imported or executed.
"""

import ast
import hashlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path
from pkgutil import get_importer
from typing import Any, NamedTuple

# Functions that import a module given as text.
_IMPORT_BY_TEXT = {"import_module", "__import__", "resolve_name", "run_module"}
_MODULE = re.compile(r"\.*[^\W\d]\w*(\.[^\W\d]\w*)*(:[\w.]+)?")


def reachable(modules: Iterable[str], boundary: Collection[str]) -> tuple[set[str], set[str]]:
    """Return the packages that modules import, directly or indirectly, including their own."""
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
    """Return the spec of a module without importing its parents; None if there is no such module."""
    parent = name.rpartition(".")[0]
    if parent:
        above = locate(parent)
        if above is None or above.submodule_search_locations is None:
            return None
        return _locate_in(name, above.submodule_search_locations)
    try:
        return find_spec(name)
    except ValueError:  # a script or notebook, whose __main__ has no spec
        file = getattr(sys.modules.get(name), "__file__", None)
        return ModuleSpec(name, None, origin=file) if file else None


def _locate_in(name: str, folders: Iterable[str]) -> ModuleSpec | None:
    # PathFinder would look up the parent of a namespace package in sys.modules, where it exists only once imported.
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


def _unit(name: str) -> str:
    """Return the outermost package or module of a name that is not a pure namespace."""
    parts = name.split(".")
    for length in range(1, len(parts)):
        above = locate(".".join(parts[:length]))
        if above is not None and above.origin is not None:
            return ".".join(parts[:length])
    return name


def _imports(file: Path, package: str) -> tuple[str, ...]:
    """Return the names that a file imports; some may be attributes of modules."""
    if file.suffix != ".py" or not file.is_file():
        return ()
    state = file.stat()
    return _parsed(file, package, state.st_mtime_ns, state.st_size)


@cache
def _parsed(file: Path, package: str, modified: int, size: int) -> tuple[str, ...]:
    """Return the names that a file imports; cached until the file changes, since large packages parse slowly."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # Python cannot import the file either
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
    """Return all strings that may name modules, if the file imports anything by text."""
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
    """Return the absolute name of an import; "" if it leads out of the top-level package."""
    try:
        return resolve_name(name, package)
    except ImportError:
        return ""


# Node fields without meaning. `visit_AnnAssign` keeps the annotations that matter.
_IGNORED = {"ctx", "kind", "type_comment", "type_ignores", "annotation", "returns"}
_HINTS_THAT_ACT = {"ClassVar", "InitVar", "KW_ONLY"}  # for `dataclasses`
_Body = list[ast.stmt]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Binding(NamedTuple):
    """A name bound by an import to an attribute of a module or, if that is empty, to the module itself."""

    local: str
    attribute: str
    module: str


class Code:
    """The parsed content of a file."""

    def __init__(self, content: bytes = b"", package: str = "", suffix: str = ".py") -> None:
        self._content, self._package, self._is_source = content, package, suffix == ".py"
        try:
            self._tree = ast.parse(content if self._is_source else b"")
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # Python cannot import the file either
            self._tree, self._is_source = ast.Module([], []), False

    @cached_property
    def exports(self) -> dict[str, Binding]:
        """The names at the top level of the file that only imports bind."""
        imports = [statement for statement in self._tree.body if isinstance(statement, ast.Import | ast.ImportFrom)]
        bindings = {binding.local: binding for each in imports for binding in _bindings(each, self._package)}
        return {name: binding for name, binding in bindings.items() if name not in self._names}

    @cached_property
    def acts(self) -> bool:
        """Whether importing it does more than define names."""
        return any(map(_acts, self._meaning.body))

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The modules that it may import by text."""
        return tuple(sorted(set(names_in_texts(self._meaning, self._package))))

    @cached_property
    def texts(self) -> set[str]:
        """All string literals."""
        constants = (node.value for node in ast.walk(self._meaning) if isinstance(node, ast.Constant))
        return {value for value in constants if isinstance(value, str)}

    @cached_property
    def pieces(self) -> list[str | Binding]:
        """The meaning, in statement order; a hash of the bytes if the file is not Python source."""
        if not self._is_source:
            return [hashlib.sha256(self._content).hexdigest()]
        pieces: list[str | Binding] = []
        names = {node.id for node in ast.walk(self._meaning) if isinstance(node, ast.Name)} | self._names
        _write(self._meaning.body, self._package, names, pieces.append)
        return pieces

    @cached_property
    def _names(self) -> set[str]:
        """The names that statements other than imports bind, at any level."""
        nodes = list(ast.walk(self._tree))
        names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return names | {node.name for node in nodes if isinstance(node, _DEFINITIONS)}

    @cached_property
    def _meaning(self) -> ast.Module:
        self.exports  # noqa: B018 - cached before the next line changes the tree
        tree: ast.Module = _Meaning().visit(self._tree)
        return tree


def definition(module: str, attribute: str, is_followed: Callable[[str], bool]) -> tuple[str, str]:
    """Return the module that defines an attribute of a module, and its name there."""
    visited = set()
    while attribute and (module, attribute) not in visited and is_followed(module.partition(".")[0]):
        visited.add((module, attribute))
        export = code_of(module).exports.get(attribute)
        if export is not None:
            module, attribute = export.module, export.attribute
        elif locate(f"{module}.{attribute}") is not None:
            module, attribute = f"{module}.{attribute}", ""
    return module, attribute


def closure(module: str, is_followed: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield the modules that a module depends on, itself first, each with the bytes of its meaning."""
    # Modules are numbered as they are reached, so the bytes do not contain their names.
    numbers = {module: 0}
    waiting = [module]

    def described(binding: Binding) -> str:
        home, attribute = definition(binding.module, binding.attribute, is_followed)
        if not is_followed(home.partition(".")[0]):
            return f"{binding.local}={home}:{attribute}"
        return f"{binding.local}={number(home)}:{attribute}"

    def number(name: str) -> int:
        if name not in numbers:
            numbers[name] = len(numbers)
            waiting.append(name)
        return numbers[name]

    for name in waiting:  # grows during the loop
        code = code_of(name)
        yield name, written(code.pieces, described)
        for other in code.named:
            if is_followed(other.partition(".")[0]) and locate(other) is not None:
                number(other)
        parent = name.rpartition(".")[0]
        if parent and code_of(parent).acts:  # Python executes it first; most packages only export names
            number(parent)


def written(pieces: Iterable[str | Binding], described: Callable[[Binding], str]) -> bytes:
    """Serialize pieces, with a description of each binding."""
    return "\n".join(described(piece) if isinstance(piece, Binding) else piece for piece in pieces).encode()


def code_of(module: str) -> Code:
    """Return the code of a module; empty if it has no file."""
    spec = locate(module)
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return Code()
    package = module if spec.submodule_search_locations is not None else module.rpartition(".")[0]
    return code_in(Path(spec.origin), package)


def code_in(file: Path, package: str) -> Code:
    """Return the code of a file whose relative imports start at a package."""
    state = file.stat()
    return _read(file, package, state.st_mtime_ns, state.st_size)


@cache
def _read(file: Path, package: str, modified: int, size: int) -> Code:
    return Code(file.read_bytes(), package, file.suffix)


class _Meaning(ast.NodeTransformer):
    """Removes everything that has no effect at run time."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_If(self, node: ast.If) -> ast.AST | _Body:
        if _last_word(node.test) != "TYPE_CHECKING":
            return self.generic_visit(node)
        return [statement for one in node.orelse for statement in _listed(self.visit(one))]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        is_listing = any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
        return None if is_listing else self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        # In a class, a hint turns a name into a field, so the name stays, along with hints that are more than a type.
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign):
                acting = {_last_word(part) for part in ast.walk(statement.annotation)} & _HINTS_THAT_ACT
                words = ["field", *sorted(acting), *(["default"] if statement.value is not None else [])]
                field = ast.Constant(" ".join(words))
                statement.target = ast.Tuple([statement.target, field], ast.Store())  # type: ignore[assignment]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None and not isinstance(node.target, ast.Tuple):
            return None
        targets = [self.visit(node.target)]
        return ast.Assign(targets, ast.Constant(None) if node.value is None else self.visit(node.value))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        # Python releases split the text between values differently.
        self.generic_visit(node)
        values: list[ast.expr] = []
        for value in node.values:
            last = values[-1] if values else None
            if isinstance(value, ast.Constant) and isinstance(last, ast.Constant):
                values[-1] = ast.Constant(str(last.value) + str(value.value))
            elif not (isinstance(value, ast.Constant) and value.value == ""):
                values.append(value)
        return ast.JoinedStr(values)


def _acts(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return any(isinstance(node, ast.Call) for node in ast.walk(statement))
    return not isinstance(statement, (ast.Import, ast.ImportFrom, *_DEFINITIONS))


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]


def _last_word(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):  # a hint written as a string
        return next((word for word in _HINTS_THAT_ACT if word in node.value), "")
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _write(value: object, package: str, names: set[str] | None, write: Callable[[str | Binding], None]) -> None:
    """Write the texts and bindings that represent part of a tree."""
    # `names` contains the names used in the file, for its outermost statements: an unused import there serves type
    # hints or re-exports.
    if isinstance(value, list):
        imports = [part for part in value if isinstance(part, ast.Import | ast.ImportFrom)]
        # Sorted by bound name, because a formatter sorts imports by module name.
        for binding in sorted(binding for part in imports for binding in _bindings(part, package)):
            if names is None or binding.local in names or binding.attribute in ("", "*"):
                write(binding)
        write("[")
        for part in value:
            if not isinstance(part, ast.Import | ast.ImportFrom):
                _write(part, package, None, write)
                write(",")
        write("]")
    elif isinstance(value, ast.AST):
        write(f"{type(value).__name__}(")
        for name in value._fields:
            part = getattr(value, name, None)
            if name not in _IGNORED and part is not None and part != []:
                write(f"{name}=")
                _write(part, package, None, write)
        write(")")
    else:
        write(ascii(value))


def _bindings(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[Binding]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            # "import a.b" binds a but loads a.b.
            yield Binding(alias.asname or alias.name.partition(".")[0], "", alias.name)
    elif node.module != "__future__":
        module = resolved("." * node.level + (node.module or ""), package)
        for alias in node.names:
            yield Binding(alias.asname or alias.name, alias.name, module)
