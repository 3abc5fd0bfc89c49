"""The form in which words of methods and plugins are stored: short, and without signs that a terminal obeys."""

from __future__ import annotations

from mfbench.base.untrusted import cut, plain_lines

LIMITS = {"error_type": 200, "error_message": 500, "error_trace": 4000, "warning": 500, "touched": 500, "reason": 2000}
"""Number of characters of each text that is stored at most; a method can raise an error of a megabyte."""


def stored_text(text: str, name: str) -> str:
    """Return a text as the store holds it: its beginning, and of a traceback the end."""
    limit = LIMITS.get(name, len(text))
    # Long before it is cut: cleaning a text of many megabytes would take as long as the trial.
    if name == "error_trace":
        return plain_lines(text[-limit:])[-limit:]
    return cut(plain_lines(text[: 2 * limit]), limit)
