"""Answers of servers: a URL is made safe to print, and an answer in an undocumented form becomes one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mfbench.base.untrusted import plain_text
from mfbench.errors import DataError


@contextmanager
def answer_of(server: str, what: str) -> Iterator[None]:
    """Turn errors caused by an answer of an undocumented form into one sentence."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        reason = f"{server}'s answer about {what} does not have the documented form"
        detail = plain_text(f"{type(error).__name__}: {error}", 100)
        raise DataError(f"{reason} ({detail}): try again later, or use a mirror (--data-dir)") from error


def shown(url: str) -> str:
    """Return a URL for a message, without user name and password."""
    return plain_text(re.sub(r"^(\w+://)[^/@]*@", r"\1", url), 300)
