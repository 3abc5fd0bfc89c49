"""Expressions, for instance ``relieff(n_neighbors=10)``: a registered name with parameters, as text.

They are used in suite files and in `mfbench.make`. Values are literals; nothing is executed. ``name@package`` selects
the package, which is required if several packages register the name. Where import paths are allowed as names, a value
may itself be an expression: ``boruta:BorutaPy(estimator=sklearn.svm:LinearSVC())``.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType, MethodType
from typing import Any, Generic, Literal, Protocol, TypeVar

from mfbench.errors import UnknownNameError, UsageError, quoted


@dataclass(frozen=True)
class Declaration:
    """A class or function that the user names by import path instead of registering it with a plugin."""

    # A part is the value of another expression's parameter.
    kind: Literal["selector", "classifier", "regressor", "part"]
    reference: str  # its import path, e.g. `"my_module:MyClass"`

    @property
    def name(self) -> str:
        """The name under which it is registered: valid, and unique to its import path."""
        digest = hashlib.sha256(self.reference.encode()).hexdigest()[:8]
        return "-".join([*re.findall(r"[a-z0-9]+", self.reference.lower()), digest])


@dataclass(frozen=True)
class Plugin:
    """The origin of a loaded plugin."""

    name: str  # name of the entry point, or of a module listed in `MFBENCH_LOAD_PLUGINS`
    module: str
    distribution: str = ""  # the installed package that ships it; empty if none does
    version: str = ""  # version of that package
    # Whether it was passed as an object, which other processes cannot load.
    is_object: bool = field(default=False, compare=False)
    # Set if the plugin represents a class that the user names by import path. `module` is then the module of that class
    # and is imported only together with it.
    declared: Declaration | None = None

    @property
    def package(self) -> str:
        """The name after the ``@``: the distribution, or the plugin if it is not installed."""
        return self.distribution or self.name

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.module})" if self.distribution else self.module


@dataclass(frozen=True)
class Facts:
    """What the main process knows about a factory."""

    parameters: tuple[str, ...] = ()  # in the order of the signature
    takes_numbers: bool = False  # for selectors: whether it is fitted on numbers
    is_for_two_classes: bool = False  # for classifiers: whether it supports two classes only
    problem: str = ""  # why it is unusable; empty if it is usable
    takes_weights: bool = False  # whether it accepts sample weights
    takes_sparse: bool = False  # whether it accepts sparse features


class Prober(Protocol):
    """Answers questions about a factory without importing it in this process."""

    def facts(self, registered: Registered) -> Facts:
        """Return the facts about a factory or loader; raise `PluginError` if it cannot be imported."""

    def tried(self, registered: Registered, params: Mapping[str, Any]) -> Facts:
        """Return the facts learned by fitting a class, named by import path, with parameters on a few rows."""


@dataclass(frozen=True)
class Registered:
    """A spec and the plugin that registered it."""

    spec: Any
    plugin: Plugin
    prober: Prober | None = field(default=None, compare=False, repr=False)  # None: imported in this process

    @property
    def target(self) -> Any:
        """Its factory or loader: a callable, or the text ``package.module:attribute``."""
        return self.spec.loader if hasattr(self.spec, "loader") else self.spec.factory

    @property
    def module(self) -> str:
        """The module that `target` names; "" if it names none."""
        target = self.target
        return target.partition(":")[0] if isinstance(target, str) else str(getattr(target, "__module__", ""))

    @property
    def title(self) -> str:
        """Its name in messages, as a user writes it."""
        return str(self.spec.name) if self.plugin.declared is None else self.plugin.declared.reference


T = TypeVar("T")


@dataclass
class NameTable(Generic[T]):
    """Everything of one kind that plugins registered, by name."""

    kind: str  # in the singular, for messages ("selector")
    hint: str  # how to list the names, e.g. a command
    _entries: dict[str, list[tuple[Plugin, T]]] = field(default_factory=dict)

    def add(self, name: str, plugin: Plugin, value: T) -> bool:
        """Add a name; return False, and change nothing, if the same plugin has already registered it."""
        entries = self._entries.setdefault(name, [])
        if any(plugin == other for other, _ in entries):
            return False
        entries.append((plugin, value))
        self.__dict__.pop("listed", None)
        return True

    @cached_property
    def listed(self) -> dict[str, T]:
        """The values by the name that a user must write: with the package if the bare name is ambiguous."""
        return {key: value for name in self._entries for key, _, value in self._keyed(name)}

    def has(self, name: str) -> bool:
        """Return whether the name is registered, possibly by several packages."""
        bare, at, package = name.partition("@")
        return bare in self._entries and (not at or self._key(bare, package) is not None)

    def resolve(self, name: str, home: str = "") -> str:
        """Return the key in `listed` that a name refers to."""
        bare, at, package = name.partition("@")
        entries = self._keyed(bare)
        if len(entries) == 1 and not at:
            return bare
        key = self._key(bare, package if at else home)
        if key is not None:
            return key
        keys = sorted(key for key, _, _ in entries)
        if at and len(entries) == 1:
            keys = [f"{bare}@{entries[0][1].package}"]
        if at or not entries:
            raise UnknownNameError(self.kind, name, keys or self.listed, self.hint)
        choices = " or ".join(map(repr, keys))
        raise UsageError(f"{len(entries)} packages register the {self.kind} {name!r}: write {choices}")

    def _key(self, bare: str, package: str) -> str | None:
        """Return the key of the only entry that a package registers under a name; None if there is none or several."""
        entries, form = self._keyed(bare), normalized(package)
        for attribute in ("package", "name"):  # an entry point may have the name of another distribution
            own = [key for key, plugin, _ in entries if form and normalized(getattr(plugin, attribute)) == form]
            if len(own) == 1:
                return own[0]
        return None

    def _keyed(self, name: str) -> list[tuple[str, Plugin, T]]:
        """Return the entries of a bare name, each with its key in `listed`."""
        entries = self._entries.get(name, [])
        if len(entries) == 1:
            return [(name, *entries[0])]
        count = Counter(plugin.package for plugin, _ in entries)
        owners = [plugin.package if count[plugin.package] == 1 else plugin.name for plugin, _ in entries]
        return [(f"{name}@{owner}", *entry) for owner, entry in zip(owners, entries, strict=True)]


def normalized(package: str) -> str:
    """Return a package name as pip normalizes it."""
    return re.sub(r"[-_.]+", "-", package).lower()


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def identity(value: Any, holders: tuple[Any, ...] = ()) -> str:
    """Return a text that differs between callables with different behaviour, and contains no memory address."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if any(value is holder for holder in holders):  # for instance a function that calls itself
        return "itself"
    name = _name(value if hasattr(value, "__qualname__") else type(value))
    held: Iterable[Any] = ()
    if isinstance(value, functools.partial):
        held = (value.func, value.args, *sorted(value.keywords.items()))
    elif isinstance(value, MethodType):
        held = (value.__func__, value.__self__)
    elif isinstance(value, FunctionType):
        held = sorted(inspect.getclosurevars(value).nonlocals.items())
    elif isinstance(value, list | tuple | set | frozenset | dict):
        held = value.items() if isinstance(value, dict) else value
    elif not hasattr(value, "__qualname__"):
        has_text = "__repr__" in {name for base in type(value).__mro__[:-1] for name in vars(base)}
        if has_text and type(value).__module__ != "builtins":
            return f"{name}({_ADDRESS.sub('', repr(value))})"
        held = sorted((name, item) for name, item in getattr(value, "__dict__", {}).items() if isinstance(item, _PLAIN))
    parts = [identity(item, (*holders, value)) for item in held]
    if isinstance(value, set | frozenset | dict):
        parts.sort()
    return f"{name}({', '.join(parts)})" if parts else name


