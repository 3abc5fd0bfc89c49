"""The formula by which a spec states what a fit costs: seconds, "2e-3 + 3e-9 * n**2 * p", or growth, "n**2 * p"."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Mult: lambda left, right: left * right,
    ast.Pow: lambda left, right: left**right,
}
_HELP = "use sums and products of numbers, n, p, k, their powers and log(...), such as 'n**2 * p'"


@dataclass(frozen=True)
class Complexity:
    """A formula in the rows ``n``, the features ``p`` and the classes ``k``."""

    terms: tuple[ast.expr, ...]  # the terms of its sum
    # Whether its values are seconds: each term has a number as a factor, which is below 1 unless the term is constant.
    # Otherwise the formula only states how time grows.
    in_seconds: bool

    def __call__(self, n: float, p: float, k: float) -> float:
        """Return the value of the formula."""
        return _sum(self.terms, n, p, k)

    def growth(self, n: float, p: float, k: float) -> float:
        """Return the value without constant terms, which hide in small tables how the others grow."""
        return _sum(tuple(term for term in self.terms if not _is_constant(term)) or self.terms, n, p, k)


def parse_complexity(text: str) -> Complexity:
    """Return the formula that a text stands for."""
    # The formula is read, never executed: it is plain text of a plugin.
    try:
        terms = tuple(_terms(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"the complexity {text!r} cannot be read: {_HELP}") from error
    for term in terms:
        _require(term, text)
    return Complexity(terms, all(_is_constant(term) or 0 < _factor(term) < 1 for term in terms))


def _terms(node: ast.expr) -> list[ast.expr]:
    """Return the terms of a sum; those of a long sum are nested as deeply as it is long."""
    terms = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms += _terms(node.right)
        node = node.left
    return [*terms, node]


def _factor(node: ast.expr) -> float:
    """Return the product of the numbers among the factors of a term; 1 if there are none."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(op=ast.Mult()):
            return _factor(node.left) * _factor(node.right)
    return 1.0


def _is_constant(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.Name) and part.id in ("n", "p", "k") for part in ast.walk(node))


def _sum(terms: tuple[ast.expr, ...], n: float, p: float, k: float) -> float:
    values = {"n": float(n), "p": float(p), "k": float(k)}
    return math.fsum(_evaluate(term, values) for term in terms)


def _require(node: ast.expr, text: str) -> None:
    """Raise ValueError unless a node is a formula."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float()) | ast.Name(id="n" | "p" | "k"):
            return
        case ast.BinOp(op=ast.Add() | ast.Mult()):
            _require(node.left, text)
            _require(node.right, text)
            return
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=int() | float())):
            _require(node.left, text)
            return
        case ast.Call(func=ast.Name(id="log"), args=[argument], keywords=[]):
            _require(argument, text)
            return
    raise ValueError(f"the complexity {text!r} contains {ast.unparse(node)!r}: {_HELP}")


def _evaluate(node: ast.expr, values: dict[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=operator, right=right):
            return _OPERATORS[type(operator)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(args=[argument]):
            return math.log(_evaluate(argument, values))
    raise AssertionError(f"a formula contains {ast.dump(node)}, which _require lets through")
