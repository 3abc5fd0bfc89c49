"""Expressions such as ``relieff(n_neighbors=10)``: a registered name with parameters, as text.

They are used in suite files and in `mfbench.make`. Values are literals; nothing is executed. ``name@package`` names
what that package registers, which is necessary if several packages register the name. Where the import path of a class
is allowed as a name, a value may be such an expression as well: ``boruta:BorutaPy(estimator=sklearn.svm:LinearSVC())``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench.errors import UsageError, quoted
from mfbench.host.identity import identity

# The import path of a class: a module and a name in it.
_PLACE = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(_PLACE)
# A quoted text, or an import path among the parameters; no module is called True, a key of a dictionary may be.
_QUOTED_OR_PLACE = re.compile(
    rf"""(?s)'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|(?<![\w.])(?!(?:True|False|None):)(?P<place>{_PLACE})"""
)
_UNREADABLE = (..., float("inf"), complex(0.0, float("inf")))  # written as Ellipsis, inf and infj
_SHOWN = 100  # characters of a value
_WORDS = {"true": True, "false": False, "null": None}
# An underscore is in no registered name, but in many a typo, which deserves a better answer than a syntax error.
_NAME = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*(?:@[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?)?")


@dataclass(frozen=True, repr=False)
class Expression:
    """A name and its parameters."""

    # The registered name, with `@` and a package if several packages register it; or, if it was allowed, the place of a
    # class, such as `my_module:MyClass`.
    name: str
    # Keyword parameters; the values are literals, or expressions with the import path of a class as their name.
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"

    __repr__ = __str__  # so that an expression among the values of another one, or in a list there, can be read again

    def parts(self) -> Iterator[Expression]:
        """Yield the expressions among the values, and those among their values."""
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
        """The registered name without a package."""
        return self.name.partition("@")[0]

    @property
    def identity(self) -> str:
        """Text that is equal for expressions of the same object, regardless of the order of the parameters."""
        return f"{self.name}({canonical_text(self.params)})"

    def canonical(self) -> str:
        """Return a text for keys and seeds: that of `identity`, without the package."""
        # Whether a name needs its package depends on what else is installed, which must not change a result. Keys hold
        # the package's code separately.
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
    # The text of other objects contains an address, with which every start would have keys of its own.
    text = repr(value)
    return identity(value) if " at 0x" in text else text


def is_reference(name: str) -> bool:
    """Tell whether a name is the import path of a class, as in ``my_module:MyClass``, not a registered name."""
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
        # A hyphen is not allowed in a Python name, so the name is replaced; only the arguments are parsed.
        call = ast.parse(f"f({rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deeply
        raise UsageError(f"{cannot}: {getattr(error, 'msg', str(error) or 'too deeply nested')}") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UsageError(f"{cannot}: write parameters as name=value, such as 'knn(n_neighbors=3)'")
    return Expression(name, _Values(text, f"f({rest}", places).params(call))


def _stand_in(match: re.Match[str], places: dict[str, str]) -> str:
    """Return a quoted text as it is, and for an import path, which is not Python, a name for it."""
    if match["place"] is None:
        return match[0]
    name = f"_place{len(places)}_"
    places[name] = match["place"]
    return name


@dataclass(frozen=True)
class _Values:
    """Reads the values of a parsed expression; `places` has the import paths behind the names in `source`."""

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
            except (ValueError, RecursionError):  # Python does not write integers of more than 4,300 digits
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
            raise UsageError(
                f"cannot read {quoted(self.text)}: the value of {key!r} must be a literal (a number, a quoted string, "
                f"True, a list), found {shown}"
            ) from None