def _name(value: Any) -> str:
    return f"{value.__module__}:{value.__qualname__}"


# The import path of a class: a module and a name in it.
_PLACE = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(_PLACE)
# A quoted text, or an import path among the parameters. `True` and the like are not modules but may be dictionary keys.
_QUOTED_OR_PLACE = re.compile(
    rf"""(?s)'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|(?<![\w.])(?!(?:True|False|None):)(?P<place>{_PLACE})"""
)
_UNREADABLE = (..., float("inf"), complex(0.0, float("inf")))  # written as Ellipsis, inf and infj
_SHOWN = 100  # characters of a value
_WORDS = {"true": True, "false": False, "null": None}
# Registered names contain no underscore, but many typos do, and they deserve a better answer than a syntax error.
_NAME = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*(?:@[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?)?")


@dataclass(frozen=True, repr=False)
class Expression:
    """A name and its parameters."""

    # The registered name, with `@` and a package if several packages register it; or, where allowed, the import path of
    # a class, e.g. `my_module:MyClass`.
    name: str
    # Keyword parameters; values are literals, or expressions named by the import path of a class.
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"

    __repr__ = __str__  # so that an expression nested in another one, or in a list there, can be parsed again

    def parts(self) -> Iterator[Expression]:
        """Yield the expressions among the values, recursively."""
        values: list[Any] = list(self.params.values())
        while values:
            value = values.pop(0)
            if isinstance(value, Expression):
                yield value
                values += value.params.values()
            elif isinstance(value, list | tuple):
                values += value
            elif isinstance(value, dict):
                values += value.values()

    @property
    def bare_name(self) -> str:
        """The registered name without its package."""
        return self.name.partition("@")[0]

    @property
    def identity(self) -> str:
        """Text that is equal for expressions of the same object, regardless of parameter order."""
        return f"{self.name}({canonical_text(self.params)})"

    def canonical(self) -> str:
        """Return the text for keys and seeds: `identity` without the package."""
        # Whether a name needs its package depends on what else is installed, which must not change a result. Keys
        # contain the package's code separately.
        return f"{self.bare_name}({canonical_text(self.params)})"


def canonical_text(value: Any) -> str:
    """Return a text that is equal for equal plain values and different for different ones."""
    # Unlike JSON, it distinguishes the key 1 from the key "1", and a tuple from a list.
    if isinstance(value, Expression):
        return value.canonical()
    if isinstance(value, Mapping):
        items = sorted((canonical_text(key), canonical_text(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(canonical_text(item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    # The repr of other objects contains an address, which would change the keys at every start.
    text = repr(value)
    return identity(value) if " at 0x" in text else text


def is_reference(name: str) -> bool:
    """Return whether a name is the import path of a class, as in ``my_module:MyClass``, not a registered name."""
    return _REFERENCE.fullmatch(name) is not None


def parse(text: str, *, references: bool = False) -> Expression:
    """Parse ``name`` or ``name(key=literal, …)``; a name may be ``name@package``."""
    cannot = f"cannot read {quoted(text)}"
    name, bracket, rest = text.strip().partition("(")
    name = name.strip()
    if (bracket and not rest.endswith(")")) or not (_NAME.fullmatch(name) or (references and is_reference(name))):
        raise UsageError(f"{cannot}: expected a name, or one with parameters, such as 'knn(n_neighbors=3)'")
    if not bracket:
        return Expression(name)
    places: dict[str, str] = {}
    if references:
        rest = _QUOTED_OR_PLACE.sub(lambda match: _stand_in(match, places), rest)
    try:
        # Python names cannot contain a hyphen, so the name is replaced and only the arguments are parsed.
        call = ast.parse(f"f({rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two mean nested too deeply
        raise UsageError(f"{cannot}: {getattr(error, 'msg', str(error) or 'too deeply nested')}") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UsageError(f"{cannot}: write parameters as name=value, such as 'knn(n_neighbors=3)'")
    return Expression(name, _Values(text, f"f({rest}", places).params(call))


def _stand_in(match: re.Match[str], places: dict[str, str]) -> str:
    """Replace an import path, which is not valid Python, with a placeholder name; keep quoted texts."""
    if match["place"] is None:
        return match[0]
    name = f"_place{len(places)}_"
    places[name] = match["place"]
    return name


@dataclass(frozen=True)
class _Values:
    """Reads the values of a parsed expression; `places` maps the placeholder names in `source` to import paths."""

    text: str
    source: str
    places: Mapping[str, str]

    def params(self, call: ast.Call) -> dict[str, Any]:
        cannot = f"cannot read {quoted(self.text)}"
        if call.args:
            raise UsageError(f"{cannot}: write parameters as name=value, such as 'knn(n_neighbors=3)'")
        params: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in params:
                raise UsageError(f"{cannot}: write each parameter once, as name=value")
            node = keyword.value
            word = node.id if isinstance(node, ast.Name) else ""
            params[keyword.arg] = _WORDS[word] if word in _WORDS else self.value(node, keyword.arg)
            try:
                canonical_text(params[keyword.arg])
            except (ValueError, RecursionError):  # Python does not print integers of more than 4,300 digits
                raise UsageError(f"the value of {keyword.arg!r} is too large to be written out") from None
        return params

    def value(self, node: ast.expr, key: str) -> Any:
        """Return the value of a node: a literal, an expression, or a list, tuple or dictionary of these."""
        try:
            if any(isinstance(part, ast.Name) and part.id in self.places for part in ast.walk(node)):
                match node:
                    case ast.Name():
                        return Expression(self.places[node.id])
                    case ast.Call(func=ast.Name(id=name)) if name in self.places:
                        return Expression(self.places[name], self.params(node))
                    case ast.List(elts=nodes):
                        return [self.value(part, key) for part in nodes]
                    case ast.Tuple(elts=nodes):
                        return tuple(self.value(part, key) for part in nodes)
                    case ast.Dict(keys=keys, values=nodes) if None not in keys:
                        names = [ast.literal_eval(part) for part in keys if part is not None]
                        return {name: self.value(part, key) for name, part in zip(names, nodes, strict=True)}
            if any(isinstance(part, ast.Constant) and part.value in _UNREADABLE for part in ast.walk(node)):
                raise ValueError
            return ast.literal_eval(node)
        except UsageError:
            raise
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            shown = (ast.get_source_segment(self.source, node) or "it")[:_SHOWN]
            for name, place in self.places.items():
                shown = shown.replace(name, place)
            expected = "a literal (a number, a quoted string, True, a list)"
            raise UsageError(
                f"cannot read {quoted(self.text)}: the value of {key!r} must be {expected}, found {shown}"
            ) from None
