"""Expressions such as ``relieff(n_neighbors=10)``: a registered name with parameters, as text.

They are used in suite files and in `mfbench.make`. Values are literals; nothing is executed. ``name@package`` names
what that package registers, which is necessary if several packages register the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench.errors import UsageError, quoted
from mfbench.host.identity import identity

# The import path of a class: a module and a name in it.
_REFERENCE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
# An underscore is in no registered name, but in many a typo, which deserves a better answer than a syntax error.
_SHOWN = 100  # characters of a value
_NAME = re.compile(r"[^\W_]+(?:[-_][^\W_]+)*(?:@[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?)?")


@dataclass(frozen=True)
class Expression:
    """A name and its parameters.

    Parameters
    ----------
    name : str
        The registered name, with ``@`` and a package if several packages register it; or, if it was allowed, the place
        of a class, such as ``my_module:MyClass``.
    params : mapping, default={}
        Keyword parameters; the values are literals.

    Examples
    --------
    >>> str(Expression("knn", {"n_neighbors": 3}))
    'knn(n_neighbors=3)'
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.params.items())})"

    @property
    def bare_name(self) -> str:
        """The registered name without a package."""
        return self.name.partition("@")[0]

    @property
    def identity(self) -> str:
        """Text that is equal for expressions of the same object, regardless of the order of the parameters."""
        return f"{self.name}({canonical_text(self.params)})"

    def canonical(self) -> str:
        """Return a text for keys and seeds: that of `identity`, without the package.

        Whether a name needs its package depends on what else is installed, which must not change a result. Keys hold
        the package's code separately.

        Examples
        --------
        >>> parse("svm(gamma=1, C=2)").canonical() == parse("svm@mfbench(C=2, gamma=1)").canonical()
        True
        """
        return f"{self.bare_name}({canonical_text(self.params)})"


def canonical_text(value: Any) -> str:
    """Return a text that is equal for equal plain values and different for different ones.

    Unlike JSON, it distinguishes the key 1 from the key "1", and a tuple from a list.

    Parameters
    ----------
    value : object
        Nested mappings, lists and tuples of plain values; the order of a mapping does not matter.

    Returns
    -------
    str

    Examples
    --------
    >>> canonical_text({"b": 1, "a": (None, 0.5)})
    "{'a': (None, 0.5), 'b': 1}"
    """
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
    """Tell whether a name is the import path of a class, such as ``my_module:MyClass``, instead of a registered name.

    Examples
    --------
    >>> is_reference("my_module:MyClass"), is_reference("relieff@my-package")
    (True, False)
    """
    return _REFERENCE.fullmatch(name) is not None


def parse(text: str, *, references: bool = False) -> Expression:
    """Parse ``name`` or ``name(key=literal, …)``; a name may be ``name@package``.

    Parameters
    ----------
    text : str
        The expression. A value is a Python literal, or ``true``, ``false`` or ``null`` as in TOML and JSON.
    references : bool, default=False
        Whether the name may be the import path of a class, such as ``my_module:MyClass``.

    Returns
    -------
    Expression

    Raises
    ------
    UsageError
        If the text has another form; the message shows the right one.

    Examples
    --------
    >>> parse("relieff(n_neighbors=10)")
    Expression(name='relieff', params={'n_neighbors': 10})
    >>> parse("waveform-21").name
    'waveform-21'
    >>> parse("relieff@my-package(n_neighbors=5)")
    Expression(name='relieff@my-package', params={'n_neighbors': 5})
    >>> parse("knn(3)")
    Traceback (most recent call last):
    ...
    mfbench.errors.UsageError: cannot read 'knn(3)': write parameters as name=value, such as 'knn(n_neighbors=3)'
    """
    cannot = f"cannot read {quoted(text)}"
    name, bracket, rest = text.strip().partition("(")
    name = name.strip()
    if (bracket and not rest.endswith(")")) or not (_NAME.fullmatch(name) or (references and is_reference(name))):
        raise UsageError(f"{cannot}: expected a name, or one with parameters, such as 'knn(n_neighbors=3)'")
    if not bracket:
        return Expression(name)
    try:
        # A hyphen is not allowed in a Python name, so the name is replaced; only the arguments are parsed.
        call = ast.parse(f"f({rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deeply
        raise UsageError(f"{cannot}: {getattr(error, 'msg', str(error) or 'too deeply nested')}") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise UsageError(f"{cannot}: write parameters as name=value, such as 'knn(n_neighbors=3)'")
    params: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in params:
            raise UsageError(f"{cannot}: write each parameter once, as name=value")
        params[keyword.arg] = _literal(keyword.value, keyword.arg, text)
        try:
            canonical_text(params[keyword.arg])
        except (ValueError, RecursionError):  # Python does not write integers of more than 4,300 digits
            raise UsageError(f"the value of {keyword.arg!r} is too large to be written out") from None
    return Expression(name, params)


def _literal(node: ast.expr, key: str, text: str) -> Any:
    words = {"true": True, "false": False, "null": None}
    if isinstance(node, ast.Name) and node.id in words:
        return words[node.id]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        shown = (ast.get_source_segment(f"f({text.partition('(')[2]}", node) or "it")[:_SHOWN]
        raise UsageError(
            f"cannot read {quoted(text)}: the value of {key!r} must be a literal (a number, a quoted string, True, a "
            f"list), found {shown}"
        ) from None
