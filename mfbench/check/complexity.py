"""The formula by which a spec states how the time of a fit grows: "n**2 * p"."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

Cost = Callable[[float, float, float], float]

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Mult: lambda left, right: left * right,
    ast.Pow: lambda left, right: left**right,
}
_HELP = "use sums and products of numbers, n, p, k, their powers and log(...), such as 'n**2 * p'"


def parse_complexity(text: str) -> Cost:
    """Return the function that a formula stands for.

    The formula is read, never executed: it is plain text of a plugin.

    Parameters
    ----------
    text : str
        Sums and products of numbers, of the rows ``n``, the features ``p`` and the classes ``k``, of their powers with
        a number as exponent, and of ``log(...)`` of such terms.

    Returns
    -------
    callable
        Takes (n, p, k) and returns a float.

    Raises
    ------
    ValueError
        If the text is anything else.

    Examples
    --------
    >>> cost = parse_complexity("n**2 * p")
    >>> cost(100, 5, 2) / cost(50, 5, 2)
    4.0
    >>> parse_complexity("m**2")
    Traceback (most recent call last):
    ...
    ValueError: the complexity 'm**2' contains 'm': use sums and products of numbers, n, p, k, their powers and \
log(...), such as 'n**2 * p'
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"the complexity {text!r} cannot be read: {_HELP}") from error
    _require(tree, text)

    def cost(n: float, p: float, k: float) -> float:
        return _evaluate(tree, {"n": float(n), "p": float(p), "k": float(k)})

    return cost


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
